package sqlsafe

import (
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

// statement is a case of a corpus.
type statement struct{ says, sql string }

// corpus reads a file of statements; testdata/README.md says how they are written.
func corpus(t testing.TB, name string) (all []statement) {
	t.Helper()
	text := must.Read(t, "testdata/"+name)
	hostile := strings.HasSuffix(name, "_hostile.txt")
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		line = strings.NewReplacer("⏎", "\n", "␀", "\x00", "�", "\xff").Replace(line)
		says, sql, ok := strings.Cut(line, " | ")
		if !ok || !hostile && !strings.HasSuffix(says, "+") {
			says, sql = "", line
		}
		if hostile && says == "" {
			t.Fatalf("%s: nothing says what comes of %q", name, line)
		}
		all = append(all, statement{says, sql})
	}
	if len(all) < 100 {
		t.Fatalf("%s has %d statements, want at least 100", name, len(all))
	}
	return all
}

// byDatabase are what a hostile statement says when the check lets it pass, and the database has to
// stop it.
func byDatabase(says string) bool {
	return says == "bounded" || says == "permission denied" || says == "collect about"
}
