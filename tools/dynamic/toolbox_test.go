package dynamic

import (
	"context"
	"encoding/json"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"toolnorm/internal/test/must"

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

// TestToolsOfToolboxCanBeMade makes sixty tools in the manner of MCP Toolbox on a real PostgreSQL.
// At most three of them say something that a tool here cannot.
func TestToolsOfToolboxCanBeMade(t *testing.T) {
	made, lost := makeToolbox(t, "shop.sql", "toolbox.txt")
	if len(lost) > 3 || made+len(lost) != 60 {
		t.Errorf("%d made; lost: %q", made, lost)
	}
}

// TestToolsOfToolboxsDocumentationCanBeMade does the same with the tools that stand in the
// documentation itself. What is lost is what is known: values and vectors that come past the model,
// tables and columns that a model names, and statements that write.
func TestToolsOfToolboxsDocumentationCanBeMade(t *testing.T) {
	made, lost := makeToolbox(t, "documented.sql", "documented.txt")
	count := map[string]int{}
	for _, what := range lost {
		count[what]++
	}
	want := map[string]int{"secure": 1, "embedded": 1, "template": 5, "writes": 4}
	if !maps.Equal(count, want) || made != 21 {
		t.Errorf("%d made; lost: %v, want %v", made, count, want)
	}
}

// makeToolbox makes the tools of a file of testdata on tables of another, and returns how many, and
// what the others lose.
func makeToolbox(t *testing.T, tables, list string) (made int, lost []string) {
	t.Helper()
	where := databases.Postgres(t)
	admin := must.Have(pgx.Connect(t.Context(), where))(t)
	defer admin.Close(context.Background())
	script := must.Read(t, "testdata/"+tables)
	must.Have(admin.Exec(t.Context(), string(script)+`
		DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'asker') THEN CREATE ROLE asker LOGIN; END IF; END $$;
		GRANT SELECT ON ALL TABLES IN SCHEMA public TO asker`))(t)
	s := newSet(t, where, func(c *Config) {
		c.Connections = map[string]string{"shop": strings.Replace(where, "postgres@", "asker@", 1)}
	})
	text := must.Read(t, "testdata/"+list)
	for line := range strings.Lines(string(text)) {
		line, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if !ok {
			continue
		}
		d, what := toolboxTool(t, line)
		if what != "" {
			t.Logf("%s: %s cannot be said", d.Name, what)
			lost = append(lost, what)
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
	t.Logf("%d of %d", made, made+len(lost))
	return made, lost
}
