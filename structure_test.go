package toolnorm

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

// The mechanical rules of this repository, checked so that nobody has to police them.
const (
	longestFunction = 60 // lines
	longestFile     = 400
	widestLine      = 100 // columns; a tab is four
	mostMethods     = 40  // of a type
	mostFields      = 20
	mostModules     = 24 // direct dependencies
)

// goPackage is a folder of Go files that are no tests.
type goPackage struct {
	dir   string
	files map[string]*ast.File
}

// readPackages parses every package of this module.
func readPackages(t *testing.T) (*token.FileSet, []goPackage) {
	t.Helper()
	set := token.NewFileSet()
	byDir := map[string]map[string]*ast.File{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules" || ownModule(path)) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		dir := filepath.ToSlash(filepath.Dir(path))
		if byDir[dir] == nil {
			byDir[dir] = map[string]*ast.File{}
		}
		byDir[dir][path] = f
		return err
	})
	must.OK(t, err)
	var all []goPackage
	for dir, files := range byDir {
		all = append(all, goPackage{dir, files})
	}
	return set, all
}

// ownModule says that a folder is a module of its own.
func ownModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func TestEveryPackageBeginsWithASentence(t *testing.T) {
	_, all := readPackages(t)
	for _, p := range all {
		if !slices.ContainsFunc(mapValues(p.files), func(f *ast.File) bool { return len(f.Doc.Text()) > 40 }) {
			t.Errorf("%s: no package sentence", p.dir)
		}
	}
}

// mapValues are the files of a package.
func mapValues(m map[string]*ast.File) (all []*ast.File) {
	for _, f := range m {
		all = append(all, f)
	}
	return all
}

func TestEveryExportedNameIsDocumented(t *testing.T) {
	set, all := readPackages(t)
	for _, p := range all {
		for _, f := range p.files {
			for _, d := range f.Decls {
				for _, name := range undocumented(d) {
					t.Errorf("%s: %s has no comment", set.Position(d.Pos()), name)
				}
			}
		}
	}
}

// undocumented lists a declaration's exported names that no comment explains: neither above nor
// behind them, nor above the group they stand in.
func undocumented(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
			names = append(names, d.Name.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
					names = append(names, s.Name.Name)
				}
			case *ast.ValueSpec:
				if s.Names[0].IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
					names = append(names, s.Names[0].Name)
				}
			}
		}
	}
	return names
}

// exportedReceiver says that d is a function, or a method of an exported type.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	id, ok := typ.(*ast.Ident)
	return !ok || id.IsExported()
}

func TestFunctionsAreShortAndNeverPanic(t *testing.T) {
	set, all := readPackages(t)
	for _, p := range all {
		for _, f := range p.files {
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok {
					if at := panicIn(d); at.IsValid() {
						t.Errorf("%s: a variable's value panics; only Must functions may", set.Position(at))
					}
					continue
				}
				if n := set.Position(fn.End()).Line - set.Position(fn.Pos()).Line + 1; n > longestFunction {
					t.Errorf("%s: %s is %d lines long, more than %d", set.Position(fn.Pos()), fn.Name.Name, n, longestFunction)
				}
				if fn.Recv == nil && fn.Name.Name == "init" {
					t.Errorf("%s: init runs behind the reader's back", set.Position(fn.Pos()))
				}
				if at := panicIn(fn); at.IsValid() && !strings.HasPrefix(strings.ToLower(fn.Name.Name), "must") {
					t.Errorf("%s: %s panics; only Must functions may", set.Position(at), fn.Name.Name)
				}
			}
		}
	}
}

func TestFilesAreOfAReadableLength(t *testing.T) {
	set, all := readPackages(t)
	for _, p := range all {
		for path, f := range p.files {
			if n := set.Position(f.End()).Line; n > longestFile {
				t.Errorf("%s is %d lines long, more than %d", path, n, longestFile)
			}
		}
	}
}

