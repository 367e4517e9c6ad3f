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
	p := &Program{src: src, names: slices.Clone(names), used: make([]bool, len(names))}
	if err := attempt(p.compile); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Program) compile() {
	if len(p.src) > mostSource {
		raise(LimitError, "the expression is longer than %d bytes", mostSource)
	}
	if !utf8.ValidString(p.src) || strings.Contains(p.src, "\x00") {
		raise(SyntaxError, "the expression is not valid text")
	}
	for _, name := range p.names {
		checkName(name)
	}
	parser := &parser{src: p.src, tokens: lex(p.src, expressionStart(p.src))}
	p.root = parser.whole()
	p.resolve(parser.names)
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
	if err := attempt(func() { checkName(name) }); err != nil {
		return err
	}
	return nil
}

func checkName(name string) {
	switch {
	case name == "" || nameLength(name) != len(name):
		raise(NameError, "%q is no name: it must be letters, digits and '_', and begin with a letter", name)
	case strings.HasPrefix(name, "_"):
		raise(NameError, "names that begin with '_' are not available: '%s'", name)
	case keywords[name]:
		raise(NameError, "'%s' is a word of the language", name)
	case functions()[name] != nil:
		raise(NameError, "'%s' is a function of the language", name)
	}
}

// resolve finds the names that no comprehension binds: parameters first, then functions. They lie in the outermost frame.
func (p *Program) resolve(names []*nameNode) {
	slices.SortFunc(names, func(a, b *nameNode) int { return a.pos - b.pos })
	for _, n := range names {
		if i := slices.Index(p.names, n.name); i >= 0 {
			n.slot, p.used[i] = i, true
			continue
		}
		if n.global = functions()[n.name]; n.global == nil {
			blaming(p.src, n.pos, func() { raise(NameError, "name '%s' is not defined", n.name) })
		}
	}
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
func (p *Program) Run(ctx context.Context, vars map[string]any, limits Limits) (result Result, _ error) {
	m := newMachine(ctx, limits)
	m.pos = expressionStart(p.src)
	err := attempt(func() { result = p.run(m, vars) })
	result.Steps, result.Bytes = m.steps, m.bytes
	if err != nil {
		return result, err.at(p.src, m.pos)
	}
	return result, nil
}

// run turns the arguments into values, computes, and writes the result; every part of it is charged to the same account.
func (p *Program) run(m *machine, vars map[string]any) Result {
	v := p.root.eval(m, p.frame(m, vars))
	t := &text{m: m}
	t.json(v, 1)
	if t.b.Len() > m.limits.Result {
		tooLong(m)
	}
	return Result{JSON: t.b.String(), Type: typeName(v)}
}

// frame is the outermost one, which holds the arguments.
func (p *Program) frame(m *machine, vars map[string]any) *frame {
	f := &frame{slots: make([]value, len(p.names))}
	for i, name := range p.names {
		f.slots[i] = fromJSON(m, vars[name], 1)
	}
	return f
}

// wordSet makes a set of the words of a text.
func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}
