package sqlsafe

import (
	"regexp"
	"strings"
)

// The Markdown fences that models write around a statement.
var (
	fenceOpens = regexp.MustCompile("^\\s*(?:`{3,}|~{3,})[ \\t]*" +
		"(?:(?i:sql|postgres|postgresql|pgsql|plpgsql|psql|sqlite|sqlite3)\\b)?")
	fenceCloses = regexp.MustCompile("(?:`{3,}|~{3,})\\s*$")
)

// blankFence returns a statement in which a Markdown fence around it is replaced with blanks, so
// that all offsets stay the same. No statement can begin with a fence, so nothing else is affected.
func blankFence(sql string) string {
	opens := fenceOpens.FindStringIndex(sql)
	if opens == nil {
		return sql
	}
	closes := []int{len(sql), len(sql)}
	if at := fenceCloses.FindStringIndex(sql[opens[1]:]); at != nil {
		closes = []int{opens[1] + at[0], opens[1] + at[1]}
	}
	blank := func(s string) string {
		return strings.Map(func(c rune) rune {
			if c == '\n' || c == '\r' {
				return c
			}
			return ' '
		}, s)
	}
	return blank(sql[:opens[1]]) + sql[opens[1]:closes[0]] + blank(sql[closes[0]:])
}
