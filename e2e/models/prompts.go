// Package models measures how well real small models call tools: prompts with the calls that are right, a streaming
// client, the score, and the report. The lane beside it starts the servers; make e2e-models runs the whole.
package models

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Prompt is a question with the calls that answer it; no calls: it wants plain text.
type Prompt struct {
	Text string
	Want []Want
}

// Want is a call that is right. Args holds patterns, as the head of prompts.txt explains them.
type Want struct {
	Name string
	Args map[string]json.RawMessage
}

// ParsePrompts reads prompts.txt: paragraphs of a question's lines, then "=> NAME {ARGUMENTS}" lines, or "=> none".
func ParsePrompts(text string) ([]Prompt, error) {
	var all []Prompt
	var p Prompt
	for i, line := range append(strings.Split(text, "\n"), "") {
		expectation, isWant := strings.CutPrefix(line, "=> ")
		switch {
		case strings.HasPrefix(line, "#"):
		case line == "" && p.Text != "":
			return nil, fmt.Errorf("line %d: %q has no expectation", i+1, p.Text)
		case line == "":
		case !isWant:
			p.Text = strings.TrimPrefix(p.Text+"\n"+line, "\n")
		default:
			if p.Text != "" {
				all = append(all, p)
				p = Prompt{}
			}
			if err := expect(all, expectation); err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
		}
	}
	return all, nil
}

// expect adds an expectation to the last prompt.
func expect(all []Prompt, line string) error {
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
	last := &all[len(all)-1]
	last.Want = append(last.Want, w)
	return nil
}
