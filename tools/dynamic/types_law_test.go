package dynamic

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"toolnorm/chat"
	"toolnorm/engine/valid"
	"toolnorm/internal/sqlsafe"
	"toolnorm/internal/test/must"
	"toolnorm/tools"
)

// lawSeeds make the declarations and values of the laws; the last was first run when everything was
// written.
var lawSeeds = []uint64{1, 20261123, 7919}

// randomParam is a parameter of any type with details that fit it.
func randomParam(r *rand.Rand, lists int) Param {
	k := kind{baseTypes[r.IntN(len(baseTypes))], r.IntN(lists + 1)}
	p := Param{Name: "v", Type: k.String(), Required: r.IntN(2) == 0, Description: "a value"}
	often := func() bool { return r.IntN(2) == 0 }
	switch k.base {
	case typeString:
		if often() {
			p.MinLength, p.MaxLength = r.IntN(3), 3+r.IntN(4)
		}
		p.Pattern = []string{"", "^[a-z ]*$", "é|a"}[r.IntN(3)]
	case typeInteger, typeNumber:
		if often() {
			p.Minimum, p.Maximum = valueOf(-r.IntN(5)), valueOf(r.IntN(100))
		}
	case typeDate:
		if often() {
			p.Minimum, p.Maximum = Value(`"2020-02-29"`), Value(`"2030-01-01"`)
		}
	case typeTimestamp:
		if often() {
			p.Minimum = Value(`"2024-01-01T00:00:00+09:00"`)
		}
	case typeEnum:
		p.Choices = [][]Value{{Value(`"open"`), Value(`"paid"`), Value(`"it's \"x\" {a,b}"`)}, {Value("1"), Value("20")}}[r.IntN(2)]
	case typeObject:
		p.Schema = []Value{nil, Value(`{"properties":{"a":{"type":"integer"}},"additionalProperties":false}`)}[r.IntN(2)]
	}
	if k.lists > 0 && often() {
		p.MinItems, p.MaxItems = r.IntN(2), 1+r.IntN(3)
	}
	return p
}

