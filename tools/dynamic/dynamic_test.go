package dynamic

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolnorm/internal/fault"
	"toolnorm/internal/store"
	"toolnorm/internal/test/must"
	"toolnorm/internal/test/storetest"
	"toolnorm/internal/toolargs"
	"toolnorm/tools"
)

var databases storetest.Databases

func TestMain(m *testing.M) { os.Exit(databases.Main(m)) }

// The two examples of the specification.
var (
	dailyLimit = Draft{
		Name: "get_user_daily_limit", DescriptionAgent: "특정 사용자의 일일 제한량을 조회합니다.", Type: typeSQL, Active: true,
		Definition: "SELECT u.user_nm, l.max_count FROM h_user u JOIN h_mcp_tool_limit l ON u.uid = l.target_id WHERE u.user_nm = :user_name AND l.target_type = 'USER'",
		Params:     []Param{{Name: "user_name", Type: typeString, Required: true, Description: "target user"}},
	}
	multiply = Draft{
		Name: "multiply_numbers", DescriptionAgent: "두 숫자를 입력받아 곱한 결과를 반환합니다.", Type: typePython, Active: true, Definition: "num1 * num2",
		Params: []Param{{Name: "num1", Type: typeNumber, Required: true}, {Name: "num2", Type: typeNumber, Required: true}},
	}
)

// newSet opens a set on a store; change may be nil.
func newSet(t testing.TB, where string, change func(*Config)) *Set {
	t.Helper()
	db := must.Have(store.Open(context.Background(), where))(t)
	args := new(toolargs.Reader)
	c := Config{DB: db, Registry: tools.New(tools.Options{Fit: args.Fit}), Fit: args.Fit, Data: t.TempDir(), Store: where}
	if change != nil {
		change(&c)
	}
	s := must.Have(Open(context.Background(), c))(t)
	t.Cleanup(func() {
		s.Close()
		db.Close()
	})
	return s
}

// ownSet is a set on a store of its own.
func ownSet(t testing.TB) *Set { return newSet(t, filepath.Join(t.TempDir(), "store.db"), nil) }

// save makes a tool.
func save(t testing.TB, s *Set, d Draft) Tool {
	t.Helper()
	got, err := s.Create(t.Context(), "tester", d)
	if err != nil {
		t.Fatalf("Create(%s): %v", d.Name, err)
	}
	return got
}

// call runs a tool as every face does.
func call(s *Set, name, args string) string {
	return s.config.Registry.Call(context.Background(), name, json.RawMessage(args)).Text()
}

// draft is a tool of one expression or SELECT, with optional parameters "name TYPE".
func draft(kind, definition string, params ...string) Draft {
	d := Draft{Name: "t", DescriptionAgent: "a tool", Type: kind, Active: true, Definition: definition}
	for _, p := range params {
		name, typ, _ := strings.Cut(p, " ")
		typ, optional := strings.CutSuffix(typ, "?")
		d.Params = append(d.Params, Param{Name: name, Type: typ, Required: !optional})
	}
	return d
}

// wait takes a notice, and gives up long before the test program would.
func wait(t *testing.T, notice <-chan struct{}) {
	t.Helper()
	select {
	case <-notice:
	case <-time.After(30 * time.Second):
		t.Fatal("nobody was told within half a minute")
	}
}

func TestTheExamplesOfTheSpecification(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		s := newSet(t, where, nil)
		one, two := save(t, s, dailyLimit), save(t, s, multiply)
		if one.ID >= two.ID || one.Version != 1 || one.CreatedBy != "tester" || !one.Offered || one.Tokens < 30 || one.RegDT == "" {
			t.Errorf("saved %+v", one)
		}
		for _, tt := range []struct{ name, args, want string }{
			{"get_user_daily_limit", `{"user_name":"hong"}`, `{"user_nm":"hong","max_count":50}`},
			{"get_user_daily_limit", `{"user_name":"nobody"}`, `[]`},
			{"multiply_numbers", `{"num1":5,"num2":3}`, `15`},
			{"multiply_numbers", `{"num1":"5","num2":3.0}`, `15.0`},
			{"multiply_numbers", `{"num1":5}`, "num2"},
		} {
			if got := call(s, tt.name, tt.args); got != tt.want && (tt.want != "num2" || !strings.Contains(got, "num2")) {
				t.Errorf("%s(%s) = %s, want %s", tt.name, tt.args, got, tt.want)
			}
		}
		again := newSet(t, where, nil)
		if got := call(again, "multiply_numbers", `{"num1":5,"num2":3}`); got != "15" {
			t.Errorf("after a restart: %s", got)
		}
	})
}