// TestLinesFitTheScreen checks code and comments. Lists in comments, and what an indent sets apart,
// may be longer. So may a line with a string that reaches over its end, or goes on from the line
// before: a string in two pieces is found by no search.
func TestLinesFitTheScreen(t *testing.T) {
	_, all := readPackages(t)
	for _, p := range all {
		for path := range p.files {
			source := must.Read(t, path)
			texts, from := stringsIn(source), 0
			for i, line := range strings.Split(string(source), "\n") {
				if n := tooWide(line); n > 0 && !texts.cover(from+n) && !texts.cover(from) {
					t.Errorf("%s:%d: more than %d columns", path, i+1, widestLine)
				}
				from += len(line) + 1
			}
		}
	}
}

// tooWide returns the offset of the first character of a line that is beyond the widest one, or 0.
func tooWide(line string) int {
	text, comment := strings.CutPrefix(strings.TrimLeft(line, "\t"), "//")
	if comment && (text == "" || text[0] != ' ' || !strings.Contains(text[1:], " ") || strings.ContainsAny(text[1:2], " \t-*")) {
		return 0
	}
	columns := 0
	for i, c := range strings.TrimRight(line, ")}],{+ ") {
		if columns++; c == '\t' {
			columns += 3
		}
		if columns > widestLine {
			return i
		}
	}
	return 0
}

// extents are the offsets where strings begin and end.
type extents [][2]int

// stringsIn returns the extents of the strings of a Go file.
func stringsIn(source []byte) (all extents) {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", 1, len(source))
	s.Init(file, source, nil, 0)
	for {
		pos, kind, text := s.Scan()
		if kind == token.EOF {
			return all
		}
		if from := file.Offset(pos); kind == token.STRING {
			all = append(all, [2]int{from, from + len(text)})
		}
	}
}

// cover reports whether one of the strings is at an offset.
func (e extents) cover(at int) bool {
	return slices.ContainsFunc(e, func(one [2]int) bool { return one[0] < at && at <= one[1] })
}

// panicIn finds a call of panic.
func panicIn(d ast.Decl) (at token.Pos) {
	ast.Inspect(d, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			if id, ok := c.Fun.(*ast.Ident); ok && id.Name == "panic" {
				at = c.Pos()
			}
		}
		return true
	})
	return at
}

// size is how many methods and fields a type has. The fields of an embedded part count where they
// are declared.
type size struct{ methods, fields int }

func TestTypesCanBeHeldInMind(t *testing.T) {
	_, all := readPackages(t)
	sizes := map[string]size{}
	for _, p := range all {
		for _, f := range p.files {
			for _, d := range f.Decls {
				addSizes(sizes, p.dir, d)
			}
		}
	}
	for name, s := range sizes {
		if s.methods > mostMethods || s.fields > mostFields {
			t.Errorf("%s has %d methods and %d fields, more than %d and %d: divide it into parts that know little of each other",
				name, s.methods, s.fields, mostMethods, mostFields)
		}
	}
}

// addSizes counts a method, or the fields of the structs that a declaration has.
func addSizes(sizes map[string]size, dir string, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return
		}
		typ := d.Recv.List[0].Type
		if star, ok := typ.(*ast.StarExpr); ok {
			typ = star.X
		}
		if of, ok := typ.(*ast.IndexExpr); ok { // a type with a parameter
			typ = of.X
		}
		if id, ok := typ.(*ast.Ident); ok {
			s := sizes[dir+"."+id.Name]
			sizes[dir+"."+id.Name] = size{s.methods + 1, s.fields}
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			typ, _ := spec.(*ast.TypeSpec)
			if typ == nil {
				continue
			}
			if st, ok := typ.Type.(*ast.StructType); ok {
				s := sizes[dir+"."+typ.Name.Name]
				for _, f := range st.Fields.List {
					s.fields += max(1, len(f.Names))
				}
				sizes[dir+"."+typ.Name.Name] = s
			}
		}
	}
}

