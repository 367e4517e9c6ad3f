package toolbox

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolnorm/tools/dynamic"
)

func TestTheToolsWorkOnTheDataFolder(t *testing.T) {
	dir := t.TempDir()
	for range 2 { // the second start finds what the first has made
		b, err := Open(t.Context(), Config{Data: dir})
		if err != nil {
			t.Fatal(err)
		}
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

func TestNamesOfBuiltInToolsAreTheirsWhetherTheyAreOfferedOrNot(t *testing.T) {
	box, err := Open(t.Context(), Config{Data: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	for _, name := range []string{"search_docs", "execute_postgres_query", "search_documents"} {
		d := dynamic.Draft{Name: name, DescriptionAgent: "x", Type: "PYTHON", Definition: "1"}
		if _, err := box.Custom.Create(t.Context(), "x", d); err == nil || !strings.Contains(err.Error(), "has that name") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
