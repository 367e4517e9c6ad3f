package command

import (
	"strings"

	"toolnorm/cmd/toolnorm/internal/connect"
)

// shownDiff returns a change of a file as a diff of lines. Unchanged lines are left out, except for
// the line before a change. If nothing differs, it returns a line that says so.
func shownDiff(c connect.Change) string {
	before, after := strings.SplitAfter(string(c.Before), "\n"),
		strings.SplitAfter(string(c.After), "\n")
	// longest[i][k] is how many lines before[i:] and after[k:] have in common; settings are short
	longest := make([][]int, len(before)+1)
	for i := range longest {
		longest[i] = make([]int, len(after)+1)
	}
	for i := len(before) - 1; i >= 0; i-- {
		for k := len(after) - 1; k >= 0; k-- {
			longest[i][k] = max(longest[i+1][k], longest[i][k+1])
			if before[i] == after[k] {
				longest[i][k] = longest[i+1][k+1] + 1
			}
		}
	}
	var b strings.Builder
	line := func(sign, text string) {
		if text = strings.TrimRight(text, "\r\n"); text != "" {
			b.WriteString("  " + sign + " " + printable(text) + "\n")
		}
	}
	last := ""
	for i, k := 0, 0; i < len(before) || k < len(after); {
		switch {
		case i < len(before) && k < len(after) && before[i] == after[k]:
			last = before[i]
			i++
			k++
			continue
		case k == len(after) || i < len(before) && longest[i+1][k] >= longest[i][k+1]:
			line(" ", last)
			line("-", before[i])
			i++
		default:
			line(" ", last)
			line("+", after[k])
			k++
		}
		last = ""
	}
	if b.Len() == 0 {
		return "  nothing to change\n"
	}
	return b.String()
}
