package sqlsafe

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

// checker is one for all tests: its parser takes seconds to compile.
var checker Postgres

func TestHostileStatementsAreRefused(t *testing.T) {
	for _, c := range corpus(t, "postgres_hostile.txt") {
		err := checker.Check(t.Context(), c.sql)
		var refused *Refusal
		switch {
		case byDatabase(c.says):
			if err != nil {
				t.Errorf("%.100q is the database's to stop, and the check says: %v", c.sql, err)
			}
		case !errors.As(err, &refused):
			t.Errorf("%.100q: %v, want a refusal", c.sql, err)
		case !strings.Contains(err.Error(), c.says):
			t.Errorf("%.100q: %v, want %q in it", c.sql, err, c.says)
		}
	}
}

func TestLegitimateStatementsPass(t *testing.T) {
	for _, c := range corpus(t, "postgres_legitimate.txt") {
		if err := checker.Check(t.Context(), c.sql); err != nil {
			t.Errorf("%q: %v", c.sql, err)
		}
	}
}

func TestARefusalSaysWhere(t *testing.T) {
	for sql, want := range map[string]string{
		"SELECT a,\n  'é', pg_sleep(1)":      "pg_sleep is not among the functions that may be called (line 2, column 8)",
		"SELECT * FROM users FOR UPDATE":     "a SELECT may not have FOR UPDATE or FOR SHARE, which lock rows (line 1, column 1)",
		"SELECT 'ééé' FROM":                  "syntax error at end of input (line 1, column 18)",
		"SELECT 1\nFROM x; DROP TABLE x":     "only one statement is allowed; a second begins here (line 2, column 9)",
		"SELECT 'é' || repeat('x', 1000000)": "repeat needs a length of at most 10000 (line 1, column 15)",
	} {
		if err := checker.Check(t.Context(), sql); err == nil || err.Error() != want {
			t.Errorf("%q:\n got %v\nwant %s", sql, err, want)
		}
	}
}

// deep are statements of n levels.
func deep(n int) map[string]string {
	r := strings.Repeat
	return map[string]string{
		"operators": "select " + r("1+", n) + "1", "not": "select " + r("not ", n) + "true", "casts": "select 1" + r("::int", n),
		"subqueries": "select " + r("(select ", n) + "1" + r(")", n), "from": r("select * from (", n) + "select 1" + r(") x", n),
		"calls": "select " + r("abs(", n) + "1" + r(")", n), "cases": "select " + r("case when 1=1 then ", n) + "1" + r(" end", n),
		"arrays": "select " + r("array[", n) + "1" + r("]", n), "unions": "select 1" + r(" union select 1", n),
		"between": "select 1" + r(" is null between 1 and 2", n), "fields": "select 1" + r(" + t.and", n), "ends": r("select 1 as end, (", n) + "select 1" + r(")", n),
		"cases of names": "select " + r("(select 1 case, ", n) + "1" + r(")", n), "joins": "select 1 from users" + r(" join users using (user_id)", n), "collations": "select 'a'" + r(` collate "C"`, n),
	}
}

func TestDeepStatementsAreRefusedAndTheParserGoesOn(t *testing.T) {
	for _, n := range []int{70, 380, 1000, 6000} {
		for name, sql := range deep(n) {
			err := checker.Check(t.Context(), sql)
			if n > 1000 && (err == nil || !strings.Contains(err.Error(), "too deeply") && !strings.Contains(err.Error(), "more than")) {
				t.Errorf("%d %s: %v", n, name, err)
			}
			var refused *Refusal
			if err != nil && !errors.As(err, &refused) {
				t.Fatalf("%d %s: %v", n, name, err)
			}
		}
	}
	wide := "select 1 where 1 in (1" + strings.Repeat(", 1", 5000) + ") and " + strings.Repeat("(1 = 2 or true) and ", 1000) + "true"
	if err := checker.Check(t.Context(), wide); err != nil {
		t.Errorf("a wide statement: %v", err)
	}
}

// FuzzPostgres looks for a panic, a hang, and hostile words that pass where the grammar would have
// to know them.
func FuzzPostgres(f *testing.F) {
	for _, name := range []string{"postgres_hostile.txt", "postgres_legitimate.txt"} {
		for _, c := range corpus(f, name) {
			f.Add(c.sql)
		}
	}
	if err := checker.Check(context.Background(), "SELECT 1"); err != nil { // compiles the parser, which takes longer than one try may
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		err := checker.Check(context.Background(), sql)
		var refused *Refusal
		if err != nil && !errors.As(err, &refused) {
			t.Fatalf("%q: %v", sql, err)
		}
		if err != nil {
			_ = err.Error()
			return
		}
		// What passed is complete, so that what stands behind it counts, whatever it is.
		for _, behind := range []string{"\n, pg_sleep(1)", "\n; DROP TABLE users", "\nFOR UPDATE"} {
			if checker.Check(context.Background(), sql+behind) == nil {
				t.Errorf("%q passes", sql+behind)
			}
		}
	})
}

