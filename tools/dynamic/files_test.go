package dynamic

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

// actions imports, and says what was done in a line.
func actions(t *testing.T, s *Set, dry bool, paths ...string) string {
	t.Helper()
	all, err := s.Import(t.Context(), "tester", dry, paths...)
	if err != nil {
		return "! " + err.Error()
	}
	var words []string
	for _, one := range all {
		words = append(words, fmt.Sprint(filepath.Base(one.File), " ", one.Action))
		if one.Err != nil {
			words[len(words)-1] += ": " + one.Err.Error()
		}
	}
	return strings.Join(words, ", ")
}

func TestExportedToolsComeBackTheSame(t *testing.T) {
	s, other := ownSet(t), ownSet(t)
	save(t, s, dailyLimit)
	save(t, s, multiply)
	d := draft(typeSQL, "SELECT user_nm,\n  uid -- {{x}}\nFROM h_user WHERE dept = :dept OR :dept IS NULL", "dept STRING?")
	d.Active, d.Options = false, Options{Result: "rows", Format: "text", Timeout: 500, MaxRows: 7}
	save(t, s, d)
	dir := filepath.Join(t.TempDir(), "tools")
	files, err := s.Export(t.Context(), dir, false)
	if err != nil || len(files) != 3 {
		t.Fatalf("%q, %v", files, err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "t.yaml"))
	want := `name: t
description_agent: a tool
tool_type: SQL
definition: |-
  SELECT user_nm,
    uid -- {{x}}
  FROM h_user WHERE dept = :dept OR :dept IS NULL
options:
  result: rows
  format: text
  timeout_ms: 500
  max_rows: 7
is_active: false
params:
  - param_name: dept
    param_type: STRING
    is_required: false
`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
	for _, step := range []struct {
		dry  bool
		want string
	}{
		{true, "get_user_daily_limit.yaml create, multiply_numbers.yaml create, t.yaml create"},
		{false, "get_user_daily_limit.yaml create, multiply_numbers.yaml create, t.yaml create"},
		{false, "get_user_daily_limit.yaml unchanged, multiply_numbers.yaml unchanged, t.yaml unchanged"},
	} {
		if got := actions(t, other, step.dry, dir); got != step.want {
			t.Errorf("dry %v: %s", step.dry, got)
		}
	}
	if got := call(other, "multiply_numbers", `{"num1":5,"num2":3}`); got != "15" {
		t.Errorf("imported: %s", got)
	}
	again := filepath.Join(t.TempDir(), "again")
	must.Have(other.Export(t.Context(), again, true))(t)
	for _, file := range files {
		one, _ := os.ReadFile(file)
		two, err := os.ReadFile(filepath.Join(again, filepath.Base(file)))
		if err != nil || !bytes.Equal(one, two) {
			t.Errorf("%s became\n%s, %v", file, two, err)
		}
	}
}

// TestTextsOfFilesComeBackTheSame holds that a file can be read whatever the texts of a tool are.
func TestTextsOfFilesComeBackTheSame(t *testing.T) {
	letters := []rune("\t\n\r -:#'\"|>&*!%@`{}[],?a0~é\u0085\u2028\ufeff")
	r := rand.New(rand.NewPCG(3, 1))
	for i := range 3000 {
		text := make([]rune, 1+r.IntN(5))
		for n := range text {
			text[n] = letters[r.IntN(len(letters))]
		}
		if i == 0 {
			text = []rune("\t\n")
		}
		value := valueOf(string(text))
		var d Draft
		input := fmt.Sprintf(`{"name":"t","params":[{"param_name":"a","param_type":"STRING","default":%s,"examples":[[{%s:%s}]]}],"examples":[{"arguments":{%s:[%s]},"contains":%s}]}`,
			value, value, value, value, value, value)
		if err := json.Unmarshal([]byte(input), &d); err != nil {
			t.Fatalf("%q: %v", string(text), err)
		}
		file, err := d.file()
		if err != nil {
			t.Fatalf("%q: %v", string(text), err)
		}
		back, err := readDraft(file)
		if err != nil || string(back.Params[0].Default) != string(value) || string(valueOf(back.Examples)) != string(valueOf(d.Examples)) ||
			string(valueOf(back.Params)) != string(valueOf(d.Params)) {
			t.Fatalf("%q: %v\n%s\nis %s", string(text), err, file, valueOf(back))
		}
	}
}

