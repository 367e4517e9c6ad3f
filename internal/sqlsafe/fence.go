package sqlsafe

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// plain returns a statement with blanks in place of what people and models paste into one although
// no database reads it: a Markdown fence around the statement, and, outside of quotes, blanks that
// are not ASCII or invisible. Each character is replaced with a single one, so that the line and
// column of an error stay right.
func (k Kind) plain(sql string) string {
	sql = blankFence(sql)
	if !strings.ContainsFunc(sql, oddBlank) {
		return sql
	}
	var b strings.Builder
	for len(sql) > 0 {
		if c, n := utf8.DecodeRuneInString(sql); oddBlank(c) {
			b.WriteByte(' ')
			sql = sql[n:]
			continue
		}
		n, _ := k.next(sql)
		if wordByte(sql[0]) && !strings.ContainsRune(sql[:n], '\'') { // not E'a text'
			if odd := strings.IndexFunc(sql[:n], oddBlank); odd > 0 {
				n = odd
			}
		}
		b.WriteString(sql[:n])
		sql = sql[n:]
	}
	return b.String()
}

// oddBlank reports whether c is a blank beyond ASCII, such as the one that web pages and word
// processors put between words, or a byte order mark.
func oddBlank(c rune) bool {
	return c > 0x7f && unicode.IsSpace(c) || c == '\ufeff'
}

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