// tops are the folders of programs and tests, which may import everything.
var tops = []string{"cmd/toolnorm", "cmd/toolrun", "e2e", "examples", "internal/test"}

// isTop reports whether a package is in one of these, but for the packages inside a program.
func isTop(dir string) bool {
	return slices.ContainsFunc(tops, func(top string) bool {
		rest, in := strings.CutPrefix(dir, top)
		return in && (rest == "" || rest[0] == '/' && !strings.HasPrefix(rest, "/internal/"))
	})
}

// below lists what each package may import of this module.
var below = map[string][]string{
	"internal/auth":          {"internal/fault", "internal/pattern"},
	"internal/body":          {"chat", "internal/fault"},
	"internal/clip":          {},
	"internal/fault":         {"internal/clip"},
	"internal/front":         {"internal/fault"},
	"internal/sse":           {},
	"internal/golden":        {"chat"},
	"internal/exam":          {"chat"},
	"internal/doctor":        {"chat", "engine", "engine/wait", "engine/upstream", "engine/ollama", "engine/openai", "engine/window", "internal/exam", "internal/fault", "internal/spelling"},
	"chat":                   {},
	"chat/schema":            {"chat", "internal/jsontree", "internal/clip"},
	"adapters":               {"chat", "chat/schema", "internal/jsontree", "adapters/internal/declaration", "adapters/internal/print", "adapters/internal/grammar", "adapters/internal/scan", "adapters/internal/lenient", "adapters/internal/repair", "adapters/internal/prose", "adapters/internal/claim", "adapters/internal/toolset", "adapters/internal/wrapper", "adapters/internal/notation", "adapters/internal/restore", "adapters/internal/form"},
	"adapters/derive":        {"chat", "adapters"},
	"tools":                  {"chat", "internal/spelling"},
	"tools/find":             {"chat/schema", "internal/lexical", "internal/vector", "tools", "internal/clip"},
	"tools/company":          {"tools", "internal/store"},
	"tools/dynamic":          {"chat", "engine/valid", "tools", "internal/store", "internal/sleep", "internal/sqlsafe", "internal/pyexpr", "internal/pyexpr/py", "internal/fault", "internal/auth", "internal/clip"},
	"internal/embedding":     {"internal/post"},
	"tools/data":             {"tools", "internal/csvrows", "internal/store", "internal/sqlsafe", "internal/chroma", "internal/embedding", "internal/lexical", "internal/vector"},
	"tools/kb/chunk":         {"internal/clip", "internal/aside", "internal/csvrows"},
	"internal/csvrows":       {},
	"tools/kb/kbstore":       {"internal/auth", "internal/lexical", "internal/store", "internal/vector"},
	"internal/sqlsafe":       {"internal/clip", "chat", "internal/aside", "internal/jsontree"},
	"internal/aside":         {},
	"internal/chroma":        {"chat"},
	"internal/lexical":       {},
	"internal/ocr":           {"internal/post"},
	"internal/test/mailtest": {"internal/shared"},
	"internal/test/odd":      {},
	"internal/post":          {"chat"},
	"internal/vector":        {},
	"internal/pyexpr":        {"internal/pyexpr/chars", "internal/pyexpr/number", "internal/pyexpr/object", "internal/pyexpr/py", "internal/pyexpr/syntax"},
	"internal/pyexpr/object": {"internal/pyexpr/chars", "internal/pyexpr/number", "internal/pyexpr/py"},
	"internal/pyexpr/number": {"internal/pyexpr/chars", "internal/pyexpr/power", "internal/pyexpr/py"},
	"internal/pyexpr/chars":  {},
	"internal/pyexpr/py":     {},
	"internal/pyexpr/syntax": {"internal/pyexpr/chars", "internal/pyexpr/number", "internal/pyexpr/py"},
	"internal/pyexpr/power":  {},
	"internal/rerank":        {"internal/post"},
	"internal/sleep":         {},
	"internal/store":         {"internal/sleep"},
	"internal/shared":        {"internal/sleep", "internal/store"},
	"engine":                 {"chat", "chat/schema", "adapters", "adapters/derive", "engine/repeat", "engine/wait", "engine/upstream", "engine/ollama", "engine/openai", "engine/demo", "engine/valid", "engine/history", "engine/reduce", "engine/window", "internal/fault", "internal/pattern", "internal/kept", "internal/replace", "internal/clip"},
	"engine/history":         {"chat", "adapters"},
	"engine/reduce":          {"chat", "chat/schema", "internal/kept", "internal/clip"},
	"engine/repeat":          {"chat"},
	"engine/window":          {"chat", "chat/schema", "internal/clip"},
	"engine/wait":            {"chat", "internal/fault", "internal/sleep"},
	"engine/upstream":        {"chat", "adapters", "adapters/derive", "engine/wait", "internal/fault"},
	"engine/ollama":          {"chat", "adapters/derive", "engine/wait", "engine/upstream", "engine/window", "internal/fault"},
	"engine/openai":          {"chat", "adapters", "adapters/derive", "engine/wait", "engine/upstream", "internal/fault", "internal/jsonscan", "internal/kept"},
	"engine/demo":            {"chat", "chat/schema", "adapters", "engine/ollama", "engine/upstream", "internal/sleep", "internal/clip"},
	"engine/valid":           {"chat", "chat/schema", "internal/fault", "internal/jsonscan", "internal/jsontree", "internal/kept", "internal/spelling", "internal/clip"},
	"internal/trace":         {"internal/clip", "chat", "internal/body", "internal/fault"},
	"internal/limit":         {"internal/auth", "internal/fault", "internal/pattern", "internal/shared", "internal/sleep", "internal/trace"},
	"internal/metrics":       {"chat", "engine", "internal/trace"},
	"internal/spans":         {"chat", "internal/trace", "internal/clip"},
	"internal/usage":         {"internal/auth", "internal/store", "internal/trace"},
	"internal/history":       {"internal/store", "internal/trace"},
	"admin":                  {"adapters", "chat", "engine", "tools", "tools/dynamic", "tools/kb", "tools/kb/chunk", "tools/kb/kbstore", "tools/remote", "internal/auth", "internal/body", "internal/family", "internal/fault", "internal/history", "internal/pyexpr", "internal/replay", "internal/sse", "internal/store", "internal/trace", "internal/usage"},
	"admin/web":              {},
	"internal/replay":        {"adapters", "chat", "engine/valid", "internal/golden"},
	"runner":                 {"chat", "tools", "internal/body", "internal/fault", "internal/replace"},
	"internal/pattern":       {},
	"internal/spelling":      {},
	"mcpserver":              {"chat", "tools", "internal/replace", "internal/sleep", "internal/sse", "internal/clip"},

	"proxy/form/messages":  {"chat", "internal/fault", "internal/sse", "proxy/exchange", "proxy/field", "proxy/form"},
	"proxy/field":          {"chat", "chat/schema", "internal/fault"},
	"proxy/form":           {"chat", "adapters", "internal/fault", "internal/sse", "proxy/field"},
	"proxy/exchange":       {"chat", "internal/fault", "internal/limit", "internal/trace", "proxy/field", "proxy/form"},
	"proxy/form/openai":    {"chat", "internal/fault", "internal/sse", "proxy/exchange", "proxy/field", "proxy/form"},
	"proxy/form/responses": {"chat", "chat/schema", "internal/auth", "internal/fault", "internal/sse", "proxy/exchange", "proxy/field", "proxy/form"},
	"proxy/form/ollama":    {"chat", "adapters", "internal/fault", "internal/front", "internal/jsonscan", "internal/jsontree", "internal/sse", "proxy/exchange", "proxy/field", "proxy/form"},
	"proxy/form/shell":     {"chat", "chat/schema", "adapters", "internal/fault", "proxy/form", "runner", "tools", "tools/find"},
	"proxy/form/xml":       {"chat", "adapters", "proxy/form"},
	"proxy":                {"chat", "internal/fault", "internal/pattern", "internal/trace", "proxy/exchange", "proxy/form", "proxy/form/messages", "proxy/form/ollama", "proxy/form/openai", "proxy/form/responses", "proxy/form/shell", "proxy/form/xml"},

	"tools/kb":           {"internal/clip", "chat", "internal/auth", "internal/embedding", "internal/fault", "internal/post", "internal/rerank", "internal/sleep", "tools", "tools/kb/chunk", "tools/kb/kbstore", "tools/kb/retrieval", "internal/ocr"},
	"tools/kb/retrieval": {"internal/clip", "chat", "internal/auth", "internal/lexical", "internal/post", "internal/rerank", "internal/sleep", "internal/vector", "tools/kb/kbstore"},

	"adapters/internal/scan":        {"internal/jsontree"},
	"adapters/internal/toolset":     {"chat", "chat/schema", "adapters/internal/scan"},
	"adapters/internal/prose":       {"adapters/internal/scan"},
	"adapters/internal/claim":       {"adapters/internal/prose"},
	"adapters/internal/lenient":     {"chat", "chat/schema", "adapters/internal/repair", "adapters/internal/scan"},
	"adapters/internal/repair":      {"chat", "chat/schema", "adapters/internal/scan"},
	"adapters/internal/declaration": {"adapters/internal/form", "adapters/internal/scan"},
	"adapters/internal/form":        {"chat", "adapters/internal/lenient", "adapters/internal/scan"},
	"adapters/internal/print":       {"chat", "chat/schema", "adapters/internal/declaration", "adapters/internal/form", "adapters/internal/scan", "internal/jsontree"},
	"adapters/internal/grammar":     {"chat", "chat/schema", "adapters/internal/declaration", "adapters/internal/print", "adapters/internal/scan"},
	"adapters/internal/restore":     nil,
	"adapters/internal/notation":    {"chat/schema", "adapters/internal/lenient", "adapters/internal/scan", "adapters/internal/toolset"},
	"adapters/internal/wrapper":     {"chat/schema", "adapters/internal/lenient", "adapters/internal/scan", "adapters/internal/toolset"},
	"internal/companymcp":           {"tools/company"},

	"agent":                 {"adapters", "agent/internal/worded", "chat", "chat/schema", "internal/fault", "internal/ocr", "internal/sse", "tools", "tools/find", "internal/clip"},
	"agent/internal/worded": {"adapters", "chat", "chat/schema", "internal/jsontree"},
	"internal/family":       {"adapters", "adapters/derive", "chat", "internal/golden", "internal/clip"},
	"internal/home":         {},
	"internal/jsonscan":     {},
	"internal/jsontree":     {},
	"internal/kept":         {},
	"internal/release":      {},
	"internal/replace":      {},
	"internal/toolargs":     {"adapters", "chat", "engine/valid", "tools"},
	"internal/toolbox":      {"internal/sleep", "internal/store", "internal/toolargs", "tools", "tools/company", "tools/data", "tools/dynamic", "tools/kb"},
	"internal/version":      {},
	"internal/voidmodel":    {},
	"tools/remote":          {"chat", "chat/schema", "internal/body", "internal/fault", "internal/jsontree", "internal/replace", "internal/sleep", "tools", "internal/clip"},

	"cmd/toolnorm/internal/logs":    {},
	"cmd/toolnorm/internal/connect": {"examples/editors", "internal/replace"},
	"cmd/toolnorm/internal/command": {"proxy/form/openai", "chat", "cmd/toolnorm/internal/connect", "chat/schema", "adapters", "engine/ollama", "engine/upstream", "engine/wait", "internal/auth", "internal/doctor", "internal/family", "internal/golden", "internal/home", "internal/replay", "internal/toolbox", "tools/data", "tools/dynamic", "tools/kb", "tools/kb/kbstore"},
}

