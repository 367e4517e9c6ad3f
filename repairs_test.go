package toolnorm

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/engine"
	"toolnorm/internal/test/must"
)

// repairsPage is where every reason code has a line.
const repairsPage = "docs/repairs.md"

// tableHead begins the table, which ends the page.
const tableHead = "| code | what it means | a model writes | what comes of it |\n|---|---|---|---|\n"

func TestRepairsAreDocumented(t *testing.T) {
	page := must.Read(t, repairsPage)
	intro, _, _ := strings.Cut(string(page), tableHead)
	want := intro + tableHead
	for _, r := range allReasons() {
		want += reasonLine(r)
	}
	must.Match(t, repairsPage, want)
}

// allReasons are those of the decoder and of the engine, in alphabetical order.
func allReasons() []chat.Reason {
	all := slices.Concat(adapters.Reasons(), engine.Reasons())
	slices.SortFunc(all, func(a, b chat.Reason) int { return strings.Compare(a.Code, b.Code) })
	return all
}

// reasonLine is a line of the table.
func reasonLine(r chat.Reason) string {
	shown := strings.NewReplacer("\n", "⏎", "\t", "→", "\u00a0", "␠", "\xff", "�", "|", `\|`)
	code := func(s string) string {
		if s == "" {
			return "nothing"
		}
		return "`" + shown.Replace(s) + "`"
	}
	return fmt.Sprintf("| `%s` | %s | %s | %s |\n", r.Code, r.Means, code(r.Wrote), code(r.Reads))
}

// TestEveryCodeIsAReason reads the sources: each code that they give has a line, and each line is
// of a code that they give.
func TestEveryCodeIsAReason(t *testing.T) {
	given := givenCodes(t)
	var known []string
	for _, r := range allReasons() {
		known = append(known, r.Code)
	}
	if !slices.IsSorted(known) || len(slices.Compact(slices.Clone(known))) != len(known) {
		t.Errorf("the reasons are not sorted, each once: %q", known)
	}
	for code, at := range given {
		if !slices.Contains(known, code) {
			t.Errorf("%s gives the code %q, which is no reason", at, code)
		}
	}
	for _, code := range known {
		if _, ok := given[code]; !ok {
			t.Errorf("no source gives the code %q", code)
		}
	}
}

// givenCodes are the codes that the sources give, with a place where each is given: what repaired
// is called with, what is appended to repairs, and the constants whose names begin with step.
func givenCodes(t *testing.T) map[string]token.Position {
	set, all := readPackages(t)
	given := map[string]token.Position{}
	for _, p := range all {
		if p.dir != "adapters" && p.dir != "adapters/internal/lenient" && p.dir != "engine" && p.dir != "engine/openai" {
			continue
		}
		consts := stringConsts(p)
		note := func(e ast.Expr) {
			switch e := e.(type) {
			case *ast.BasicLit:
				if code, err := strconv.Unquote(e.Value); err == nil {
					given[code] = set.Position(e.Pos())
				}
			case *ast.Ident:
				if code, ok := consts[e.Name]; ok {
					given[code] = set.Position(e.Pos())
				}
			}
		}
		for _, f := range p.files {
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					codesIn(n, note)
				case *ast.ValueSpec:
					if strings.HasPrefix(n.Names[0].Name, "step") {
						note(n.Names[0])
					}
				}
				return true
			})
		}
	}
	return given
}

// codesIn finds the codes that a call gives.
func codesIn(call *ast.CallExpr, note func(ast.Expr)) {
	switch fn := call.Fun.(type) {
	case *ast.SelectorExpr:
		if strings.EqualFold(fn.Sel.Name, "repaired") {
			note(call.Args[0])
		}
	case *ast.Ident:
		if fn.Name == "append" {
			if list, ok := call.Args[0].(*ast.SelectorExpr); ok && strings.EqualFold(list.Sel.Name, "repairs") && !call.Ellipsis.IsValid() {
				note(call.Args[1])
			}
		}
	}
}

// stringConsts are a package's constants whose values are written as strings.
func stringConsts(p goPackage) map[string]string {
	consts := map[string]string{}
	for _, f := range p.files {
		ast.Inspect(f, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok {
				for i, name := range spec.Names {
					if i < len(spec.Values) {
						if lit, ok := spec.Values[i].(*ast.BasicLit); ok && lit.Kind == token.STRING {
							consts[name.Name], _ = strconv.Unquote(lit.Value)
						}
					}
				}
			}
			return true
		})
	}
	return consts
}
