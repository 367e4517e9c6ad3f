package company

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"toolnorm/engine/valid"
	"toolnorm/internal/golden"
	"toolnorm/internal/test/must"
	"toolnorm/internal/test/storetest"
	"toolnorm/internal/toolargs"
	"toolnorm/tools"
)

var databases storetest.Databases

func TestMain(m *testing.M) { os.Exit(databases.Main(m)) }

// today is the day of the tests: in Seoul it has begun, in London it has not.
func today() time.Time {
	return time.Date(2026, 11, 21, 0, 30, 0, 0, time.FixedZone("KST", 9*60*60))
}

// open opens the company for as long as the test runs, with a registry of its tools.
func open(t *testing.T, where string) (*Company, *tools.Registry) {
	t.Helper()
	db := storetest.Open(t, where)
	c := must.Have(Open(t.Context(), db, today))(t)
	r := tools.New(tools.Options{Fit: new(toolargs.Reader).Fit})
	must.OK(t, r.Set("company", c.Tools()...))
	return c, r
}

// TestCalls runs the calls in testdata/*.txt: a section is named NAME ARGUMENTS, and holds the
// outcome.
func TestCalls(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	databases.Each(t, func(t *testing.T, where string) {
		_, registry := open(t, where)
		for _, file := range files {
			src := must.Read(t, file)
			calls := must.Have(golden.Sections(src))(t)
			var out bytes.Buffer
			for _, call := range calls {
				got := outcome(t, registry, call.Name)
				out.WriteString("-- " + call.Name + " --\n" + got + "\n\n")
				if want := strings.TrimSpace(call.Text); got != want && !*must.Update {
					t.Errorf("%s: %s\n got %s\nwant %s", file, call.Name, got, want)
				}
			}
			if *must.Update {
				must.Write(t, file, out.Bytes())
			}
		}
	})
}

// outcome runs "NAME ARGUMENTS" and checks that what comes back is as the tool's schema says.
func outcome(t *testing.T, registry *tools.Registry, call string) string {
	t.Helper()
	name, args, _ := strings.Cut(call, " ")
	res := registry.Call(t.Context(), name, json.RawMessage(args))
	if tool, ok := registry.Snapshot().Find(name); ok && !res.IsError {
		v, err := new(valid.Cache).Get(tool.Output)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if wrong := v.Check(res.Structured); wrong != nil {
			t.Errorf("%s: the result is not as promised: %s", call, valid.Sentences(wrong))
		}
	}
	var pretty bytes.Buffer
	must.OK(t, json.Indent(&pretty, tools.OutcomeOf(res).JSON(), "", "  "))
	return pretty.String()
}

func TestTheSampleIsLargeEnough(t *testing.T) {
	c, _ := open(t, filepath.Join(t.TempDir(), "db", "mcp_data.db"))
	for query, least := range map[string]int{
		"SELECT count(*) FROM documents":                                      30,
		"SELECT count(*) FROM documents WHERE category BETWEEN 'A' AND 'z'":   12, // English
		"SELECT count(*) FROM documents WHERE category > '가'":                 12, // Korean
		"SELECT count(*) FROM employees WHERE id LIKE 'EMP___'":               20,
		"SELECT count(DISTINCT year) FROM vacations":                          3,
		"SELECT count(*) FROM vacations WHERE used <= total":                  60,
		"SELECT 1 - count(*) FROM vacations WHERE used > total OR total > 25": 1,
	} {
		var n int
		if err := c.db.QueryRowContext(t.Context(), query).Scan(&n); err != nil || n < least {
			t.Errorf("%s: %d, %v; want at least %d", query, n, err, least)
		}
	}
}

func TestDataThatIsThereIsLeftAlone(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		db := storetest.Open(t, where)
		for _, s := range []string{tables, "INSERT INTO employees (id, name, department, hire_date) VALUES ('E1', 'Own', 'x', '2030-01-01'), ('E2', 'Odd', 'x', 'soon')"} {
			must.Have(db.ExecContext(t.Context(), s))(t)
		}
		_, registry := open(t, where)
		for call, want := range map[string]string{
			"get_all_employees {}":                                     `{"employees":[{"id":"E1","name":"Own"},{"id":"E2","name":"Odd"}],"truncated":false}`,
			`get_employee_info {"employee_id":"e1"}`:                   `{"id":"E1","name":"Own","department":"x","hire_date":"2030-01-01","days_employed":0}`,
			`get_employee_info {"employee_id":"E2"}`:                   `the hire date of E2 is no date like 2026-01-31: "soon"`,
			`calculate_vacation_days {"employee_id":"E1","year":2026}`: "there is no vacation data for E1",
			`search_docs {"query":"a"}`:                                `{"documents":[],"truncated":false}`,
		} {
			name, args, _ := strings.Cut(call, " ")
			if got := registry.Call(t.Context(), name, json.RawMessage(args)).Text(); got != want {
				t.Errorf("%s = %s, want %s", call, got, want)
			}
		}
	})
}

func TestManyMayStartAtOnce(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() {
				_, registry := open(t, where)
				if got := registry.Call(t.Context(), "search_docs", json.RawMessage(`{"query":"연차"}`)); got.IsError {
					t.Error(got.Text())
				}
			})
		}
		all.Wait()
		c, _ := open(t, where)
		if docs, err := c.Documents(t.Context(), 1000); err != nil || len(docs) != 36 {
			t.Errorf("%d documents, %v", len(docs), err)
		}
	})
}

func TestALargeResultIsCutAndSaysSo(t *testing.T) {
	c, registry := open(t, filepath.Join(t.TempDir(), "mcp_data.db"))
	for i := range mostListed {
		must.Have(c.db.ExecContext(t.Context(), "INSERT INTO employees (id, name, department, hire_date) VALUES ($1, 'x', 'x', '2020-01-01')", 1000+i))(t)
	}
	for call, most := range map[string]int{"get_all_employees {}": mostListed, `search_docs {"query":"."}`: mostFound} {
		name, args, _ := strings.Cut(call, " ")
		var got struct {
			Employees, Documents []json.RawMessage
			Truncated            bool
		}
		must.OK(t, json.Unmarshal(registry.Call(t.Context(), name, json.RawMessage(args)).Structured, &got))
		if n := len(got.Employees) + len(got.Documents); n != most || !got.Truncated {
			t.Errorf("%s: %d, truncated %v", call, n, got.Truncated)
		}
	}
}

func TestADocumentIsReadByItsId(t *testing.T) {
	c, _ := open(t, filepath.Join(t.TempDir(), "mcp_data.db"))
	if d, err := c.Document(t.Context(), 2); err != nil || d.Title != "Annual leave policy" || d.Category != "HR" {
		t.Errorf("Document(2) = %+v, %v", d, err)
	}
	if _, err := c.Document(t.Context(), 99); !errors.Is(err, ErrNoDocument) {
		t.Errorf("Document(99): %v", err)
	}
	if all, err := c.Documents(t.Context(), 3); err != nil || len(all) != 3 || all[2].ID != 3 {
		t.Errorf("Documents(3) = %+v, %v", all, err)
	}
}