func TestTheTablesAreThoseOfTheSpecification(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		s := newSet(t, where, nil)
		for table, want := range map[string]string{
			"h_custom_tool":       "id name description_agent description_user tool_type definition is_active reg_dt created_by",
			"h_custom_tool_param": "id tool_id param_name param_type is_required description",
		} {
			rows := must.Have(s.config.DB.QueryContext(t.Context(), "SELECT * FROM "+table))(t)
			got, err := rows.Columns()
			rows.Close()
			if err != nil || strings.Join(got, " ") != want {
				t.Errorf("%s has %q, %v", table, got, err)
			}
		}
		save(t, s, dailyLimit)
		d := draft(typeSQL, "SELECT 1 AS one")
		d.Options.Result = "value"
		save(t, s, d)
		var definition, active string
		if err := s.config.DB.QueryRowContext(t.Context(), "SELECT definition, is_active FROM h_custom_tool WHERE name = 't'").Scan(&definition, &active); err != nil || definition != `{"sql":"SELECT 1 AS one","result":"value"}` || active != "Y" {
			t.Errorf("%s %s %v", definition, active, err)
		}
		if err := s.config.DB.QueryRowContext(t.Context(), "SELECT definition FROM h_custom_tool WHERE name = 'get_user_daily_limit'").Scan(&definition); err != nil || definition != dailyLimit.Definition {
			t.Errorf("%s %v", definition, err)
		}
		must.Have(s.config.DB.ExecContext(t.Context(), "DELETE FROM h_custom_tool WHERE name = 'get_user_daily_limit'"))(t)
		var n int
		if err := s.config.DB.QueryRowContext(t.Context(), "SELECT count(*) FROM h_custom_tool_param").Scan(&n); err != nil || n != 0 {
			t.Errorf("%d parameters without a tool, %v", n, err)
		}
	})
}

