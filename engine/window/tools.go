package window

import (
	"fmt"
	"slices"
	"strings"

	"toolnorm/chat"
	"toolnorm/chat/schema"
	"toolnorm/internal/clip"
)

// Fitted is the result of shortening tools to fit a budget.
type Fitted struct {
	Tools   []chat.Tool
	Cut     []string // sentences about what was done, in order; empty: nothing
	Dropped []string // names of the tools that were left out
}

// cuts lists the lengths in bytes to which the descriptions of tools and of their parameters are
// cut, the mildest cut first. 1,000 bytes are enough for the first paragraphs of Claude Code's
// descriptions, which have 2 KB on average and say the essential there. 160 bytes are enough for a
// sentence or two, and 60 for a few words. The names of tools and parameters stay, because a model
// calls a tool by these.
var cuts = []struct{ description, parameter int }{ // bytes
	{1000, whole},
	{400, whole},
	{160, whole},
	{160, 120},
	{160, 0},
	{60, 0},
}

// whole means that the descriptions of parameters are not cut.
const whole = -1

// FitTools shortens tools to fit a budget, in bytes. It shortens descriptions, then descriptions of
// parameters, and at last leaves out tools from the end of the list, where agents put those of
// their MCP servers. Tools for which kept returns true are never left out, because they were called
// before or are required. So the result may exceed the budget. The same tools and budget always
// give the same result, so the beginning of the prompt is the same in every turn.
func FitTools(tools []chat.Tool, budget int, kept func(name string) bool) Fitted {
	f := Fitted{Tools: tools}
	if toolsBytes(tools) <= budget {
		return f
	}
	for _, c := range cuts {
		f.Tools = make([]chat.Tool, len(tools))
		for i, t := range tools {
			t.Description = shorten(t.Description, c.description)
			if c.parameter != whole {
				t.Schema = plainer(t.Schema, c.parameter)
			}
			f.Tools[i] = t
		}
		f.Cut = []string{fmt.Sprintf("descriptions are cut to %d bytes", c.description)}
		switch {
		case c.parameter == 0:
			f.Cut = append(f.Cut, "parameters have no descriptions")
		case c.parameter > 0:
			f.Cut = append(f.Cut, fmt.Sprintf("those of parameters to %d", c.parameter))
		}
		if toolsBytes(f.Tools) <= budget {
			return f
		}
	}
	f.drop(budget, kept)
	return f
}

// drop leaves out tools from the end until the rest fits the budget, or only tools that must stay
// are left.
func (f *Fitted) drop(budget int, kept func(name string) bool) {
	size := toolsBytes(f.Tools)
	for i := len(f.Tools) - 1; i >= 0 && size > budget; i-- {
		if t := f.Tools[i]; !kept(t.Name) {
			size -= ToolBytes(t)
			f.Dropped = append(f.Dropped, t.Name)
			f.Tools = slices.Delete(f.Tools, i, i+1)
		}
	}
	slices.Reverse(f.Dropped)
	if len(f.Dropped) > 0 {
		f.Cut = append(f.Cut, "left out: "+strings.Join(f.Dropped, " "))
	}
}

// toolsBytes returns how many bytes of text all tools together amount to for a model.
func toolsBytes(tools []chat.Tool) (n int) {
	for _, t := range tools {
		n += ToolBytes(t)
	}
	return n
}

// shorten returns a text cut to at most the given number of bytes. It is cut after a sentence or a
// line if one ends in its second half, or else after a word. A text that is cut ends in "…", so
// that a model does not take half a rule for the whole.
func shorten(text string, most int) string {
	const dots = "…"
	if len(text) <= most {
		return text
	}
	most = max(most-len(dots), 0)
	head := clip.To(text, most)
	at := max(strings.LastIndex(head, ". ")+1, strings.LastIndexByte(head, '\n'))
	if at < most/2 {
		at = strings.LastIndexByte(head, ' ')
	}
	if at > 0 {
		head = head[:at]
	}
	return strings.TrimSpace(head) + dots
}

// plainer returns a schema whose descriptions have at most the given number of bytes each. If that
// is 0, the schema has no descriptions, and no other keywords for people either.
func plainer(text []byte, most int) []byte {
	if most == 0 {
		return schema.Retold(text, nil)
	}
	return schema.Retold(text, func(description string) string {
		return shorten(description, most)
	})
}