// randomValue is a value that may or may not fit a type.
func randomValue(r *rand.Rand, p *Param, k kind) any {
	if r.IntN(12) == 0 {
		return []any{nil, "x", true, json.Number("3.5"), []any{}, map[string]any{"a": json.Number("1")}}[r.IntN(6)]
	}
	if k.lists > 0 {
		all := []any{}
		for range r.IntN(4) {
			all = append(all, randomValue(r, p, kind{k.base, k.lists - 1}))
		}
		return all
	}
	pick := func(all ...string) any { return all[r.IntN(len(all))] }
	switch k.base {
	case typeInteger:
		return json.Number(pick("0", "5", "-3", "77", "2147483648", "9007199254740993", "12.0", "1e2", "2.5").(string))
	case typeNumber:
		return json.Number(pick("0", "5", "-3.25", "77", "2147483648", "0.1", "1e2").(string))
	case typeBoolean:
		return r.IntN(2) == 0
	case typeDate:
		return pick("2024-02-29", "2023-02-29", "2019-12-31", "2031-01-01", "tomorrow", "0001-01-01")
	case typeTimestamp:
		return pick("2024-02-29T10:00:00Z", "2024-02-29T10:00:00.25+09:00", "2023-12-31T15:00:00Z", "2023-12-31T14:59:59Z", "2024-02-29 10:00", "0000-01-01T00:00:00Z")
	case typeUUID:
		return pick("A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "00000000-0000-0000-0000-000000000000", "not-a-uuid")
	case typeEnum:
		return []any{p.Choices[r.IntN(len(p.Choices))].get(), "lost"}[r.IntN(5)/4]
	case typeObject:
		return []any{map[string]any{}, map[string]any{"a": json.Number("1")}, map[string]any{"a": "x"}, map[string]any{"b": "it's"}}[r.IntN(4)]
	}
	return pick("", "a", "abc", "é", "it's \"q\" \\ {1,2}", "a long text", "NULL", "세 글자")
}

// TestTheSchemaAndTheReaderAgree holds random values to the schema that models see and to what is
// bound: the schema takes what the reader takes as it stands, and the reader refuses no more than
// dates beyond their bounds.
func TestTheSchemaAndTheReaderAgree(t *testing.T) {
	var schemas valid.Cache
	taken := 0
	for _, seed := range lawSeeds {
		r := rand.New(rand.NewPCG(seed, 0))
		for range 4000 {
			p := randomParam(r, 2)
			var note problems
			if p.details(&note, ""); note.errors() {
				t.Fatalf("seed %d: %+v: %+v", seed, p, note)
			}
			schema := must.Have(p.property(nil))(t)
			fits, err := schemas.Get(schema)
			if err != nil {
				t.Fatalf("%s: %v", schema, err)
			}
			v := randomValue(r, &p, p.kind())
			text := must.Have(chat.JSON(v))(t)
			got, wrong := p.read(v, nil)
			says := fits.CheckValue(text)
			bounded := strings.Contains(strings.Join(wrong, " "), " not before ") || strings.Contains(strings.Join(wrong, " "), " not after ") || strings.Contains(string(text), "0000-01-01")
			switch {
			case len(wrong) == 0 && says == nil:
				taken++
			case len(wrong) == 0: // read more leniently than the schema says: a letter's case
				if again, _ := chat.JSON(got); fits.CheckValue(again) != nil {
					t.Errorf("seed %d: %s takes %s as %s, and the schema does not: %s", seed, schema, text, again, valid.Sentences(says))
				}
			case says == nil && !bounded:
				t.Errorf("seed %d: %s takes %s, and the reader does not: %v", seed, schema, text, wrong)
			case !strings.HasPrefix(wrong[0], "v") || !strings.Contains(wrong[0], ", got ") && !strings.Contains(wrong[0], "parameter"):
				t.Errorf("seed %d: %s says %q", seed, text, wrong)
			}
		}
	}
	if taken < 2000 {
		t.Errorf("only %d values were taken", taken)
	}
}

// echoes are statements that give a value back, by the database.
func echo(on sqlsafe.Kind, k kind) string {
	switch {
	case on == sqlsafe.PostgreSQL && k.base == typeTimestamp && k.lists == 0:
		return "SELECT to_char(:v AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') AS v"
	case on == sqlsafe.PostgreSQL && k.base == typeTimestamp && k.lists == 1:
		return "SELECT array_agg(to_char(x AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')) AS v FROM unnest(:v) AS x"
	case on == sqlsafe.PostgreSQL && k.lists == 1 && k.base != typeObject:
		return "SELECT array_agg(x) AS v FROM unnest(:v) AS x WHERE x = ANY(:v)"
	case on == sqlsafe.SQLite && k.lists == 1 && k.base != typeObject && k.base != typeBoolean:
		return "SELECT json_group_array(value) AS v FROM json_each(:v)"
	}
	return "SELECT :v AS v"
}

// expected is what a value that was bound comes back as.
func expected(on sqlsafe.Kind, k kind, v any) string {
	if all, ok := v.([]any); ok && k.lists > 0 {
		parts := []string{}
		for _, one := range all {
			parts = append(parts, expected(sqlsafe.PostgreSQL, kind{k.base, k.lists - 1}, one)) // as JSON has it
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	switch k.base {
	case typeTimestamp:
		at, _ := time.Parse(time.RFC3339Nano, fmt.Sprint(v))
		return at.UTC().Format("2006-01-02 15:04:05.999999999")
	case typeBoolean:
		if b, ok := v.(bool); ok && on == sqlsafe.SQLite && k.lists == 0 {
			return fmt.Sprint(btoi(b))
		}
	case typeObject:
		return jsonText(v)
	}
	return fmt.Sprint(v)
}

// loose writes what came back as expected does: texts without quotes, JSON in a text as JSON, times
// without zeros behind.
func loose(on sqlsafe.Kind, k kind, v any) string {
	if text, ok := v.(string); ok && (k.lists > 0 || k.base == typeObject) {
		if inner := Value(text).get(); inner != nil && (strings.HasPrefix(text, "[") || strings.HasPrefix(text, "{")) {
			return loose(on, k, inner)
		}
	}
	if all, ok := v.([]any); ok && k.lists > 0 {
		parts := []string{}
		for _, one := range all {
			parts = append(parts, loose(on, kind{k.base, k.lists - 1}, one))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	if v == nil && k.lists > 0 {
		return "[]"
	}
	text := fmt.Sprint(v)
	if k.base == typeObject {
		return jsonText(v)
	}
	if k.base == typeTimestamp {
		if at, err := time.Parse(time.RFC3339Nano, text); err == nil { // a list of lists, as JSON
			return at.UTC().Format("2006-01-02 15:04:05.999999999")
		}
		if strings.Contains(text, ".") {
			text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
		}
	}
	return text
}

// holdsValues makes random tools, calls them with random values, and compares what the database got
// with what was meant.
func holdsValues(t *testing.T, s *Set, on sqlsafe.Kind, connection string, rounds int) {
	t.Helper()
	var schemas valid.Cache
	came := 0
	for _, seed := range lawSeeds {
		r := rand.New(rand.NewPCG(seed, 1))
		for range rounds {
			p := randomParam(r, 2)
			k := p.kind()
			if on == sqlsafe.PostgreSQL && k.base == typeTimestamp && k.lists == 2 {
				continue
			}
			d := draft(typeSQL, echo(on, k))
			d.Params, d.Options.Connection, d.Options.Result = []Param{p}, connection, "value"
			c, wrong := s.compile(t.Context(), d, true)
			if c == nil || wrong.errors() || c.columns == nil {
				t.Fatalf("seed %d: %s %+v: %+v", seed, d.Definition, p, wrong)
			}
			one := c.tool(s.config.Audit)
			promised := must.Have(schemas.Get(one.Output))(t)
			registry := tools.New(tools.Options{Fit: s.config.Fit})
			must.OK(t, registry.Set("law", one))
			for range 4 {
				v := randomValue(r, &p, k)
				text, err := chat.JSON(map[string]any{"v": v})
				if err != nil || v == nil {
					continue
				}
				meant, wrong := p.read(v, nil)
				res := registry.Call(t.Context(), one.Name, text)
				switch {
				case len(wrong) > 0 && res.IsError:
					if !strings.Contains(res.Text(), "v") || strings.Contains(res.Text(), "operator") {
						t.Errorf("seed %d: %s for %s says %s", seed, text, p.Type, res.Text())
					}
					continue
				case len(wrong) > 0: // put right on the way: "5" for 5
					continue
				case res.IsError:
					if p.number() && on == sqlsafe.SQLite && strings.Contains(res.Text(), "too large a number") {
						continue
					}
					t.Errorf("seed %d: %s of %s: %s", seed, text, p.Type, res.Text())
					continue
				}
				came++
				want, got := expected(on, k, meant), loose(on, k, Value(res.Structured).get())
				if want != got && !reflect.DeepEqual(Value(want).get(), Value(got).get()) && !sameNumbers(want, got) {
					t.Errorf("seed %d: %s of %s by %s: got %s, want %s", seed, text, p.Type, d.Definition, got, want)
				}
				if fits := promised.CheckValue(res.Structured); fits != nil {
					t.Errorf("seed %d: %s gave %s, which is not %s: %s", seed, d.Definition, res.Structured, one.Output, valid.Sentences(fits))
				}
			}
		}
	}
	if came < rounds {
		t.Errorf("only %d values came back", came)
	}
}

// sameNumbers reports whether two texts are one number, as 5 and 5.0, or lists of such.
func sameNumbers(a, b string) bool {
	one, other := strings.Split(strings.Trim(a, "[]"), ","), strings.Split(strings.Trim(b, "[]"), ",")
	if len(one) != len(other) {
		return false
	}
	for i := range one {
		if order(typeNumber, one[i], other[i]) != 0 || one[i] == "" || one[i][0] > '9' {
			return false
		}
	}
	return true
}

func TestWhatSQLiteGetsIsWhatWasSent(t *testing.T) {
	holdsValues(t, ownSet(t), sqlsafe.SQLite, "", 150)
}

func TestWhatPostgresGetsIsWhatWasSent(t *testing.T) {
	where := databases.Postgres(t)
	admin := must.Have(pgx.Connect(t.Context(), where))(t)
	defer admin.Close(context.Background())
	must.Have(admin.Exec(t.Context(), "DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'asker') THEN CREATE ROLE asker LOGIN; END IF; END $$"))(t)
	s := newSet(t, where, func(c *Config) {
		c.Connections = map[string]string{"erp": strings.Replace(where, "postgres@", "asker@", 1)}
	})
	holdsValues(t, s, sqlsafe.PostgreSQL, "erp", 12)
}
