package pyexpr

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"toolnorm/internal/pyexpr/object"
	"toolnorm/internal/pyexpr/py"
	"toolnorm/internal/pyexpr/syntax"
)

// Program is a compiled expression. It never changes, so several goroutines may run it at once.
type Program struct {
	src   string
	start int      // the offset of the expression in src
	names []string // the parameters, by slot
	used  []bool   // whether the expression uses each of them
	root  syntax.Node

	// the functions that the expression names; their slots come after those of the parameters
	functions []value
}

// Result is the result of a run, and how much the run has used.
type Result struct {
	JSON  string // the value
	Type  string // its type in Python: "int", "list"
	Steps int64
	Bytes int64
}

// mostSource is the length of the longest source text, in bytes. It is fixed, because the limits of
// a caller are not known yet when an expression is compiled.
const mostSource = 16 << 10

// Compile compiles an expression whose parameters have the given names. A leading `result =` is
// ignored, since people write formulas like that. Every error is a *py.Error.
func Compile(src string, names []string) (*Program, error) {
	p := &Program{src: src, names: slices.Clone(names), used: make([]bool, len(names))}
	if err := py.Attempt(p.compile); err != nil {
		return nil, err
	}
	return p, nil
}

// compile parses p.src and resolves its names. It raises an error if the source or a parameter's
// name is invalid.
func (p *Program) compile() {
	if len(p.src) > mostSource {
		py.Raise(py.LimitError, "the expression is longer than %d bytes", mostSource)
	}
	if !utf8.ValidString(p.src) || strings.Contains(p.src, "\x00") {
		py.Raise(py.SyntaxError, "the expression is not valid text")
	}
	for _, name := range p.names {
		checkName(name)
	}
	p.start = expressionStart(p.src)
	tree := syntax.Parse(p.src, p.start)
	p.root = tree.Root
	p.resolve(tree.Free)
}

// expressionStart returns the offset of the expression, after blanks and `result =`.
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

// CheckName returns nil if name is allowed as the name of a parameter, and otherwise an error that
// says why not. A parameter may have the name of a function. The function is then hidden, as in
// Python.
func CheckName(name string) error {
	if err := py.Attempt(func() { checkName(name) }); err != nil {
		return err
	}
	return nil
}

// checkName raises an error if name is not allowed as the name of a parameter.
func checkName(name string) {
	switch {
	case !syntax.IsName(name):
		py.Raise(py.NameError,
			"%q is no name: it must be letters, digits and '_', and begin with a letter", name)
	case strings.HasPrefix(name, "_"):
		py.Raise(py.NameError, "names that begin with '_' are not available: '%s'", name)
	case syntax.Keyword(name):
		py.Raise(py.NameError, "'%s' is a word of the language", name)
	}
}

// resolve assigns slots in the outermost frame to the names that no comprehension binds: first the
// parameters, then the functions. It raises an error for an unknown name.
func (p *Program) resolve(names []*syntax.Name) {
	for _, n := range names {
		if i := slices.Index(p.names, n.Name); i >= 0 {
			n.Slot, p.used[i] = i, true
			continue
		}
		f := functions()[n.Name]
		if f == nil {
			py.Blame(p.src, n.Pos, func() {
				py.Raise(py.NameError, "name '%s' is not defined", n.Name)
			})
		}
		i := slices.Index(p.functions, value(f))
		if i < 0 {
			i = len(p.functions)
			p.functions = append(p.functions, f)
		}
		n.Slot = len(p.names) + i
	}
}

// Uses returns the names of the parameters that the expression reads; the others have no effect.
func (p *Program) Uses() []string {
	var names []string
	for i, name := range p.names {
		if p.used[i] {
			names = append(names, name)
		}
	}
	return names
}

// Run evaluates the expression with JSON values for its parameters. A parameter that is missing in
// vars is None. Every error is a *py.Error. Even with an error, the result says how much the run
// has used.
func (p *Program) Run(ctx context.Context, vars map[string]any, limits py.Limits) (
	result Result, _ error) {
	m := py.NewAccount(ctx, limits)
	m.Pos = p.start
	err := py.Attempt(func() { result = p.run(m, vars) })
	result.Steps, result.Bytes = m.Steps, m.Bytes
	if err != nil {
		return result, err.At(p.src, m.Pos)
	}
	return result, nil
}

// run converts the arguments to values, evaluates the expression and converts the result to JSON.
// All of that is charged to the same account.
func (p *Program) run(m *py.Account, vars map[string]any) Result {
	v := eval(m, p.frame(m, vars), p.root)
	return Result{JSON: object.ToJSON(m, v), Type: object.TypeName(v)}
}

// frame returns the outermost frame, which contains the arguments and the functions.
func (p *Program) frame(m *py.Account, vars map[string]any) *frame {
	f := &frame{slots: make([]value, len(p.names), len(p.names)+len(p.functions))}
	for i, name := range p.names {
		f.slots[i] = object.FromJSON(m, vars[name], 1)
	}
	f.slots = append(f.slots, p.functions...)
	return f
}
