package xml

import (
	"strings"
	"testing"
	"time"

	"toolnorm/chat"
)

// TestReadingIsBounded gives the reader texts that would take long if it looked at anything again
// and again.
func TestReadingIsBounded(t *testing.T) {
	void := func(s string) string { return "Available tools:\n" + s + "\nTool calling details:\n" }
	cline := func(s string) string { return "# Tools\n" + s + "\n# Tool Use\n" }
	const n = 200_000
	for name, text := range map[string]string{
		"entries without marks":   void(strings.Repeat("1. a\n", n)),
		"entries without ends":    void(strings.Repeat("1. a\n<a>\n", n/2)),
		"marks in an entry":       void("1. a\n<a>" + strings.Repeat("<b>", n) + "</a>"),
		"brackets in an entry":    void("1. a\n<a>" + strings.Repeat("<", n) + "\n</a>"),
		"a list that is too long": void(strings.Repeat("x\n", largestList)),
		"sections":                cline(strings.Repeat("## a\n<a>\n", n/2)),
		"marks in a section":      cline("## a\n<a>" + strings.Repeat("<b></b>", n/2) + "</a>"),
		"bullets":                 cline("## a\nParameters:\n" + strings.Repeat("- b: c\n", n/2) + "<a></a>"),
	} {
		start := time.Now()
		p, _ := Read([]chat.Message{{Role: chat.System, Content: text}})
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("%s: %v", name, took)
		}
		if p != nil && len(p.Tools) > n {
			t.Errorf("%s: %d tools", name, len(p.Tools))
		}
	}
	p := prompt(t, "void")
	reply := "<ls_dir>\n<uri>" + strings.Repeat("</uri>", n) + "x</ls_dir>"
	start := time.Now()
	p.history([]chat.Message{said(reply), user(strings.Repeat("<ls_dir_result>\n", n))})
	if took := time.Since(start); took > 3*time.Second {
		t.Errorf("a history: %v", took)
	}
}
