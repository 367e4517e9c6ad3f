package family

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// errForm says that no declaration says what was seen.
var errForm = errors.New("the template writes calls in a form that a declaration cannot say")

// declaration proposes the lines of a family. One that prints what a known family prints is like that one.
func (w *writing) declaration(model, known string) (string, error) {
	name, _, _ := strings.Cut(path.Base(strings.ToLower(model)), ":")
	var b strings.Builder
	fmt.Fprintf(&b, "# Proposed from the template of %s; to be compared with what the model really writes.\n", model)
	if w.result != "" {
		fmt.Fprintf(&b, "# A result, up to the next turn: %s\n", printable(w.result))
	}
	fmt.Fprintf(&b, "format  %s\nmodels  %s*\n", name, name)
	if known != "" {
		fmt.Fprintf(&b, "like    %s\n", known)
		return b.String(), nil
	}
	if before, after, ok := strings.Cut(w.think, probeThink); ok {
		fmt.Fprintf(&b, "think   %s{reasoning}%s\n", example(before), example(after))
	}
	lines, err := w.callLines()
	if err != nil {
		return "", err
	}
	b.WriteString(lines)
	if w.turn != "" && !strings.Contains(w.one, w.turn) {
		fmt.Fprintf(&b, "drop    %s\n", w.turn)
	}
	return b.String(), nil
}

// callLines are the lines section, call, arg, keys and quote.
func (w *writing) callLines() (string, error) {
	oneText, twoText := sameIDs(w.one), sameIDs(w.two)
	one, ok1 := bodyOf(oneText, 0, "quokka.txt", "wombat")
	first, ok2 := bodyOf(twoText, 0, "quokka.txt", "wombat")
	if !ok1 || !ok2 {
		return "", errForm
	}
	second, ok := bodyOf(twoText, first.end, "numbat.txt", "bilby")
	if !ok { // one list holds both
		return fmt.Sprintf("call    %s%s%s\n%s", example(oneText[:one.start]), first.hole, example(oneText[one.end:]), one.lines), nil
	}
	before, between, after := twoText[:first.start], twoText[first.end:second.start], twoText[second.end:]
	open := strings.TrimLeft(opener(before, between), "\n") // which are glue
	closer := shared(between[:len(between)-len(open)], after)
	head, tail := before[:len(before)-len(open)], after[len(closer):]
	glue := newlines(between[len(closer):])
	section := ""
	switch {
	case strings.TrimSpace(head+tail) == "":
		glue = max(newlines(head), glue) // the longer one
	case strings.TrimSpace(head) == "":
		return "", errForm
	case first.hole == "{call}" && open+closer == "" && one.lines == "": // objects, one after the other, between marks
		return fmt.Sprintf("call    %s{calls}%s\nkeys    list=bare\n", example(head), example(tail)), nil
	default:
		section = fmt.Sprintf("section %s{calls}%s\n", example(head), example(tail))
	}
	call := fmt.Sprintf("call    %s%s%s%s\n", example(glue), example(open), first.hole, example(closer))
	return section + call + unfenced(call) + one.lines, nil
}

// unfenced is the same line without a fence around the arguments, which models leave out; nothing when there is none.
func unfenced(call string) string {
	without := strings.NewReplacer("```json\\n{json}\\n```", "{json}\\n").Replace(call)
	if without == call {
		return ""
	}
	return without
}

// newlines are the newlines that a text begins with.
func newlines(s string) string { return s[:len(s)-len(strings.TrimLeft(s, "\n"))] }

// example writes a text as a declaration does.
func example(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "{", "{{"), "\n", `\n`)
	return strings.ReplaceAll(s, probes[0].ID, "{id}")
}

// sameIDs gives the second probe the id of the first, so that only their arguments differ.
func sameIDs(s string) string { return strings.ReplaceAll(s, probes[1].ID, probes[0].ID) }

// printable is a text on one line.
func printable(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, probeResult, "…"), "\n", `\n`)
}
