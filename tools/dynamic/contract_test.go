package dynamic

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolnorm/chat"
	"toolnorm/internal/test/must"
	"toolnorm/internal/test/storetest"

	"go.yaml.in/yaml/v3"
)

// judged runs one example of a tool, and gives what is wrong in a line; empty: it holds.
func judged(t *testing.T, s *Set, d Draft, one Example) string {
	t.Helper()
	d.Examples = []Example{one}
	all, p := s.Examine(t.Context(), d)
	if len(all) != 1 {
		return fmt.Sprint(p)
	}
	if all[0].OK {
		return ""
	}
	return all[0].Sentence()
}

func TestExamplesSayWhatDiffers(t *testing.T) {
	s := ownSet(t)
	shop := draft(typeSQL, "SELECT user_nm, uid FROM h_user WHERE dept = :dept ORDER BY uid", "dept STRING")
	list := draft(typePython, "[n * k for n in range(3)]", "k NUMBER")
	args := json.RawMessage(`{"k":2}`)
	for _, tt := range []struct {
		d    Draft
		e    Example
		want string
	}{
		{list, Example{Arguments: args}, ""},
		{list, Example{Arguments: args, Result: json.RawMessage(`[0.0, 2, 4e0]`)}, ""},
		{list, Example{Arguments: args, Result: json.RawMessage(`[0,2,5]`)}, "example 1: expected another result: result[2]: expected 5, got 4"},
		{list, Example{Arguments: args, Result: json.RawMessage(`[0,2]`)}, "result: expected 2 members, got 3"},
		{list, Example{Arguments: args, Result: json.RawMessage(`"0"`)}, `result: expected "0", got [0,2,4]`},
		{list, Example{Arguments: args, Rows: ">= 3"}, ""},
		{list, Example{Arguments: args, Rows: "2"}, "expected rows 2, got 3"},
		{list, Example{Arguments: args, Contains: "2"}, ""},
		{list, Example{Arguments: args, Contains: "7"}, `expected a result that contains "7", got [0,2,4]`},
		{list, Example{Arguments: json.RawMessage(`{"k":"x"}`), Error: "k"}, ""},
		{list, Example{Error: "k"}, ""},
		{list, Example{Arguments: args, Error: "k"}, "got a result"},
		{list, Example{Arguments: json.RawMessage(`{}`)}, "expected a result, got an error"},
		{shop, Example{Arguments: json.RawMessage(`{"dept":"none"}`), Rows: "0"}, ""},
		{shop, Example{Arguments: json.RawMessage(`{"dept":"none"}`), Rows: "> 0"}, "expected rows > 0, got 0"},
		{draft(typePython, "{'a': 1, 'b': None}"), Example{Result: json.RawMessage(`{"b":null,"a":1}`)}, ""},
		{draft(typePython, "{'a': 1, 'b': None}"), Example{Result: json.RawMessage(`{"a":1,"c":2}`)}, "result.b: got null, which was not expected; result.c: expected 2, and it is not there"},
		{draft(typePython, "None"), Example{Result: json.RawMessage(`null`)}, ""},
		{draft(typePython, "9007199254740993"), Example{Result: json.RawMessage(`9007199254740992`)}, "expected 9007199254740992, got 9007199254740993"},
		{draft(typePython, "1"), Example{Rows: "1"}, "is neither"},
		{list, Example{Rows: "some"}, "rows is a number"},
		{list, Example{Arguments: json.RawMessage(`[]`)}, "arguments is a JSON object"},
		{list, Example{Error: "x", Rows: "1"}, "has no result"},
	} {
		if got := judged(t, s, tt.d, tt.e); tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
			t.Errorf("%s with %+v: %q, want %q", tt.d.Definition, tt.e, got, tt.want)
		}
	}
}