// TestMutationsOfHostileStatementsAreRefused changes what white space, remarks and case may change:
// the refusal must stay.
func TestMutationsOfHostileStatementsAreRefused(t *testing.T) {
	for _, c := range corpus(t, "postgres_hostile.txt") {
		if byDatabase(c.says) || c.says == "unterminated" || readable(c.sql) != nil {
			continue
		}
		words := PostgreSQL.tokens(c.sql)
		for between, mutate := range map[string]func(string) string{"\n": upperWords, " /* x */ ": strings.ToLower, " -- y\n\t": strings.Clone} {
			var b strings.Builder
			for i, w := range words {
				if i > 0 && words[i-1].at+len(words[i-1].text) < w.at {
					b.WriteString(between)
				}
				b.WriteString(mutate(w.text))
			}
			if err := checker.Check(t.Context(), b.String()); err == nil {
				t.Errorf("%q passes", b.String())
			}
		}
	}
}

// upperWords is a word in capitals, unless it is quoted.
func upperWords(s string) string {
	if strings.ContainsAny(s, `'"$`) {
		return s
	}
	return strings.ToUpper(s)
}

// TestNothingThatTheGuardPassesBreaksTheParser writes statements of all that makes a level, with
// the names that look like the end of one, as deep as the guard allows.
func TestNothingThatTheGuardPassesBreaksTheParser(t *testing.T) {
	for _, seed := range []uint64{31, 77} {
		r := rand.New(rand.NewPCG(seed, 1))
		passed := 0
		for range 400 {
			sql := "select " + deepExpression(r, 20+r.IntN(400))
			err := checker.Check(t.Context(), sql)
			if errors.Is(err, errParser) {
				t.Fatalf("seed %d: %.200q… (%d bytes): %v", seed, sql, len(sql), err)
			}
			if err == nil || !strings.Contains(err.Error(), "too deeply") {
				passed++
			}
		}
		if passed < 40 {
			t.Errorf("seed %d: the guard passed %d of 400, too few to say anything", seed, passed)
		}
	}
}

// TestABrokenParserIsReplaced gives the parser what the guard refuses: the next statement must not
// notice.
func TestABrokenParserIsReplaced(t *testing.T) {
	_, err := parse(t.Context(), asked{SQL: "SELECT 1" + strings.Repeat(" + 1", 5000)})
	if !errors.Is(err, errParser) {
		t.Errorf("%.200v, want that the parser broke", err)
	}
	must.OK(t, checker.Check(t.Context(), "SELECT 1"))
}

// wraps make one level more of the expression ⋯; behind some the guard may think that there is
// none.
var wraps = []string{
	"(⋯)", "-⋯", "not ⋯", "⋯+1", "⋯::int", "abs(⋯)", "array[⋯]", "(array[⋯])[1]", "(select ⋯)", "(select 1 as end, ⋯)", "(select 1 end, ⋯)", "(select t.end, ⋯)",
	"case when ⋯ then 1 end", "case when t.end=⋯ then 2 else 3 end", "case when 1=1 then ⋯ end", "case ⋯ when 1 then 2 end", "⋯ between 1 and 2", "⋯ is null between 1 and 2",
	"(⋯ and t.and)", "(select 1 case, ⋯)", "(select t.case, ⋯)", "⋯ collate \"C\"", "⋯ at time zone 'UTC'", "exists (select ⋯)", "⋯ in (1, 2)", "(with w as (select 1 union, ⋯) select 1)",
	"(select ⋯ union select 1)", "(select 1 from (select ⋯) between)", "coalesce(⋯, 1)", "row(⋯, 1)", "⋯ is distinct from 1", "(select ⋯ from a join b on true)", "(1, ⋯)", "t.union + ⋯", "⋯ or true",
	"(select 1 from a, lateral (select ⋯) l)", "1 = any (array[⋯])", "cast(⋯ as int)", "extract(year from ⋯)", "⋯ like 'a' escape 'b'", "⋯ operator(pg_catalog.+) 1",
}

// deepExpression wraps an expression so many times, sometimes in the same way for long.
func deepExpression(r *rand.Rand, n int) string {
	x, same := "1", r.IntN(3) > 0
	wrap := wraps[r.IntN(len(wraps))]
	for range n {
		if !same || r.IntN(50) == 0 {
			wrap = wraps[r.IntN(len(wraps))]
		}
		if next := strings.Replace(wrap, "⋯", x, 1); len(next) < 60_000 {
			x = next
		}
	}
	return x
}
