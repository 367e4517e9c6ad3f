package agent

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// missing returns the tool that an answer should have called, or "" if there is none. It looks for
// one only if no tool has run yet, or if the answer has a number that is in no result and not in
// the user's message. Besides, the question, or a record of a list that it names, must have an
// identifier that no call has looked up. The tool is read-only, requires one argument and mentions
// identifiers of this kind. Of several such tools, missing returns the one that fits the question's
// words best.
func missing(r *run, text string) string {
	if len(r.facts) > 0 && !inventsNumber(r, text) {
		return ""
	}
	asked := r.saidLast()
	ids := codesIn.FindAllString(asked, -1)
	done := ""
	for _, f := range r.facts {
		done += folded(string(f.call.Args)) + "\n"
		if _, records, ok := strings.Cut(r.pointed(f.text), pointing); ok {
			ids = append(ids, codesIn.FindAllString(records, -1)...)
		}
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return holds(done, folded(id)) })
	if len(ids) == 0 || len(r.tools.spokenOf(asked)) > 0 {
		return ""
	}
	for _, t := range append(r.tools.rank(asked), r.tools.list...) {
		ran := slices.ContainsFunc(r.facts, func(f fact) bool { return f.call.Name == t.Name })
		if !ran && onlyReads(t) &&
			slices.ContainsFunc(codesIn.FindAllString(string(t.Schema)+t.Description, -1),
				func(known string) bool {
					return slices.ContainsFunc(ids, func(id string) bool {
						return kindOf(id) == kindOf(known)
					})
				}) && takesOne(t.Schema) {
			return t.Name
		}
	}
	return ""
}

// takesOne reports whether a tool requires exactly one argument.
func takesOne(schema json.RawMessage) bool {
	var v struct{ Required []string }
	return json.Unmarshal(schema, &v) == nil && len(v.Required) == 1
}

// numbersIn matches numbers of more than one digit.
var numbersIn = regexp.MustCompile(`\d[\d,]*\d`)

// inventsNumber reports whether a text has a number that is in no result of a tool and not in the
// user's message.
func inventsNumber(r *run, text string) bool {
	known := folded(r.saidLast())
	for _, f := range r.facts {
		known += "\n" + folded(f.text) + r.pointed(f.text)
	}
	return slices.ContainsFunc(numbersIn.FindAllString(text, -1), func(n string) bool {
		return !strings.Contains(known, n) &&
			!strings.Contains(known, strings.ReplaceAll(n, ",", ""))
	})
}
