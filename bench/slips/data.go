package main

import (
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"toolnorm/chat"
)

//go:embed data
var files embed.FS

// file returns one of the data files as text. They are in the program, so a missing one is an error
// of its author.
func file(name string) string {
	b, err := files.ReadFile("data/" + name)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// readTools reads the tools that calls are made to.
func readTools() ([]chat.Tool, error) {
	var list []struct {
		Name       string
		Parameters json.RawMessage
	}
	if err := json.Unmarshal([]byte(file("tools.json")), &list); err != nil {
		return nil, fmt.Errorf("tools.json: %w", err)
	}
	tools := make([]chat.Tool, len(list))
	for i, t := range list {
		tools[i] = chat.Tool{Name: t.Name, Schema: t.Parameters}
	}
	return tools, nil
}

// value is a text that an argument may have.
type value struct{ kind, text string }

// readSections reads a data file whose sections begin with a line "== NAME"; what comes before
// the first is for readers.
func readSections(name string) []value {
	var all []value
	for i, part := range strings.Split("\n"+file(name), "\n== ") {
		if i > 0 {
			kind, text, _ := strings.Cut(part, "\n")
			all = append(all, value{kind, text})
		}
	}
	if last := len(all) - 1; last >= 0 {
		all[last].text = strings.TrimSuffix(all[last].text, "\n")
	}
	return all
}

// kind is one way to get a call wrong, with its alternatives.
type kind struct {
	name string
	ways []way
}

// way is one alternative: what is done, where, and what stands there then.
type way struct {
	op   string
	re   *regexp.Regexp
	with string
}

// readKinds reads the kinds of slips: lines of a name, an operation, a pattern and what replaces
// it, with tabs between them. Lines of one name are alternatives. "def NAME PATTERN" gives a
// pattern a name.
func readKinds() ([]kind, error) {
	var all []kind
	var defs []string
	for n, line := range strings.Split(file("kinds.txt"), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		if f[0] == "def" && len(f) == 3 {
			defs = append(defs, f[1], strings.NewReplacer(defs...).Replace(f[2]))
			continue
		}
		if len(f) < 3 || len(f) > 4 {
			return nil, fmt.Errorf("kinds.txt:%d: want name, operation, pattern and replacement",
				n+1)
		}
		w := way{op: f[1]}
		if operations[w.op] == nil {
			return nil, fmt.Errorf("kinds.txt:%d: no operation %q", n+1, w.op)
		}
		var err error
		if w.re, err = regexp.Compile(strings.NewReplacer(defs...).Replace(f[2])); err != nil {
			return nil, fmt.Errorf("kinds.txt:%d: %w", n+1, err)
		}
		if len(f) == 4 {
			w.with = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r", `\\`, `\`).Replace(
				f[3])
		}
		if last := len(all) - 1; last >= 0 && all[last].name == f[0] {
			all[last].ways = append(all[last].ways, w)
		} else {
			all = append(all, kind{f[0], []way{w}})
		}
	}
	return all, nil
}