// TestFilesThatCannotBeReadSayWhy holds that no error names a type of the program.
func TestFilesThatCannotBeReadSayWhy(t *testing.T) {
	dir, s := t.TempDir(), ownSet(t)
	for text, want := range map[string]string{
		"":                                        "it is empty",
		"# nothing":                               "it is empty",
		"- name: a":                               "line 1: want a mapping, got a list",
		"name: a\nfoo: 1\nbar: 2":                 "line 2: there is no field foo; line 3: there is no field bar",
		"name: a\nparams: x":                      "line 2: want a list, got a text",
		"name: [a]":                               "line 1: want a text, got a list",
		"name: a\noptions: {max_rows: many}":      "line 2: want a whole number, got a text",
		"name: a\nis_active: 3":                   "line 2: want true or false, got a number",
		"name: a\n\tb: c":                         "line 2: found a tab character that violates indentation",
		"name: a\nparams: [{param_name: [x]}]":    "line 2: want a text, got a list",
		"name: a\noptions: {rows: 1}":             "line 2: there is no field rows",
		"name: a\nparams: [{name: x}]":            "line 2: field name not found in a parameter",
		"name: a\nname: b":                        `line 2: mapping key "name" already defined at line 1`,
		"name: a\n---\nname: b":                   "a file holds one tool, and this one has more",
		"name: a\n---\n- !x [1]":                  "a file holds one tool, and this one has more",
		"name: a\nexamples: [{result: .inf}]":     "line 2: .inf is no value that JSON has",
		"name: a\nexamples: [{arguments: {}}, 5]": "line 2: an example is a mapping",
	} {
		path := filepath.Join(dir, "t.yaml")
		must.OK(t, os.WriteFile(path, []byte(text), 0o600))
		if got := actions(t, s, true, path); !strings.HasPrefix(got, "t.yaml refused: no tool can be read from it: "+want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestAFolderMayBeTheWholeTruth takes tools away and makes others, in random order, and holds that
// with prune a folder and a store become the same, that other files of the folder stay, and that a
// file which is refused deletes nothing.
func TestAFolderMayBeTheWholeTruth(t *testing.T) {
	dir := t.TempDir()
	notes := map[string]string{"notes.yaml": "a: 1\n", "renamed.yaml": "name: other\ndescription_agent: x\ntool_type: PYTHON\ndefinition: '1'\n", "readme.md": "x"}
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 0))
		from, to := ownSet(t), ownSet(t)
		for _, s := range []*Set{from, to} {
			for i := range 6 {
				if r.IntN(2) == 0 {
					d := draft(typePython, "1")
					d.Name = fmt.Sprint("tool_", i)
					save(t, s, d)
				}
			}
		}
		for name, text := range notes {
			must.Write(t, filepath.Join(dir, name), text)
		}
		files := must.Have(from.Export(t.Context(), dir, true))(t)
		there, _ := filepath.Glob(filepath.Join(dir, "*"))
		if len(there) != len(files)+len(notes) {
			t.Errorf("seed %d: %q beside %q", seed, there, files)
		}
		if len(files) == 0 {
			continue // nothing to import is an error, and deletes nothing
		}
		before := namesOf(t, to)
		all := must.Have(to.Import(t.Context(), "x", false, dir))(t) // with the notes, one of which is no tool
		if gone, err := to.Prune(t.Context(), "x", false, all); err == nil || len(gone) != 0 {
			t.Errorf("seed %d: %v, %v: a refused file deletes", seed, gone, err)
		}
		all = must.Have(to.Import(t.Context(), "x", false, files...))(t)
		if dry, err := to.Prune(t.Context(), "x", true, all); err != nil || len(namesOf(t, to)) < len(before) {
			t.Errorf("seed %d: a dry run deletes %v, %v", seed, dry, err)
		}
		must.Have(to.Prune(t.Context(), "x", false, all))(t)
		if got, want := namesOf(t, to), namesOf(t, from); !slices.Equal(got, want) {
			t.Errorf("seed %d: %q, want %q", seed, got, want)
		}
	}
}

