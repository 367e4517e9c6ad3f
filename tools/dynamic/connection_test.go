package dynamic

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
	"toolnorm/internal/test/storetest"
)

// TestAToolWithoutAConnectionAsksTheOneThatIsConfigured holds that made-up data is asked only while
// there is no other, and that none is guessed among several.
func TestAToolWithoutAConnectionAsksTheOneThatIsConfigured(t *testing.T) {
	path := filepath.Join(t.TempDir(), "real.db")
	db := storetest.Open(t, path)
	must.Have(db.ExecContext(t.Context(), strings.ReplaceAll(sampleTables, "(1, 'USER', 1, 50)", "(1, 'USER', 1, 77)")))(t)
	must.OK(t, db.Close())
	for want, connections := range map[string]map[string]string{
		`sample {"user_nm":"hong","max_count":50}`: {},
		`crm {"user_nm":"hong","max_count":77}`:    {"crm": path},
		`zoo {"user_nm":"hong","max_count":77}`:    {"zoo": path},
		`sample {"user_nm":"hong","max_count":77}`: {"sample": path},
		" several: crm, sample, zoo":               {"zoo": path, "crm": path},
	} {
		s := newSet(t, filepath.Join(t.TempDir(), "store.db"), func(c *Config) { c.Connections = connections })
		trial := s.Test(t.Context(), dailyLimit, json.RawMessage(`{"user_name": "hong"}`))
		got := trial.Connection + " "
		if trial.Result != nil {
			got += trial.Result.Text()
		} else {
			_, got, _ = strings.Cut(trial.Problems[0].Message, "there are")
		}
		if got != want {
			t.Errorf("%v: %q, want %q: %+v", connections, got, want, trial.Problems)
		}
		for _, one := range s.Connections(t.Context()) {
			if one.Default != (one.Name == trial.Connection) {
				t.Errorf("%v: the page shows %s as the default: %v", connections, one.Name, one.Default)
			}
		}
	}
}

// TestEveryPostgresIsAskedByTheSettings holds that sql-functions and sql-role reach the connections
// of custom tools, and that a warning names its connection.
func TestEveryPostgresIsAskedByTheSettings(t *testing.T) {
	told := ""
	asks := Asks{Functions: []string{"margin"}, AnyRole: true, Warn: func(text string) { told = text }}
	c := newConnections(map[string]string{"crm": "postgres://reader@127.0.0.1/crm"}, asks, "", "").all["crm"].postgres()
	c.Warn("too much")
	if len(c.Functions) != 1 || c.Functions[0] != "margin" || !c.AnyRole || told != "connection crm: too much" {
		t.Errorf("%+v, told %q", c, told)
	}
}
