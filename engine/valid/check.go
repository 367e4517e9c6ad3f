package valid

import (
	"cmp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// mostProblems is how many problems of one call are reported, because a model does not take in more
// at once. Problems are in the order of the arguments. So the first ones are at the place where the
// model begins to rewrite.
const mostProblems = 5

// Problem is one error in a call's arguments.
type Problem struct {
	// the place: names of members and indexes of elements, from the outermost inwards; empty: the
	// arguments themselves. A missing member is named
	Path []string
	// what the schema demands: "maximum", "required", …; or "json" if the text is not JSON,
	// "duplicate" for a member that occurs twice, "work" if checking would take too long
	Keyword string
	// a sentence for a model, with the place: "arguments.days: want at most 7, got 9"
	Text string
}

// Check returns the problems of a call's arguments, which must be a JSON object. It returns at most
// five problems, in the order of their places, or nil if the arguments fit. Numbers are compared
// exactly. An object is required even if the schema would accept a string, because OpenAI's
// arguments are always an object, and clients parse them as one. If a check takes too much work,
// that is a problem, since an unchecked call must not pass for a checked one. A member that occurs
// twice is a problem too, though JSON allows it, because it is not known which of the values a
// client uses.
func (v *Validator) Check(args []byte) []Problem { return v.check(args, true) }

// CheckValue is like Check, but accepts a JSON value of any kind. For example, an answer under a
// response_format may be a list or a number if its schema says so.
func (v *Validator) CheckValue(text []byte) []Problem { return v.check(text, false) }

// check returns the problems of args. If object is true, args must be an object, as for Check, and
// otherwise they may be any value, as for CheckValue.
func (v *Validator) check(args []byte, object bool) []Problem {
	doc, keyword, text := v.judge(args, object)
	if doc == nil {
		return []Problem{problem(nil, keyword, text)}
	}
	var all []Problem
	for _, c := range doc.twice {
		all = append(all, problem(c.path(), "duplicate", "is there twice"))
	}
	if doc.failed != nil {
		for _, f := range findings(doc.failed) {
			all = append(all, problem(f.path, f.keyword, f.text))
		}
	}
	return orderProblems(all)
}

// judge parses arguments and validates them against the schema. If the parameter object is true,
// the arguments must be an object. The result doc is the document, whose field failed has the
// library's errors. If the arguments cannot be checked, doc is nil, and keyword and text say why.
func (v *Validator) judge(args []byte, object bool) (doc *document, keyword, text string) {
	doc, err := parse(args)
	switch {
	case err != nil:
		return nil, "json", err.Error()
	case object && !is[map[string]any](doc.value):
		return nil, "type", "want an object, got " + display(doc.value)
	case v.workFor(0, doc.levels) > most:
		return nil, "work", tooMuch
	}
	doc.failed, _ = v.root.Validate(doc.value).(*jsonschema.ValidationError)
	return doc, "", ""
}

// tooMuch is the problem of arguments whose check would take too long.
const tooMuch = "too large or nested too deeply to be checked with this schema"

// Sentences returns all problems in one line, for logs and for asking a model to write its call
// again.
func Sentences(all []Problem) string {
	texts := make([]string, len(all))
	for i, p := range all {
		texts[i] = p.Text
	}
	return strings.Join(texts, "; ")
}

// workFor returns how many checks of a value against a schema a part of the arguments may need at
// most. The part begins at the given depth, and levels[i] is the number of its values i levels
// further down. v.work[d] is the number of checks that one value at the depth d needs; its last
// number is used for all greater depths.
func (v *Validator) workFor(depth int, levels []int) (sum float64) {
	for below, n := range levels {
		sum += float64(n) * v.work[min(depth+below, len(v.work)-1)]
	}
	return sum
}

// problem returns a Problem. The parameter text must not name the place in the arguments, because
// problem puts the place before the text. So a model reads "arguments.days: want at most 7, got 9",
// and finds the place in what it wrote.
func problem(path []string, keyword, text string) Problem {
	return Problem{path, keyword, spell(path) + ": " + text}
}

// orderProblems sorts problems by place, drops repetitions, and keeps the first ones. The library
// iterates over maps, so without sorting a model would read different problems of the same
// call each time. Branches of an allOf often find the same fault, which is reported once.
func orderProblems(all []Problem) []Problem {
	slices.SortStableFunc(all, func(a, b Problem) int {
		return cmp.Or(slices.Compare(a.Path, b.Path), strings.Compare(a.Text, b.Text))
	})
	all = slices.CompactFunc(all, func(a, b Problem) bool { return a.Text == b.Text })
	return all[:min(len(all), mostProblems)]
}

// spell returns a path in the notation of code: arguments.days, arguments.list[2], arguments["odd
// name"].
func spell(path []string) string { return spellPath("arguments", path) }

// spellPath returns the text in the parameter from, followed by a path as spell writes it. If from
// is "", the leading point is left out. A name that is not a word is written in brackets and
// quotes.
func spellPath(from string, path []string) string {
	var b strings.Builder
	b.WriteString(from)
	for _, step := range path {
		switch {
		case isNumber(step):
			b.WriteString("[" + step + "]")
		case isWord(step):
			b.WriteString("." + step)
		default:
			b.WriteString("[" + display(step) + "]")
		}
	}
	return strings.TrimPrefix(b.String(), ".")
}

// isNumber reports whether a step of a path is the index of an element. No array has more elements
// than nine digits can count.
func isNumber(s string) bool {
	return s != "" && len(s) < 10 && strings.Trim(s, "0123456789") == ""
}

// isWord reports whether a name can be written after a point without quotes.
func isWord(s string) bool {
	return s != "" && strings.Trim(s,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-$") == ""
}