// namesOf lists the names of the tools.
func namesOf(t *testing.T, s *Set) (names []string) {
	t.Helper()
	all := must.Have(s.List(t.Context()))(t)
	for _, one := range all {
		names = append(names, one.Name)
	}
	slices.Sort(names)
	return names
}

func TestAChangedFileChangesItsToolAndNoOther(t *testing.T) {
	s := ownSet(t)
	made := save(t, s, multiply)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.json":   `{"name": "multiply_numbers", "description_agent": "product", "tool_type": "PYTHON", "definition": "result = num1 * num2 * 10", "params": [{"param_name": "num1", "param_type": "NUMBER"}, {"param_name": "num2", "param_type": "NUMBER"}]}`,
		"b.yaml":   "name: bad\ndescription_agent: x\ntool_type: SQL\ndefinition: DROP TABLE h_user\n",
		"c.yml":    "name: multiply_numbers\ndescription_agent: x\ntool_type: PYTHON\ndefinition: '1'\n",
		"d.yaml":   "name: typo\ndescription_agent: x\ntool_type: PYTHON\ndefinitoin: '1'\n",
		"e.yaml":   "name: two\n---\nname: three\n",
		"f.yaml":   "name: p\ndescription_agent: x\ntool_type: PYTHON\ndefinition: a\nparams:\n  - {param_name: a, param_type: NUMBER, requird: false}\n",
		"g.yaml":   "",
		"notes.md": "no tool",
	} {
		must.Write(t, filepath.Join(dir, name), text)
	}
	got := actions(t, s, false, dir)
	for _, want := range []string{"a.json update", "b.yaml refused: only SELECT statements are allowed", "c.yml refused: " + dir + "/a.json has a tool of the same name", "d.yaml refused: no tool", "definitoin", "e.yaml refused: no tool can be read from it: a file holds one tool", "f.yaml refused", "requird", "g.yaml refused"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s\nlacks %s", got, want)
		}
	}
	if call(s, "multiply_numbers", `{"num1":5,"num2":3}`) != "150" {
		t.Error("the file changed nothing")
	}
	if all, err := s.Versions(t.Context(), made.ID); err != nil || len(all) != 2 || all[0].Action != imported {
		t.Errorf("%+v, %v", all, err)
	}
	for path, want := range map[string]string{filepath.Join(dir, "none"): "no such file", t.TempDir(): "there is no .yaml"} {
		if got := actions(t, s, false, path); !strings.Contains(got, want) {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// FuzzDraft: a file is refused or read; what is read is written and read again as the same.
func FuzzDraft(f *testing.F) {
	f.Add([]byte("name: t\ndescription_agent: x\ntool_type: SQL\ndefinition: SELECT 1\nparams:\n  - {param_name: a, param_type: NUMBER}\n"))
	f.Add([]byte(`{"name": "t", "definition": "a\tb\r\n\u0000", "options": {"max_rows": 5}}`))
	f.Add([]byte("&a [*a, *a]"))
	f.Add([]byte("name: &x t\ndescription_agent: *x\nparams: null\n"))
	s := ownSet(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := readDraft(text)
		if err != nil {
			return
		}
		c, p := s.compile(context.Background(), d, false)
		if (c == nil) != p.errors() {
			t.Fatalf("%q: compiled %v with %+v", text, c != nil, p)
		}
		if c == nil {
			return
		}
		file, err := c.draft.file()
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		back, err := readDraft(file)
		if err != nil || !sameDraft(back, c.draft) {
			t.Fatalf("%q became %q: %v", text, file, err)
		}
		stored := Draft{Type: c.draft.Type, Definition: c.draft.stored()}
		if err := stored.unpack(); err != nil || stored.Definition != c.draft.Definition || stored.Options != c.draft.Options {
			t.Fatalf("%q is stored as %q, which is %+v: %v", text, c.draft.stored(), stored, err)
		}
	})
}
