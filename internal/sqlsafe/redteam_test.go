package sqlsafe

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolnorm/internal/test/must"

	"github.com/jackc/pgx/v5/pgconn"
)

// What the statements of a class of the red team may come to.
const (
	refused = "refused" // an error
	bounded = "bounded" // an error, or an answer within the limits
	silent  = "silent"  // either, as long as nothing is told
)

// attack is a statement of the red team.
type attack struct{ class, rule, sql string }

// redTeam reads a file of attacks; each has at least three hundred.
func redTeam(t *testing.T, name string) (all []attack) {
	t.Helper()
	text := must.Read(t, "testdata/"+name)
	class, rule, seen := "", "", map[string]bool{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if head, ok := strings.CutPrefix(line, "== "); ok {
			at := strings.LastIndex(head, ": ")
			class, rule = head[:at], head[at+2:]
			continue
		}
		if line == "" || line[0] == '#' {
			continue
		}
		if rule != refused && rule != bounded && rule != silent || seen[line] {
			t.Fatalf("%s: %q: rule %q, or it stands twice", name, line, rule)
		}
		seen[line] = true
		sql := strings.NewReplacer("⏎", "\n", "␀", "\x00", "�", "\xff").Replace(repeated(line))
		all = append(all, attack{class, rule, sql})
	}
	if len(all) < 300 {
		t.Fatalf("%s has %d statements, want 300", name, len(all))
	}
	return all
}

// within are the attacks of a seed: each in two disguises that the seed draws. Those that are to
// take time are left as they are. No server asks for the right to read a subquery whose rows nobody
// looks at, so a disguise may make an answer of what was refused, which is to tell nothing.
func within(all []attack, seed uint64) (out []attack) {
	r := rand.New(rand.NewPCG(seed, 36))
	for _, a := range all {
		if a.rule == bounded {
			continue
		}
		if a.class == "what this role may not see" || a.class == "what may not be read" {
			a.rule = silent
		}
		a.sql = disguised(disguised(a.sql, r), r)
		out = append(out, a)
	}
	return out
}

// got says in which way an attack came through; empty: it did not.
func (a *attack) got(table *Table, err error, took time.Duration) string {
	told := fmt.Sprint(err)
	var said *pgconn.PgError
	if errors.As(err, &said) {
		told += said.Detail + said.Hint + said.Where
	}
	size := 0
	if table != nil {
		size = len(recordsOf(table))
		told += recordsOf(table)
	}
	switch {
	case strings.Contains(strings.ToLower(told), "swordfish"), strings.Contains(told, "root:x:"):
		return "told what is secret"
	case took > 6*time.Second:
		return fmt.Sprintf("took %v", took)
	case size > 500_000:
		return fmt.Sprintf("gave %d bytes", size)
	case a.rule == refused && err == nil:
		return fmt.Sprintf("ran: %.200s", told)
	case a.rule == refused && entered(err):
		return fmt.Sprintf("entered: %v", err)
	}
	return ""
}

// recordsOf is what a table says.
func recordsOf(table *Table) (text string) {
	for _, r := range table.Records {
		text += string(r) + "\n"
	}
	return text
}

// attackAll runs attacks, reports those that came through, and returns the answers of the silent
// ones.
func attackAll(t *testing.T, name string, all []attack, ask asking) (answers []string) {
	t.Helper()
	classes, through := map[string]int{}, 0
	for _, a := range all {
		start := time.Now()
		table, err := ask(t.Context(), a.sql)
		classes[a.class]++
		if a.rule == silent {
			answers = append(answers, fmt.Sprint(a.sql, "\n", table, err))
		}
		if how := a.got(table, err, time.Since(start)); how != "" {
			through++
			t.Errorf("%s, %s: %.300q\n %s", name, a.class, a.sql, how)
		}
	}
	t.Logf("%s: %d of %d came through; %v", name, through, len(all), classes)
	return answers
}

// assault runs attacks as they are written and in the disguises of a seed, which is held out: the
// rules were written with another. Then the word that is secret is changed, and no answer may have
// changed with it.
func assault(t *testing.T, all []attack, ask asking, change func()) {
	t.Helper()
	for _, seed := range []uint64{0, 20261124} {
		name, these := "as written", all
		if seed != 0 {
			name, these = fmt.Sprintf("seed %d", seed), within(all, seed)
		}
		before := attackAll(t, name, these, ask)
		these = slices.DeleteFunc(slices.Clone(these), func(a attack) bool { return a.rule != silent })
		change()
		for i, after := range attackAll(t, name+" with another secret", these, ask) {
			if before[i] != after {
				t.Errorf("%.600s\n tells of the secret: %.600s", before[i], after)
			}
		}
	}
}

func TestRealPostgresStopsTheRedTeam(t *testing.T) {
	s := newServer(t)
	s.owned(t, "CREATE EXTENSION dblink; CREATE EXTENSION file_fdw; CREATE EXTENSION postgres_fdw; CREATE EXTENSION adminpack; CREATE EXTENSION tablefunc; "+
		"CREATE EXTENSION xml2; CREATE EXTENSION pageinspect; CREATE EXTENSION pgstattuple; CREATE EXTENSION pg_prewarm; CREATE EXTENSION lo; ")
	before := s.state(t)
	written, costly := parted(redTeam(t, "postgres_redteam.txt"))
	attackAll(t, "costly", costly, s.asker(t, 400*time.Millisecond))
	assault(t, written, s.asker(t, patience), func() {
		s.unchanged(t, before)
		must.Have(s.admin.Exec(t.Context(), "UPDATE secret SET word = 'swordfishes, ' || length(word)"))(t)
		before = s.state(t)
	})
}

// TestRealPostgresStopsTheRedTeamOfASuperuser runs what is to be refused as a role that may do all,
// so that nothing but the check stands before it. What only the reader's role keeps out is left
// out.
func TestRealPostgresStopsTheRedTeamOfASuperuser(t *testing.T) {
	s := newServer(t)
	s.owned(t, "CREATE EXTENSION dblink; CREATE EXTENSION adminpack; CREATE EXTENSION tablefunc; CREATE EXTENSION pageinspect; ")
	var all []attack
	for _, a := range redTeam(t, "postgres_redteam.txt") {
		if a.rule == refused && a.class != "what this role may not see" {
			all = append(all, a)
		}
	}
	db := s.open(t, func(c *PostgresConfig) {
		c.User, c.Password, c.Warn = "postgres", "", func(string) {}
	})
	before := s.state(t)
	attackAll(t, "superuser", all, db.Query)
	s.unchanged(t, before)
}

func TestSQLiteStopsTheRedTeam(t *testing.T) {
	path := newFile(t)
	db := openFile(t, path, nil)
	own := ownFile(t, path)
	defer own.Close()
	bytes := func() string { return string(must.Read(t, path)) }
	before := bytes()
	assault(t, redTeam(t, "sqlite_redteam.txt"), db.Query, func() {
		if bytes() != before {
			t.Error("the file has changed")
		}
		must.Have(own.Exec("UPDATE secret SET word = 'swordfishes, ' || length(word)"))(t)
		before = bytes()
	})
	for folder, want := range map[string]int{filepath.Dir(path): 1, ".": 0} {
		if made, err := filepath.Glob(filepath.Join(folder, "*.db")); err != nil || len(made) != want {
			t.Errorf("files: %q, %v", made, err)
		}
	}
}
