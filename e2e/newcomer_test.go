package e2e

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"toolnorm/internal/test/must"
	"toolnorm/internal/test/storetest"
)

// databases are those of the newcomer and of fleets.
var databases storetest.Databases

// purchases are what a company has.
const purchases = `CREATE TYPE state AS ENUM ('open', 'paid', 'shipped', 'void');
CREATE TABLE purchases (id integer PRIMARY KEY, region text NOT NULL, status state NOT NULL, placed_on date NOT NULL, amount numeric(10,2) NOT NULL);
INSERT INTO purchases SELECT i, (ARRAY['north', 'south', 'east', 'west'])[1 + i % 4], (enum_range(NULL::state))[1 + i / 4 % 4], date '2026-01-01' + i, i * 1.25 FROM generate_series(1, 300) i;
DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'asker') THEN CREATE ROLE asker LOGIN; END IF; END $$;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO asker`

// TestANewcomerInThePage makes, tests and calls a tool with a list, a choice and a date on a real
// PostgreSQL, in the page alone, and holds how many clicks and keys that takes: see
// admin/newcomer.mjs.
func TestANewcomerInThePage(t *testing.T) {
	l, packages, browser := open(t), npmPart(t, "admin"), chromium(t)
	where := databases.Postgres(t)
	admin := must.Have(pgx.Connect(t.Context(), where))(t)
	defer admin.Close(context.Background())
	must.Have(admin.Exec(t.Context(), purchases))(t)
	base := l.toolnorm(t, "--ollama", "127.0.0.1:1", "--connection", "shop="+strings.Replace(where, "postgres@", "asker@", 1))
	shots := os.Getenv("TOOLNORM_E2E_SHOTS")
	if shots == "" {
		shots = t.TempDir()
	}
	out, err := exec.Command("node", filepath.Join("admin", "newcomer.mjs"), packages, browser, base, shots).CombinedOutput()
	t.Logf("%s", out)
	var did struct {
		Clicks, Keys int
		Person       int `json:"person_s"`
	}
	_, counts, _ := strings.Cut(string(out), "\ndone ")
	if wrong := json.Unmarshal([]byte(counts), &did); err != nil || wrong != nil {
		t.Fatalf("the newcomer ended: %v, %v", err, wrong)
	}
	if did.Clicks > 25 || did.Keys > 420 || did.Person >= 180 {
		t.Errorf("%d clicks, %d keys, about %d s of a person", did.Clicks, did.Keys, did.Person)
	}
}