// standardOnly are the leaves: the standard library and each other, nothing else.
var standardOnly = []string{"chat", "chat/schema", "internal/clip", "internal/jsontree", "internal/spelling", "adapters", "adapters/internal/declaration", "adapters/internal/print", "adapters/internal/grammar", "adapters/internal/scan", "adapters/internal/lenient", "adapters/internal/repair", "adapters/internal/prose", "adapters/internal/claim", "adapters/internal/toolset", "adapters/internal/wrapper", "adapters/internal/notation", "adapters/internal/restore", "adapters/internal/form", "adapters/derive", "tools"}

func TestImportsPointDown(t *testing.T) {
	set, all := readPackages(t)
	for _, p := range all {
		allowed, listed := below[p.dir]
		if !listed && !isTop(p.dir) && p.dir != "." {
			t.Errorf("%s is not in the list of what packages may import", p.dir)
		}
		for _, f := range p.files {
			for _, imp := range f.Imports {
				path := strings.Trim(imp.Path.Value, `"`)
				own, isOwn := strings.CutPrefix(path, "toolnorm/")
				switch {
				case isOwn && listed && !slices.Contains(allowed, own):
					t.Errorf("%s: %s may not import %s", set.Position(imp.Pos()), p.dir, path)
				case !isOwn && strings.Contains(path, ".") && slices.Contains(standardOnly, p.dir):
					t.Errorf("%s: %s may only import the standard library, not %s", set.Position(imp.Pos()), p.dir, path)
				}
			}
		}
	}
}

