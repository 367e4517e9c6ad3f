package toolnorm

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

// said is a message in the first column of a table.
var said = regexp.MustCompile("(?m)^\\| (?:header )?(`[^|]+`(?:[,;] `[^|]+`)*) \\|")

// TestTroubleshootingQuotesTheProgram looks up the messages of the page in the strings of the
// program. What is behind "…" differs, and is not looked for.
func TestTroubleshootingQuotesTheProgram(t *testing.T) {
	const page = "docs/troubleshooting.md"
	src := must.Read(t, page)
	printed := literals(t)
	n := 0
	for _, m := range said.FindAllStringSubmatch(string(src), -1) {
		for part := range strings.SplitSeq(strings.ReplaceAll(m[1], "`", "…"), "…") {
			part = strings.Trim(part, " ,;:")
			if len(part) < 8 {
				continue
			}
			n++
			if !strings.Contains(printed, part) {
				t.Errorf("%s quotes %q, which no program prints", page, part)
			}
		}
	}
	if n < 25 {
		t.Errorf("%d messages", n)
	}
}

// literals are the strings of all programs, one below the other.
func literals(t *testing.T) string {
	t.Helper()
	_, all := readPackages(t)
	var b strings.Builder
	for _, p := range all {
		for _, f := range p.files {
			ast.Inspect(f, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
					text, err := strconv.Unquote(lit.Value)
					must.OK(t, err)
					b.WriteString(text + "\n")
				}
				return true
			})
		}
	}
	return b.String()
}
