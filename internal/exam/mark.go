package exam

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"toolnorm/chat"
)

// Score counts how a model answered questions. Tools and arguments are counted separately, because
// a wrong tool is the model's choice, while arguments may be lost on the way.
type Score struct {
	Calls     int `json:"calls"`           // questions that want calls
	Tools     int `json:"right_tools"`     // of these, the ones with exactly the right tools called
	Arguments int `json:"right_arguments"` // of these, the ones that also have the right arguments
	Plain     int `json:"plain"`           // questions that want no call
	False     int `json:"false_calls"`     // of these, the ones that were answered by a call
}

// Add counts the result of one question: the calls that a model made in answer to q. Right
// arguments count only if the right tools were called.
func (s *Score) Add(q Question, calls []chat.Call) {
	if len(q.Want) == 0 {
		s.Plain++
		if len(calls) > 0 {
			s.False++
		}
		return
	}
	s.Calls++
	tools, arguments := q.Mark(calls)
	if tools {
		s.Tools++
	}
	if tools && arguments {
		s.Arguments++
	}
}

// Mark reports whether the calls are exactly the expected ones, in any order, and whether their
// arguments are right as well. If tools is false, arguments has no meaning. Two calls of one tool
// are matched by their arguments, so that their order does not matter. One call too many is as
// wrong as one too few.
func (q Question) Mark(calls []chat.Call) (tools, arguments bool) {
	left := slices.Clone(q.Want)
	arguments = true
	for _, c := range calls {
		best := -1
		for i, w := range left {
			if w.Name == c.Name && (best < 0 || w.fits(c.Args)) {
				best = i
			}
		}
		if best < 0 {
			return false, false
		}
		arguments = arguments && left[best].fits(c.Args)
		left = slices.Delete(left, best, best+1)
	}
	return len(left) == 0, arguments
}

// fits reports whether arguments are exactly the expected ones. The string "5" instead of the
// number 5 is wrong, because a strict client would refuse it.
func (w Want) fits(args json.RawMessage) bool {
	var got map[string]json.RawMessage
	if json.Unmarshal(args, &got) != nil {
		return false
	}
	for key, want := range w.Args {
		name, optional := strings.CutSuffix(key, "?")
		value, has := got[name]
		if has && !same(want, value) || !has && !optional {
			return false
		}
		delete(got, name)
	}
	return len(got) == 0
}

// same reports whether got, a value that a model wrote, matches want, an expected value. If want is
// a string, case and white space at both ends do not matter; if it begins with ~, it is a regular
// expression. Other values must be equal.
func same(want, got json.RawMessage) bool {
	w, g := decode(want), decode(got)
	pattern, ok := w.(string)
	if !ok {
		return reflect.DeepEqual(w, g)
	}
	text, ok := g.(string)
	if !ok {
		return false
	}
	if re, ok := strings.CutPrefix(pattern, "~"); ok {
		found, err := regexp.MatchString("(?i)"+re, strings.TrimSpace(text))
		return err == nil && found
	}
	return strings.EqualFold(strings.TrimSpace(text), pattern)
}

// decode returns the decoded value, or nil if raw is not JSON. Numbers keep all their digits,
// because a large id would lose some as a float64. The strings of a list are in lower case and
// without white space at both ends.
func decode(raw json.RawMessage) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	if list, ok := v.([]any); ok {
		for i, item := range list {
			if s, ok := item.(string); ok {
				list[i] = strings.ToLower(strings.TrimSpace(s))
			}
		}
	}
	return v
}