func TestRowsThatAnotherProgramWroteAreTools(t *testing.T) {
	where := filepath.Join(t.TempDir(), "store.db")
	first := newSet(t, where, nil)
	for _, statement := range []string{
		`INSERT INTO h_custom_tool VALUES (7, 'twice', 'doubles', '', 'PYTHON', 'result = n * 2', 'Y', '2026-01-01', 'dba')`,
		`INSERT INTO h_custom_tool VALUES (8, 'bad name', 'x', '', 'PYTHON', '1', 'Y', '2026-01-01', 'dba')`,
		`INSERT INTO h_custom_tool VALUES (9, 'broken', 'x', '', 'PYTHON', '1 +', 'Y', '2026-01-01', 'dba')`,
		`INSERT INTO h_custom_tool VALUES (10, 'elsewhere', 'x', '', 'SQL', '{"sql":"SELECT 1","connection":"erp"}', 'Y', '2026-01-01', 'dba')`,
		`INSERT INTO h_custom_tool VALUES (11, 'object', 'x', '', 'SQL', '{"sql":"SELECT 1","nope":1}', 'Y', '2026-01-01', 'dba')`,
		`INSERT INTO h_custom_tool_param (tool_id, param_name, param_type, is_required, description) VALUES (7, 'n', 'NUMBER', 'Y', '')`,
	} {
		must.Have(first.config.DB.ExecContext(t.Context(), statement))(t)
	}
	s := newSet(t, where, nil)
	if got := call(s, "twice", `{"n":21}`); got != "42" {
		t.Errorf("twice = %s", got)
	}
	all, err := s.List(t.Context())
	if err != nil || len(all) != 5 {
		t.Fatalf("%d tools, %v", len(all), err)
	}
	for i, want := range []string{"", "a tool's name is", "SyntaxError", `no connection "erp"`, "cannot be read"} {
		if (all[i].Problem == "") != (want == "") || !strings.Contains(all[i].Problem, want) || all[i].Offered != (want == "") {
			t.Errorf("%s: offered %v, problem %q, want %q", all[i].Name, all[i].Offered, all[i].Problem, want)
		}
	}
	if got := call(s, "broken", "{}"); !strings.Contains(got, "cannot be called") {
		t.Errorf("broken = %s", got)
	}
	got, err := s.Update(t.Context(), "tester", 7, Draft{Name: "twice", DescriptionAgent: "doubles", Type: typePython, Definition: "n + n", Active: true, Params: all[0].Params, Version: 0})
	if err == nil {
		t.Errorf("without a version: %+v", got)
	}
	if _, err := s.Toggle(t.Context(), "tester", 9, 0, false); err != nil {
		t.Errorf("a broken tool cannot be switched off: %v", err)
	}
	if got, err := s.Versions(t.Context(), 7); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestATableThatIsThereIsKept(t *testing.T) {
	where := filepath.Join(t.TempDir(), "store.db")
	db := storetest.Open(t, where)
	must.Have(db.Exec(`CREATE TABLE h_custom_tool (id INTEGER PRIMARY KEY, name TEXT UNIQUE, description_agent TEXT, description_user TEXT, tool_type TEXT, definition TEXT, is_active TEXT, reg_dt TEXT, created_by TEXT);
		CREATE TABLE h_custom_tool_param (id INTEGER PRIMARY KEY, tool_id INTEGER, param_name TEXT, param_type TEXT, is_required TEXT, description TEXT);
		INSERT INTO h_custom_tool VALUES (1, 'six', 'x', '', 'PYTHON', '6', 'Y', '', '')`))(t)
	db.Close()
	s := newSet(t, where, nil)
	save(t, s, multiply)
	if got := call(s, "six", "{}"); got != "6" {
		t.Errorf("six = %s", got)
	}
	must.OK(t, s.Delete(t.Context(), "tester", 2, 0))
}

// Two names that differ by case alone are one to a careless model, so the second is refused; a tool
// may change the case of its own.
func TestNamesThatDifferByCaseAloneAreRefused(t *testing.T) {
	s := newSet(t, filepath.Join(t.TempDir(), "store.db"), func(c *Config) { c.Reserved = map[string]bool{"get_time": true} })
	made := save(t, s, multiply)
	d := multiply
	d.Name = "Multiply_Numbers"
	if _, err := s.Create(t.Context(), "x", d); fault.From(err).OpenAICode() != "name_taken" || !strings.Contains(err.Error(), "there is a tool multiply_numbers already, number 1, and names that differ by case alone") {
		t.Errorf("created beside: %v", err)
	}
	d.Version = made.Version
	again, err := s.Update(t.Context(), "x", made.ID, d)
	if err != nil || again.Name != "Multiply_Numbers" {
		t.Errorf("its own name in another case: %+v, %v", again, err)
	}
	if r := s.Validate(t.Context(), Draft{Name: "GET_TIME", DescriptionAgent: "d", Type: typePython, Definition: "1"}); r.Valid {
		t.Errorf("a reserved name in another case: %+v", r)
	}
}

func TestAToolIsThereAtOnceAndGoneAtOnce(t *testing.T) {
	s := ownSet(t)
	changes := 0
	s.Changed(func() { changes++ })
	made := save(t, s, multiply)
	args := `{"num1":5,"num2":3}`
	must.Have(s.Toggle(t.Context(), "tester", made.ID, 1, false))(t)
	if got := call(s, "multiply_numbers", args); got != "tool multiply_numbers is not active" {
		t.Errorf("switched off: %s", got)
	}
	if again, err := s.Toggle(t.Context(), "tester", made.ID, 0, false); err != nil || again.Version != 2 {
		t.Errorf("a toggle to what it is: %+v, %v", again, err)
	}
	if _, err := s.Toggle(t.Context(), "tester", made.ID, 1, true); fault.From(err).Status() != 409 {
		t.Errorf("an old version: %v", err)
	}
	on, err := s.Toggle(t.Context(), "tester", made.ID, 2, true)
	if err != nil || on.Version != 3 || call(s, "multiply_numbers", args) != "15" {
		t.Errorf("switched on: %+v, %v", on, err)
	}
	d := multiply
	d.Definition, d.Version = "num1 * num2 + 1", 3
	if _, err := s.Update(t.Context(), "second", made.ID, d); err != nil || call(s, "multiply_numbers", args) != "16" {
		t.Errorf("changed: %v, %s", err, call(s, "multiply_numbers", args))
	}
	if back, err := s.Restore(t.Context(), "tester", made.ID, 1, 4); err != nil || back.Version != 5 || call(s, "multiply_numbers", args) != "15" {
		t.Errorf("restored: %+v, %v", back, err)
	}
	if err := s.Delete(t.Context(), "tester", made.ID, 4); fault.From(err).Status() != 409 {
		t.Errorf("an old version is deleted: %v", err)
	}
	if err := s.Delete(t.Context(), "tester", made.ID, 5); err != nil || !strings.Contains(call(s, "multiply_numbers", args), "there is no tool") {
		t.Errorf("deleted: %v, %s", err, call(s, "multiply_numbers", args))
	}
	all, err := s.Versions(t.Context(), made.ID)
	var said []string
	for _, v := range all {
		said = append(said, v.Action+" "+v.SavedBy+" "+v.Tool.Definition)
	}
	want := "delete tester num1 * num2, restore tester num1 * num2, update second num1 * num2 + 1, toggle tester num1 * num2, toggle tester num1 * num2, create tester num1 * num2"
	if err != nil || strings.Join(said, ", ") != want {
		t.Errorf("versions %s, %v", strings.Join(said, ", "), err)
	}
	if changes != 6 {
		t.Errorf("told %d times of 6 changes", changes)
	}
	if again := save(t, s, multiply); again.ID == made.ID {
		t.Error("a new tool has the number of an old one, and so its history")
	}
}

func TestTheSecondOfTwoEditorsIsTold(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		s, other := newSet(t, where, nil), newSet(t, where, nil)
		made := save(t, s, multiply)
		d := multiply
		d.Version = made.Version
		done := make(chan error, 8)
		for i := range 8 {
			on := s
			if i%2 == 1 {
				on = other
			}
			go func() {
				_, err := on.Update(context.Background(), "editor", made.ID, d)
				done <- err
			}()
		}
		good := 0
		for range 8 {
			switch err := <-done; {
			case err == nil:
				good++
			case fault.From(err).OpenAICode() != "version_conflict":
				t.Error(err)
			}
		}
		if good != 1 {
			t.Errorf("%d of 8 editors of the same version saved", good)
		}
		if _, err := other.Create(t.Context(), "x", multiply); fault.From(err).OpenAICode() != "name_taken" || fault.From(err).Param != "name" {
			t.Errorf("the same name: %v", err)
		}
	})
}