func TestLeavesDependOnNothingOutside(t *testing.T) {
	for _, leaf := range standardOnly {
		if _, err := os.Stat(leaf); err != nil {
			continue // not there yet
		}
		out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./"+leaf).CombinedOutput()
		if err != nil {
			t.Fatalf("go list: %v\n%s", err, out)
		}
		for dep := range strings.FieldsSeq(string(out)) {
			if !slices.Contains(standardOnly, strings.TrimPrefix(dep, "toolnorm/")) {
				t.Errorf("%s depends on %s", leaf, dep)
			}
		}
	}
}

// programs are what users run; every other package of the product is there for one of them.
var programs = []string{"./cmd/...", "./examples/...", "./internal/release"}

// TestTestDoublesAreInTheirRoom holds that a package which only tests import is in internal/test or
// in e2e, and that no program imports one of these.
func TestTestDoublesAreInTheirRoom(t *testing.T) {
	used, packages := listed(t, append([]string{"-deps"}, programs...)...), listed(t, "./...")
	for _, p := range packages {
		double := strings.HasPrefix(p, "internal/test/") || p == "e2e" || strings.HasPrefix(p, "e2e/")
		switch isUsed := slices.Contains(used, p); {
		case p == "toolnorm" || p == "internal/odd": // the tests at the root; moving
		case double && isUsed:
			t.Errorf("a program imports %s, which is for tests", p)
		case !double && !isUsed:
			t.Errorf("only tests import %s: move it to internal/test", p)
		}
	}
}

// listed returns the packages of this module that go list prints for args, without the module's
// name.
func listed(t *testing.T, args ...string) (names []string) {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list"}, args...)...).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for name := range strings.FieldsSeq(string(out)) {
		if name, own := strings.CutPrefix(name, "toolnorm/"); own || name == "toolnorm" {
			names = append(names, name)
		}
	}
	return names
}

func TestDependenciesAreFew(t *testing.T) {
	mod := must.Read(t, "go.mod")
	var direct []string
	for line := range strings.Lines(string(mod)) {
		f := strings.Fields(strings.TrimPrefix(line, "require "))
		if len(f) == 2 && strings.Contains(f[0], ".") && strings.HasPrefix(f[1], "v") { // "// indirect" makes more
			direct = append(direct, f[0])
		}
	}
	if n := len(direct); n == 0 || n > mostModules {
		t.Errorf("%d direct dependencies, want 1 to %d: %q", n, mostModules, direct)
	}
}
