package models

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// Score counts one row of the report.
type Score struct {
	Calls     int     // prompts that want calls
	Tools     int     // of them, those with just the right tools called
	Arguments int     // of them, those with the right arguments besides
	Plain     int     // prompts that want none
	False     int     // of them, those that drew a call
	Errors    int     // prompts that ended in an error
	Median    float64 // seconds a reply took
}

// ScoreOf compares answers with what was wanted, in the same order.
func ScoreOf(prompts []Prompt, answers []Answer) (s Score) {
	var seconds []float64
	for i, p := range prompts[:min(len(prompts), len(answers))] {
		a := answers[i]
		seconds = append(seconds, a.Seconds)
		if a.Error != "" {
			s.Errors++
		}
		if len(p.Want) == 0 {
			s.Plain++
			s.False += count(len(a.Calls) > 0)
			continue
		}
		s.Calls++
		tools, arguments := p.judge(a.Calls)
		s.Tools += count(tools)
		s.Arguments += count(tools && arguments)
	}
	slices.Sort(seconds)
	if len(seconds) > 0 {
		s.Median = seconds[len(seconds)/2]
	}
	return s
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// judge says whether the calls are those that are wanted, in any order, and whether their arguments are.
func (p Prompt) judge(calls []Call) (tools, arguments bool) {
	left := slices.Clone(p.Want)
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

// fits says whether arguments are those that are wanted, and no others.
func (w Want) fits(args string) bool {
	var got map[string]json.RawMessage
	if json.Unmarshal([]byte(args), &got) != nil {
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

// same compares a value with a pattern.
func same(want, got json.RawMessage) bool {
	w, g := decoded(want), decoded(got)
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

// decoded is a value with the digits of its numbers kept, and the strings of a list in lower case.
func decoded(raw json.RawMessage) any {
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
