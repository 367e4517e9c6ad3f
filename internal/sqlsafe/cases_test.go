package sqlsafe

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"toolnorm/internal/test/must"
)

// statement is a case of a corpus.
type statement struct{ says, sql string }

// asking is what runs statements of either database.
type asking func(ctx context.Context, query string, values ...sql.NamedArg) (*Table, error)

// runs runs a legitimate statement, and reports an error unless it gives rows of its columns.
func (c *statement) runs(t *testing.T, query asking) {
	t.Helper()
	table, err := query(t.Context(), c.sql)
	if err != nil {
		t.Errorf("%q: %v", c.sql, err)
		return
	}
	for _, record := range table.Records {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(record, &members); err != nil || len(members) != len(table.Columns) {
			t.Errorf("%q: %s is no row of %q: %v", c.sql, record, table.Columns, err)
		}
	}
}

// stopped runs a hostile statement, and reports an error if it is not refused as its case says, or
// takes longer than most.
func (c *statement) stopped(t *testing.T, query asking, most time.Duration) {
	t.Helper()
	start := time.Now()
	table, err := query(t.Context(), c.sql)
	switch {
	case c.says == "bounded" && err == nil && !table.Truncated && len(table.Records) != 1:
		t.Errorf("%.100q: %d rows, not cut", c.sql, len(table.Records))
	case c.says != "bounded" && (err == nil || !strings.Contains(err.Error(), c.says)):
		t.Errorf("%.100q: %v, want %q", c.sql, err, c.says)
	case time.Since(start) > most:
		t.Errorf("%.100q took %v", c.sql, time.Since(start))
	}
}

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
