package family

import (
	"bytes"
	"fmt"
	"strings"

	"toolnorm/adapters"
	"toolnorm/internal/golden"
)

// The lines between which a document holds the table.
const (
	tableBegins = "<!-- the families, written by: go generate ./adapters -->\n"
	tableEnds   = "<!-- the end of the families -->\n"
)

// Table returns a Markdown table of families: what they are, models, marks, and how many cases each
// has. An error means that a family's cases cannot be read. A test holds docs/families.md to what
// this writes, so a family cannot be added without its row. It is a table for readers, so marks are
// shown letter by letter, and the sum stands below.
func Table(formats []*adapters.Format) (string, error) {
	var b strings.Builder
	all := 0
	b.WriteString("| family | what it is | models | marks of calls | reasoning | cases |\n|---|---|---|---|---|---|\n")
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
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %d |\n", f.Name, about(f), quoted(f.Models), quoted(f.Marks()), quoted(f.Thinks()), n)
	}
	fmt.Fprintf(&b, "\n%d families, %d cases.\n", len(formats), all)
	return b.String(), nil
}

// about returns the first sentence above a declaration.
// A bar would end the cell of a Markdown table.
func about(f *adapters.Format) string {
	line, _, _ := strings.Cut(f.Declaration(), "\n")
	text, comment := strings.CutPrefix(line, "#")
	if !comment {
		return ""
	}
	sentence, _, _ := strings.Cut(strings.TrimSpace(text), ". ")
	return strings.ReplaceAll(strings.TrimSuffix(sentence, "."), "|", `\|`)
}

// quoted returns words as Markdown shows them in a table, letter by letter. A word that holds
// backquotes, a fence, is put between more of them than it has.
func quoted(words []string) string {
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

// Fill puts a table into a document, in the place of the one that it has. It answers false when the
// document has none. The comments around it stay, so it can be written again. The lines around the
// table are comments of HTML, which nobody sees who reads the page.
func Fill(doc []byte, table string) ([]byte, bool) {
	head, rest, begins := bytes.Cut(doc, []byte(tableBegins))
	_, tail, ends := bytes.Cut(rest, []byte(tableEnds))
	if !begins || !ends {
		return nil, false
	}
	return fmt.Appendf(nil, "%s%s\n%s\n%s%s", head, tableBegins, table, tableEnds, tail), true
}