func TestAToolWhoseExampleFailsIsNotSaved(t *testing.T) {
	s := ownSet(t)
	d := draft(typePython, "a + 1", "a NUMBER")
	d.Examples = []Example{{Arguments: json.RawMessage(`{"a": 1}`), Result: json.RawMessage(`2`)}, {Arguments: json.RawMessage(`{"a":1}`), Result: json.RawMessage(`3`)}}
	var refused *Refused
	if _, err := s.Create(t.Context(), "tester", d); !errors.As(err, &refused) || !strings.Contains(err.Error(), "example 2: expected another result: result: expected 3, got 2") || refused.Problems[0].Field != "examples[1]" {
		t.Fatalf("%v", err)
	}
	d.Force = true
	one := save(t, s, d)
	if got, err := s.Get(t.Context(), one.ID); err != nil || len(got.Examples) != 2 || got.Force || string(got.Examples[0].Arguments) != `{"a":1}` {
		t.Errorf("%+v, %v", got, err)
	}
	d.Definition, d.Force, d.Version = "a + 2", false, 1
	if _, err := s.Update(t.Context(), "tester", one.ID, d); err == nil || !strings.Contains(err.Error(), "example 1") {
		t.Errorf("an update: %v", err)
	}
	d.Examples = d.Examples[1:]
	if got, err := s.Update(t.Context(), "tester", one.ID, d); err != nil || got.Version != 2 {
		t.Errorf("an update that mends: %v", err)
	}
	// What it was it may be again, though its example fails.
	if got, err := s.Restore(t.Context(), "tester", one.ID, 1, 2); err != nil || len(got.Examples) != 2 {
		t.Errorf("restored %+v, %v", got, err)
	}
	found, err := s.Check(t.Context())
	if err != nil || found.Examples != 2 || len(found.Findings) != 1 || found.Findings[0].Name != "t" {
		t.Errorf("%+v, %v", found, err)
	}
	if found, _ := s.Check(t.Context(), "t", "nobody"); len(found.Findings) != 2 || found.Tools != 1 {
		t.Errorf("%+v", found)
	}
}

// TestExamplesInFilesComeBackTheSame writes random examples into a file and reads them again.
func TestExamplesInFilesComeBackTheSame(t *testing.T) {
	random := rand.New(rand.NewPCG(36, 1))
	words := []string{"a", "", "no", "1", "2024-01-10", "null", "~", "한국", "😀", "a: b", "- x", "'\"", "\\u0041", "tab\tx", "line\nline ", "#c", "{", "0x10", "1e5", "<&>", "\u2028"}
	var value func(depth int) any
	value = func(depth int) any {
		switch n := random.IntN(9); {
		case n < 2 && depth < 3:
			list := []any{}
			for range random.IntN(3) {
				list = append(list, value(depth+1))
			}
			return list
		case n < 4 && depth < 3:
			object := map[string]any{}
			for range random.IntN(3) {
				object[words[random.IntN(len(words))]] = value(depth + 1)
			}
			return object
		case n == 4:
			return nil
		case n == 5:
			return random.IntN(2) == 0
		case n == 6:
			return json.Number([]string{"0", "-1", "9007199254740993", "123456789012345678901234567890", "1.50", "1e5", "-0.0", "2E-7"}[random.IntN(8)])
		}
		return words[random.IntN(len(words))]
	}
	for i := range 3000 {
		text := must.Have(chat.JSON(value(0)))(t)
		e := Example{Arguments: json.RawMessage(`{"x":` + string(text) + `}`), Result: text, Rows: ">= 1", Contains: words[random.IntN(len(words))], Error: words[random.IntN(len(words))]}
		e.normalize()
		file, err := yaml.Marshal(e)
		if err != nil {
			t.Fatalf("%d %s: %v", i, text, err)
		}
		var back Example
		if err := yaml.Unmarshal(file, &back); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if back.normalize(); string(back.Result) != string(e.Result) || string(back.Arguments) != string(e.Arguments) || back.Contains != e.Contains || back.Error != e.Error || back.Rows != e.Rows {
			t.Fatalf("%s\nbecame %s\nand %+v", text, file, back)
		}
	}
}

func TestDriftOfTheSchemaIsTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "crm.db")
	db := must.Have(sql.Open("sqlite", path))(t)
	defer db.Close()
	do := func(statements ...string) {
		t.Helper()
		for _, one := range statements {
			if _, err := db.ExecContext(t.Context(), one); err != nil {
				t.Fatalf("%s: %v", one, err)
			}
		}
	}
	do("CREATE TABLE deals (id INTEGER, name TEXT, amount INTEGER)", "CREATE TABLE other (x TEXT)", "INSERT INTO deals VALUES (1, 'a', 5)")
	s := newSet(t, filepath.Join(t.TempDir(), "store.db"), func(c *Config) { c.Connections = map[string]string{"crm": path} })
	byName := draft(typeSQL, "SELECT d.Name FROM Deals d WHERE d.id = :id", "id NUMBER")
	byName.Name, byName.Examples = "by_name", []Example{{Arguments: json.RawMessage(`{"id":1}`), Contains: "a"}}
	whole := draft(typeSQL, "SELECT * FROM deals")
	whole.Name = "whole"
	save(t, s, byName)
	save(t, s, whole)
	check := func(want ...string) {
		t.Helper()
		found, err := s.Check(t.Context())
		var got []string
		for _, one := range found.Findings {
			got = append(got, one.Name+": "+one.What)
		}
		if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%v, found\n%s\nwant\n%s", err, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	check()
	do("ALTER TABLE deals ADD COLUMN owner TEXT", "DROP TABLE other")
	check()
	do("ALTER TABLE deals DROP COLUMN amount")
	check("whole: the column deals.amount is gone, or may not be read any more")
	do("DROP TABLE deals", "CREATE TABLE deals (id TEXT, name TEXT, amount INTEGER)")
	check("by_name: the column deals.id is of type TEXT, and was of type INTEGER when the tool was saved", "by_name: example 1: expected a result that contains \"a\", got []", "whole: the column deals.id is of type TEXT, and was of type INTEGER when the tool was saved")
	do("DROP TABLE deals")
	check("by_name: the table deals is gone, or may not be read any more", "whole: the table deals is gone, or may not be read any more")
}

func TestACheckEndsInTime(t *testing.T) {
	s := ownSet(t)
	for i := range 3 {
		d := draft(typePython, "1")
		d.Name = fmt.Sprintf("t%d", i)
		save(t, s, d)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	all := must.Have(s.List(t.Context()))(t)
	<-ctx.Done()
	var out Checked
	for i := range all {
		s.checkTool(ctx, &all[i], &out)
	}
	if len(out.Findings) != 3 || !strings.Contains(out.Findings[0].What, "time of the check was over") {
		t.Errorf("%+v", out)
	}
}

// TestDriftOnPostgres is about parameters that do not fit any more, which PostgreSQL says of a
// statement that is not run.
func TestDriftOnPostgres(t *testing.T) {
	where := databases.Postgres(t)
	db := storetest.Open(t, where)
	do := func(statements ...string) {
		t.Helper()
		for _, one := range statements {
			if _, err := db.ExecContext(t.Context(), one); err != nil {
				t.Fatalf("%s: %v", one, err)
			}
		}
	}
	do("CREATE TABLE bills (no integer, paid date, sum numeric)", "INSERT INTO bills VALUES (1, '2026-01-02', 5)")
	s := newSet(t, filepath.Join(t.TempDir(), "store.db"), func(c *Config) {
		c.Connections, c.Asks = map[string]string{"erp": where}, Asks{AnyRole: true}
	})
	d := draft(typeSQL, "SELECT sum FROM bills WHERE no = :no", "no NUMBER")
	d.Examples = []Example{{Arguments: json.RawMessage(`{"no":1}`), Rows: "1"}}
	save(t, s, d)
	check := func(want ...string) {
		t.Helper()
		found, err := s.Check(t.Context())
		if err != nil || len(found.Findings) != len(want) {
			t.Fatalf("%+v, %v, want %q", found, err, want)
		}
		for i, one := range found.Findings {
			if !strings.Contains(one.What, want[i]) {
				t.Errorf("%s, want %s", one.What, want[i])
			}
		}
	}
	check()
	do("ALTER TABLE bills ALTER sum TYPE bigint")
	check("the column bills.sum is of type bigint, and was of type numeric")
	do("ALTER TABLE bills ALTER no TYPE text")
	check("bills.no is of type text", "bills.sum", "operator does not exist: text =")
	do("ALTER TABLE bills DROP sum")
	check("bills.no", "the column bills.sum is gone")
	do("DROP TABLE bills")
	check("the table bills is gone")
}
