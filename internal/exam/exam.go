// Package exam has questions with the calls that answer them, and grades the calls of a model. The
// doctor and the benchmarks use it.
//
// Grading is strict on names and types, since programs read the calls, and lenient on words, since
// there is more than one good way to fill in a city.
package exam

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// Question is a question to a model, with the calls that answer it. If Want is empty, the right
// answer is plain text. Both kinds are needed, because a model that always calls would look perfect
// if only calls were counted.
type Question struct {
	Text string
	Want []Want
}

// Want is an expected call.
type Want struct {
	Name string
	Args map[string]json.RawMessage // patterns for the values; see Parse
}

// Parse reads questions from a text. A question is one or more lines, followed by lines "=> NAME
// {ARGUMENTS}" for the expected calls, or by "=> none" if a call would be wrong. Lines that begin
// with # are comments. It fails, and names the line, if a question has no expectation, an
// expectation has no question, or the arguments or a pattern are invalid. Every question needs an
// expectation, because with a forgotten line every call would count as wrong.
//
// In arguments, a key that ends in ? is optional. A string that begins with ~ is a regular
// expression that must match a part of the value, without regard to case. Other strings are
// compared without regard to case and to white space at both ends.
func Parse(text string) ([]Question, error) {
	var all []Question
	var q Question
	for i, line := range append(strings.Split(text, "\n"), "") {
		expectation, isWant := strings.CutPrefix(line, "=> ")
		switch {
		case strings.HasPrefix(line, "#"):
		case line == "" && q.Text != "":
			return nil, fmt.Errorf("line %d: %q has no expectation", i+1, q.Text)
		case line == "":
		case !isWant:
			q.Text = strings.TrimPrefix(q.Text+"\n"+line, "\n")
		default:
			if q.Text != "" {
				all = append(all, q)
				q = Question{}
			}
			if err := expect(all, expectation); err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
		}
	}
	return all, nil
}

// expect adds the expectation in line to the last question. It fails if there is no question, or if
// the arguments or a pattern cannot be read. Patterns are compiled here, so that a mistake is found
// before a model works for minutes.
func expect(all []Question, line string) error {
	if len(all) == 0 {
		return fmt.Errorf("an expectation before the first question")
	}
	if line == "none" {
		return nil
	}
	name, args, _ := strings.Cut(line, " ")
	w := Want{Name: name}
	if err := json.Unmarshal([]byte(args), &w.Args); err != nil {
		return fmt.Errorf("the arguments of %s: %w", name, err)
	}
	for key, value := range w.Args {
		pattern, _ := decode(value).(string)
		if _, err := regexp.Compile(pattern); err != nil && strings.HasPrefix(pattern, "~") {
			return fmt.Errorf("the pattern of %s: %w", key, err)
		}
	}
	last := &all[len(all)-1]
	last.Want = append(last.Want, w)
	return nil
}
