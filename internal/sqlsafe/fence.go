package sqlsafe

import (
	"regexp"
	"strings"
)

// The marks of Markdown around a statement, as models write it.
var (
	fenceOpens = regexp.MustCompile("^\\s*(?:`{3,}|~{3,})[ \\t]*" +
		"(?:(?i:sql|postgres|postgresql|pgsql|plpgsql|psql|sqlite|sqlite3)\\b)?")
	fenceCloses = regexp.MustCompile("(?:`{3,}|~{3,})\\s*$")
)

// unfenced returns a statement without the fence of Markdown around it, which no statement can
// begin with. Blanks take its place, so that all else stays where it was.
func unfenced(sql string) string {
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
