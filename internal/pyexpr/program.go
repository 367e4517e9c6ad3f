package pyexpr

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"
)

// Program is a compiled expression. It never changes, so many may run it at once.
type Program struct {
	src   string
	names []string // the parameters, by slot
	used  []bool   // of each
	root  node
}

// Result is what a run gave and what it took.
type Result struct {
	JSON  string // the value
	Type  string // its type, as Python calls it: "int", "list"
	Steps int64
	Bytes int64
}

// Compile reads an expression whose variables are names. A leading `result =` is accepted and means nothing, since
// that is how people write a formula. Every error is an *Error.
func Compile(src string, names []string) (*Program, error) {
	if len(src) > mostSource {
		return nil, raise(LimitError, "the expression is longer than %d bytes", mostSource)
	}
	if !utf8.ValidString(src) || strings.Contains(src, "\x00") {
		return nil, raise(SyntaxError, "the expression is not valid text")
	}
	for _, name := range names {
		if err := CheckName(name); err != nil {
			return nil, err
		}
	}
	p := &Program{src: src, names: slices.Clone(names), used: make([]bool, len(names))}
	tokens, err := lex(src, expressionStart(src))
	if err != nil {
		return nil, err
	}
	parser := &parser{src: &p.src, tokens: tokens}
	if p.root, err = parser.whole(); err != nil {
		return nil, at(err, src, tokens[min(parser.at, len(tokens)-1)].pos)
	}
	return p, p.resolve(parser.names)
}

// expressionStart is where the expression begins: behind blanks and `result =`.
func expressionStart(src string) int {
	rest := strings.TrimLeft(src, " \t\r\n\f")
	start := len(src) - len(rest)
	after, ok := strings.CutPrefix(rest, "result")
	after = strings.TrimLeft(after, " \t")
	if !ok || !strings.HasPrefix(after, "=") || strings.HasPrefix(after, "==") {
		return start
	}
	after = strings.TrimLeft(after[1:], " \t\r\n\f")
	return len(src) - len(after)
}

// CheckName says why a parameter cannot have a name, or nil.
func CheckName(name string) error {
	switch {
	case name == "" || nameLength(name) != len(name):
		return raise(NameError, "%q is no name: it must be letters, digits and '_', and begin with a letter", name)
	case strings.HasPrefix(name, "_"):
		return raise(NameError, "names that begin with '_' are not available: '%s'", name)
	case keywords[name]:
		return raise(NameError, "'%s' is a word of the language", name)
	case functions()[name] != nil:
		return raise(NameError, "'%s' is a function of the language", name)
	}
	return nil
}

// resolve finds the names that no comprehension binds: parameters first, then functions. They lie in the outermost frame.
func (p *Program) resolve(names []*nameNode) error {
	slices.SortFunc(names, func(a, b *nameNode) int { return a.pos - b.pos })
	for _, n := range names {
		if i := slices.Index(p.names, n.name); i >= 0 {
			n.slot, p.used[i] = i, true
			continue
		}
		if n.global = functions()[n.name]; n.global == nil {
			return at(raise(NameError, "name '%s' is not defined", n.name), p.src, n.pos)
		}
	}
	return nil
}

// Uses lists the parameters that the expression reads; the others are given for nothing.
func (p *Program) Uses() []string {
	var names []string
	for i, name := range p.names {
		if p.used[i] {
			names = append(names, name)
		}
	}
	return names
}

// Run computes the expression with JSON values for its parameters; one that vars lacks is None. Every error is an
// *Error, and the result says what was spent in that case too.
//
// A panic would be a fault of this package, none of which fuzzing has left; should there be one, it costs this call and
// not the server, which runs tools in goroutines that nothing else guards.
func (p *Program) Run(ctx context.Context, vars map[string]any, limits Limits) (result Result, err error) {
	m := newMachine(ctx, limits)
	defer func() {
		if fault := recover(); fault != nil {
			result, err = Result{Steps: m.steps, Bytes: m.bytes}, raise(SystemError, "the evaluator failed: %v", fault)
		}
	}()
	result, err = p.run(m, vars)
	result.Steps, result.Bytes = m.steps, m.bytes
	if err != nil {
		return result, at(err, p.src, expressionStart(p.src))
	}
	return result, nil
}

// run turns the arguments into values, computes, and writes the result; every part of it is charged to the same account.
func (p *Program) run(m *machine, vars map[string]any) (Result, error) {
	f := &frame{slots: make([]value, len(p.names))}
	for i, name := range p.names {
		v, err := fromJSON(m, vars[name], 1)
		if err != nil {
			return Result{}, err
		}
		f.slots[i] = v
	}
	v, err := p.root.eval(m, f)
	if err != nil {
		return Result{}, err
	}
	t := &text{m: m}
	if err := toJSON(m, t, v, 1); err != nil {
		return Result{}, err
	}
	if t.b.Len() > m.limits.Result {
		return Result{}, tooLong(m)
	}
	return Result{JSON: t.b.String(), Type: typeName(v)}, nil
}

// wordSet makes a set of the words of a text.
func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}
