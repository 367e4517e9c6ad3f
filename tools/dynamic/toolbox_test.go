package dynamic

import (
	"context"
	"encoding/json"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// toolboxTool reads a line of testdata/toolbox.txt as a tool of ours, and reports what is lost.
func toolboxTool(t *testing.T, line string) (d Draft, lost string) {
	t.Helper()
	parts := strings.SplitN(line, "; ", 3)
	if len(parts) != 3 {
		t.Fatalf("%q", line)
	}
	d = draft(typeSQL, parts[2])
	d.Name = strings.TrimSpace(parts[0])
	for i, text := range strings.Split(parts[1], ", ") {
		words := strings.Fields(text)
		typ, optional := strings.CutSuffix(words[1], "?")
		p := Param{Name: words[0], Required: !optional}
		switch element, value := strings.CutPrefix(typ, "array:"); {
		case value:
			p.Type = "LIST<" + element + ">"
		case strings.HasPrefix(typ, "map:"):
			p.Type, p.Schema = "OBJECT", Value(`{"additionalProperties":{"type":"`+strings.NewReplacer("float", "number").Replace(typ[4:])+`"}}`)
		default:
			p.Type = typ
		}
		for _, word := range words[2:] {
			name, value, _ := strings.Cut(word, "=")
			if one := addDetail(&p, name, value); one != "" {
				lost = one
			}
		}
		d.Params = append(d.Params, p)
		d.Definition = regexp.MustCompile(`\$`+strconv.Itoa(i+1)+`\b`).ReplaceAllString(d.Definition, ":"+p.Name)
	}
	return d, lost
}

// addDetail adds what a line says of a parameter, and returns what cannot be said.
func addDetail(p *Param, name, value string) (lost string) {
	asValue := func(text string) Value {
		if json.Valid([]byte(text)) {
			return Value(text)
		}
		return valueOf(text)
	}
	switch name {
	case "default":
		p.Default = asValue(value)
	case "min":
		p.Minimum = Value(value)
	case "max":
		p.Maximum = Value(value)
	case "pattern":
		p.Pattern = value
	case "allowed":
		p.Type = "ENUM"
		for one := range strings.SplitSeq(value, "|") {
			p.Choices = append(p.Choices, asValue(one))
		}
	case "auth":
		if p.Caller = "subject"; value != "sub" {
			return "a claim " + value
		}
	default:
		return name
	}
	return ""
}

// TestToolsOfToolboxCanBeMade makes sixty tools in the manner of MCP Toolbox's documentation on a real PostgreSQL. At most
// three of them say something that a tool here cannot.
func TestToolsOfToolboxCanBeMade(t *testing.T) {
	where := databases.Postgres(t)
	admin, err := pgx.Connect(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.Background())
	tables, err := os.ReadFile("testdata/shop.sql")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admin.Exec(t.Context(), string(tables)+`
		DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'asker') THEN CREATE ROLE asker LOGIN; END IF; END $$;
		GRANT SELECT ON ALL TABLES IN SCHEMA public TO asker`); err != nil {
		t.Fatal(err)
	}
	s := newSet(t, where, func(c *Config) {
		c.Connections = map[string]string{"shop": strings.Replace(where, "postgres@", "asker@", 1)}
	})
	text, err := os.ReadFile("testdata/toolbox.txt")
	if err != nil {
		t.Fatal(err)
	}
	made, lossy := 0, 0
	for line := range strings.Lines(string(text)) {
		line, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if !ok {
			continue
		}
		d, lost := toolboxTool(t, line)
		if lost != "" {
			t.Logf("%s: %s cannot be said", d.Name, lost)
			lossy++
			continue
		}
		report := s.Validate(t.Context(), d)
		if len(report.Problems) > 0 {
			t.Errorf("%s: %+v", d.Name, report.Problems)
			continue
		}
		if made++; strings.Contains(string(report.Tool), `"user_id":`) && strings.HasPrefix(d.Name, "my-") {
			t.Errorf("the model sees who calls: %s", report.Tool)
		}
	}
	t.Logf("%d of %d", made, made+lossy)
	if made+lossy != 60 || lossy > 3 {
		t.Errorf("%d made, %d with a loss", made, lossy)
	}
}
