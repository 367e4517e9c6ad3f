package family

import (
	"bytes"
	"fmt"
	"strings"

	"toolnorm/adapters"
	"toolnorm/internal/golden"
)

// The lines before and after the table in a document.
const (
	tableBegins = "<!-- the families, written by: go generate ./adapters -->\n"
	tableEnds   = "<!-- the end of the families -->\n"
)

// Table returns a Markdown table of families with their descriptions, models, tags and numbers of
// cases, and the sum below it. It fails if a family's cases cannot be read. A test compares
// docs/families.md with the result, so that no family can be added without its row.
func Table(formats []*adapters.Format) (string, error) {
	var b strings.Builder
	all := 0
	b.WriteString(
		"| family | what it is | models | marks of calls | reasoning | cases |\n|---|---|---|---|---|---|\n")
	for _, f := range formats {
		cases, err := golden.Cases([]byte(f.File()))
		if err != nil {
			return "", fmt.Errorf("%s: %w", f.Name, err)
		}
		prints, err := golden.Prints([]byte(f.File()))
		if err != nil {
			return "", fmt.Errorf("%s: %w", f.Name, err)
		}
		n := len(cases) + len(prints)
		all += n
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %d |\n", f.Name, about(f), quoteWords(f.Models),
			quoteWords(f.Marks()), quoteWords(f.Thinks()), n)
	}
	fmt.Fprintf(&b, "\n%d families, %d cases.\n", len(formats), all)
	return b.String(), nil
}

// about returns the first sentence of the comment above a declaration, or "" if there is no
// comment. A bar is escaped, because it would end the cell of a Markdown table.
func about(f *adapters.Format) string {
	line, _, _ := strings.Cut(f.Declaration(), "\n")
	text, comment := strings.CutPrefix(line, "#")
	if !comment {
		return ""
	}
	sentence, _, _ := strings.Cut(strings.TrimSpace(text), ". ")
	return strings.ReplaceAll(strings.TrimSuffix(sentence, "."), "|", `\|`)
}

// quoteWords returns words as Markdown that shows them literally in a table. A word that contains
// backquotes, such as a fence, is put between more backquotes than it has.
func quoteWords(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		w = strings.ReplaceAll(w, "|", `\|`)
		if strings.Contains(w, "`") {
			out[i] = "```` " + w + " ````"
		} else {
			out[i] = "`" + w + "`"
		}
	}
	return strings.Join(out, " ")
}

// Fill returns the document with its table replaced. It returns false if the document has no table.
// The lines around the table, which are invisible HTML comments, stay, so that the table can be
// replaced again.
func Fill(doc []byte, table string) ([]byte, bool) {
	head, rest, begins := bytes.Cut(doc, []byte(tableBegins))
	_, tail, ends := bytes.Cut(rest, []byte(tableEnds))
	if !begins || !ends {
		return nil, false
	}
	return fmt.Appendf(nil, "%s%s\n%s\n%s%s", head, tableBegins, table, tableEnds, tail), true
}