func TestReplicasSeeEachOthersChanges(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		s, other := newSet(t, where, nil), newSet(t, where, nil)
		heard := make(chan struct{}, 10)
		other.Changed(func() { heard <- struct{}{} })
		changed, stop := other.config.Registry.Watch()
		defer stop()
		must.OK(t, other.Follow(t.Context()))
		made := save(t, s, multiply)
		wait(t, heard)
		wait(t, changed) // what list_changed is sent for
		if got := call(other, "multiply_numbers", `{"num1":5,"num2":3}`); got != "15" {
			t.Errorf("made elsewhere: %s", got)
		}
		must.Have(s.Toggle(t.Context(), "tester", made.ID, 0, false))(t)
		wait(t, heard)
		if got := call(other, "multiply_numbers", "{}"); got != "tool multiply_numbers is not active" {
			t.Errorf("switched off elsewhere: %s", got)
		}
	})
}

func TestALostNoticeIsMadeUpFor(t *testing.T) {
	where := databases.Postgres(t)
	s := newSet(t, where, nil)
	heard := make(chan struct{}, 10)
	s.Changed(func() { heard <- struct{}{} })
	must.OK(t, s.Follow(t.Context()))
	must.Have(s.config.DB.ExecContext(t.Context(), `INSERT INTO h_custom_tool (name, description_agent, description_user, tool_type, definition, is_active, reg_dt, created_by) VALUES ('six', 'x', '', 'PYTHON', '6', 'Y', '', '');
		UPDATE h_custom_tool_change SET n = n + 1`))(t)
	wait(t, heard)
	if got := call(s, "six", "{}"); got != "6" {
		t.Errorf("six = %s", got)
	}
}

func TestABuiltInNameIsNotTaken(t *testing.T) {
	s := newSet(t, filepath.Join(t.TempDir(), "store.db"), func(c *Config) {
		must.OK(t, c.Registry.Set("company", tools.Tool{Name: "search_docs", Call: func(context.Context, json.RawMessage) (tools.Result, error) { return tools.TextOf("built in"), nil }}))
	})
	d := multiply
	d.Name = "search_docs"
	var refused *Refused
	if _, err := s.Create(t.Context(), "x", d); !errors.As(err, &refused) || fault.From(err).Param != "name" {
		t.Errorf("Create = %v", err)
	}
	// The other one may also come later: then the custom tool gives way, and nothing else does.
	save(t, s, multiply)
	six := draft(typePython, "6")
	six.Name = "six"
	save(t, s, six)
	s.config.Registry.Set("custom")
	must.OK(t, s.config.Registry.Set("late", tools.Tool{Name: "multiply_numbers", Call: func(context.Context, json.RawMessage) (tools.Result, error) { return tools.TextOf("late"), nil }}))
	s.own, s.last = map[string]bool{}, nil
	if all, err := s.List(t.Context()); err != nil || all[0].Offered || !strings.Contains(all[0].Problem, "has that name") || !all[1].Offered {
		t.Errorf("%+v, %v", all, err)
	}
	if call(s, "multiply_numbers", "{}") != "late" || call(s, "six", "{}") != "6" {
		t.Error("the wrong tool answers")
	}
}
