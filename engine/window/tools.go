package window

import (
	"fmt"
	"slices"
	"strings"

	"toolnorm/chat"
	"toolnorm/chat/schema"
	"toolnorm/internal/clip"
)

// Fitted holds tools that were shortened to fit a budget.
type Fitted struct {
	Tools   []chat.Tool
	Cut     []string // what was done, in words, in the order in which it was done; empty: nothing
	Dropped []string // names of the tools that were left out
}

// cuts lists how far the texts of tools are cut, the mildest first: the descriptions of the tools,
// then those of their parameters. 1,000 bytes hold the first paragraphs of Claude Code's
// descriptions, which are 2 KB on average and say the essential there; 160 hold a sentence or two,
// 60 a few words. A model calls a tool by its name and the names of its parameters: these stay.
var cuts = []struct{ description, parameter int }{ // bytes
	{1000, whole},
	{400, whole},
	{160, whole},
	{160, 120},
	{160, 0},
	{60, 0},
}

// whole says that the descriptions of parameters stay.
const whole = -1

// FitTools shortens tools to fit a budget, in bytes: by shorter descriptions, then by shorter
// descriptions of parameters, and last by leaving out tools from the end of the list, where agents
// put those of their MCP servers. Tools for which kept returns true stay whatever they cost: they
// were called before, or must be. The same tools and budget always give the same, so the beginning
// of the prompt is the same in every turn.
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

// drop leaves out tools from the end until the rest fits, or only those that must stay are left.
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

// toolsBytes returns how much text tools are to a model, in bytes.
func toolsBytes(tools []chat.Tool) (n int) {
	for _, t := range tools {
		n += ToolBytes(t)
	}
	return n
}

// shorten returns a text cut to at most the given bytes, cut after a sentence or a line where one
// ends in its second half, else after a word. A text that is cut ends in "…", so that a model does
// not take half a rule for the whole.
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

// plainer returns a schema whose descriptions have at most the given bytes; with 0 it has no
// descriptions, nor other keywords for people.
func plainer(text []byte, most int) []byte {
	if most == 0 {
		return schema.Retold(text, nil)
	}
	return schema.Retold(text, func(description string) string {
		return shorten(description, most)
	})
}
