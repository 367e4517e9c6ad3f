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

// file returns one of the data files as text. It panics if there is no such file. The files are
// embedded in the program, so that would be a mistake in it.
func file(name string) string {
	b, err := files.ReadFile("data/" + name)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// readTools returns the tools of the random calls. It returns an error if the data file is not
// JSON.
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

// readSections returns the sections of a data file, each of which begins with a line "== NAME". The
// text before the first section is a comment.
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

// kind is one way to get a call wrong, with its variants.
type kind struct {
	name string
	ways []way
}

// way is one way to make a kind of mistake in a call. The operation op is applied where the pattern
// re matches, and the text with is the replacement.
type way struct {
	op   string
	re   *regexp.Regexp
	with string
}

// readKinds returns the kinds of mistakes that the benchmark makes in calls, from the file
// kinds.txt. A line has a name, an operation, a pattern and perhaps a replacement, with tabs
// between them. Consecutive lines with the same name are variants of one kind. A line "def NAME
// PATTERN" names a pattern for use in later lines. readKinds returns an error if a line is wrong.
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
