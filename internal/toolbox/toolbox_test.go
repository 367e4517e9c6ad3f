package toolbox

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
	"toolnorm/tools"
	"toolnorm/tools/dynamic"
)

func TestTheToolsWorkOnTheDataFolder(t *testing.T) {
	dir := t.TempDir()
	for range 2 { // the second start finds what the first has made
		b, err := Open(t.Context(), Config{Data: dir})
		must.OK(t, err)
		res := b.Registry.Call(t.Context(), "calculate_vacation_days", json.RawMessage(`{"employee_id":"EMP001","year":"2025"}`))
		if want := `{"employee_id":"EMP001","year":2025,"total":19,"used":4.5,"remaining":14.5}`; res.Text() != want {
			t.Errorf("got %s", res.Text())
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "db", "mcp_data.db")); err != nil {
		t.Error(err)
	}
}

func TestDataThatCannotBeOpenedIsAnError(t *testing.T) {
	if _, err := Open(t.Context(), Config{Data: "/dev/null"}); err == nil || !strings.Contains(err.Error(), "/dev/null") {
		t.Errorf("Open = %v", err)
	}
	if _, err := Open(t.Context(), Config{Data: t.TempDir(), Store: "own.db"}); err == nil || !strings.Contains(err.Error(), "absolute") {
		t.Errorf("Open = %v", err)
	}
}

func TestAnEmptyBoxHasNoTools(t *testing.T) {
	b := Empty(Config{})
	if n := len(b.Registry.Snapshot().Tools); n != 0 || b.Company != nil || b.Close() != nil {
		t.Errorf("%d tools", n)
	}
}

// TestTheSampleMakesWayForTheUsersTools opens one folder again and again, with and without tools of
// the user's own.
func TestTheSampleMakesWayForTheUsersTools(t *testing.T) {
	dir := t.TempDir()
	draft := dynamic.Draft{Name: "mine", DescriptionAgent: "x", Type: "PYTHON", Definition: "result = 1", Active: true}
	for _, step := range []struct {
		sample      string
		own         bool // there is an MCP server
		make        bool // then make a tool
		before, now bool // the sample is offered
	}{
		{"auto", false, false, true, true},
		{"auto", true, false, true, false}, // the server's tools are not there yet
		{"never", false, false, false, false},
		{"always", true, true, true, true},
		{"", true, false, true, true},
		{"auto", false, false, false, false},
	} {
		b, err := Open(t.Context(), Config{Data: dir, Sample: step.sample})
		must.OK(t, err)
		before := b.Sampled()
		if step.own {
			b.Registry.Expect("mcp server x")
		}
		names := ""
		for _, tool := range b.Registry.Snapshot().Tools {
			names += tool.Name + " "
		}
		if b.Sampled() != step.now || before != step.before || strings.Contains(names, "search_docs") != step.now {
			t.Errorf("%+v: the sample was offered: %v, now %v: %s", step, before, b.Sampled(), names)
		}
		if step.make {
			if _, err := b.Custom.Create(t.Context(), "x", draft); err != nil {
				t.Fatal(err)
			}
		}
		if res := b.Registry.Call(t.Context(), "get_all_employees", nil); !step.now && !strings.Contains(res.Text(), "--sample=always") {
			t.Errorf("%+v: a call gets %s", step, res.Text())
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

// offered reports whether a registry lists a tool.
func offered(r *tools.Registry, name string) bool {
	return slices.ContainsFunc(r.Snapshot().Tools, func(t tools.Tool) bool { return t.Name == name })
}

func TestTheSampleGoesAndComesWhileOthersDo(t *testing.T) {
	b, err := Open(t.Context(), Config{Data: t.TempDir(), Sample: "auto"})
	must.OK(t, err)
	defer b.Close()
	changed, stop := b.Registry.Watch()
	defer stop()
	for _, others := range [][]tools.Tool{{{Name: "other", Call: func(context.Context, json.RawMessage) (tools.Result, error) { return tools.Result{}, nil }}}, nil} {
		must.OK(t, b.Registry.Set("mcp server x", others...))
		<-changed
		if b.Sampled() != (others == nil) || offered(b.Registry, "search_docs") != b.Sampled() {
			t.Errorf("beside %d tools: the sample is offered: %v", len(others), b.Sampled())
		}
		select {
		case <-changed:
			t.Error("one change is told twice")
		default:
		}
	}
}

func TestNamesOfBuiltInToolsAreTheirsWhetherTheyAreOfferedOrNot(t *testing.T) {
	box, err := Open(t.Context(), Config{Data: t.TempDir()})
	must.OK(t, err)
	defer box.Close()
	for _, name := range []string{"search_docs", "execute_postgres_query", "search_documents"} {
		d := dynamic.Draft{Name: name, DescriptionAgent: "x", Type: "PYTHON", Definition: "1"}
		if _, err := box.Custom.Create(t.Context(), "x", d); err == nil || !strings.Contains(err.Error(), "has that name") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
