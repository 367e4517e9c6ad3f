package admin

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"toolnorm/internal/family"
	"toolnorm/internal/replay"
	"toolnorm/internal/sqlsafe"
	"toolnorm/internal/test/must"
	"toolnorm/internal/trace"
	"toolnorm/internal/usage"
	"toolnorm/tools/dynamic"
	"toolnorm/tools/kb"
	"toolnorm/tools/kb/kbstore"
	"toolnorm/tools/remote"
)

// typesFile has the types of the page, which are written from the structs of the server.
const typesFile = "web/src/types.ts"

// pageTypes are the structs of the server by the names that the page has for them. Those that
// openapi.yaml describes under another name have it in schema.
var pageTypes = []struct {
	name   string
	of     any
	schema string
}{
	{name: "Call", of: trace.Call{}},
	{name: "Exchange", of: trace.Exchange{}},
	{name: "Part", of: trace.Part{}},
	{name: "Side", of: trace.Side{}},
	{name: "Generation", of: trace.Generation{}},
	{name: "Said", of: trace.Said{}},
	{name: "Message", of: trace.Message{}},
	{name: "Bodies", of: trace.Bodies{}},
	{name: "Reason", of: meaning{}},
	{name: "Running", of: trace.Row{}},
	{name: "Exchanges", of: exchanges{}},
	{name: "Replica", of: state{}},
	{name: "Followed", of: followed{}},
	{name: "Found", of: found{}},
	{name: "UsageRow", of: usage.Row{}},
	{name: "Usage", of: used{}},
	{name: "Grown", of: trace.Grown{}},
	{name: "Change", of: change{}},
	{name: "ReadCall", of: replay.Call{}},
	{name: "Reading", of: replay.Reading{}, schema: "Reading"},
	{name: "Stretch", of: family.Stretch{}, schema: "Stretch"},
	{name: "Proposal", of: proposal{}},
	{name: "ExchangeView", of: exchange{}},
	{name: "Param", of: dynamic.Param{}, schema: "Param"},
	{name: "Options", of: dynamic.Options{}, schema: "Options"},
	{name: "Example", of: dynamic.Example{}, schema: "Example"},
	{name: "Verdict", of: dynamic.Verdict{}, schema: "Verdict"},
	{name: "SetDraft", of: dynamic.GroupDraft{}, schema: "SetDraft"},
	{name: "ToolSet", of: dynamic.Group{}, schema: "ToolSet"},
	{name: "SetChoice", of: choice{}},
	{name: "Draft", of: dynamic.Draft{}, schema: "Draft"},
	{name: "CustomTool", of: dynamic.Tool{}, schema: "Tool"},
	{name: "Version", of: dynamic.Version{}, schema: "Version"},
	{name: "Finding", of: dynamic.Problem{}, schema: "Problem"},
	{name: "Report", of: dynamic.Report{}, schema: "Report"},
	{name: "ResultPart", of: part{}},
	{name: "Result", of: shown{}},
	{name: "Trial", of: trial{}, schema: "Trial"},
	{name: "Column", of: sqlsafe.Column{}},
	{name: "Relation", of: sqlsafe.Relation{}},
	{name: "Connection", of: dynamic.Connection{}, schema: "Connection"},
	{name: "Model", of: listedModel{}},
	{name: "Findings", of: findings{}},
	{name: "LeftOut", of: remote.LeftOut{}},
	{name: "Server", of: remote.State{}},
	{name: "RegistryTool", of: offered{}},
	{name: "ToolResult", of: toolResult{}},
	{name: "Statistics", of: statistics{}},
	{name: "KnowledgeBase", of: shownBase{}, schema: "KnowledgeBase"},
	{name: "Collection", of: kbstore.Collection{}},
	{name: "Document", of: kbstore.Document{}, schema: "Document"},
	{name: "Odd", of: kbstore.Odd{}},
	{name: "WholeBase", of: wholeBase{}},
	{name: "Imported", of: kb.Imported{}, schema: "ImportedFile"},
}

// narrower are fields of which the page knows more than their type in Go says.
var narrower = map[string]string{
	"Options.result":        "'auto' | 'rows' | 'one' | 'value'",
	"Options.format":        "'json' | 'text'",
	"Draft.tool_type":       "'SQL' | 'PYTHON'",
	"CustomTool.tool_type":  "'SQL' | 'PYTHON'",
	"Finding.severity":      "'error' | 'warning'",
	"Connection.kind":       "'sqlite' | 'postgres'",
	"Server.state":          "'ready' | 'waiting' | 'down' | 'disabled' | 'invalid'",
	"Imported.status":       "'imported' | 'unchanged' | 'failed'",
	"Document.departments":  "string[] | null",
	"Trial.limits_hit":      "string[] | null",
	"Followed.reasons":      "Record<string, Reason> | null",
	"ExchangeView.exchange": "Exchange",
	"ExchangeView.readings": "(Reading | null)[]",
	// A tool that is kept has one; a draft has one when it is an edited tool's.
	"CustomTool.version": "number",
}

// jsonField is a field of a struct as encoding/json writes it.
type jsonField struct {
	name     string
	optional bool
	of       reflect.Type
}

// fieldsOf lists the fields of a struct, those of embedded ones in their place. Of two with one
// name the outer one counts.
func fieldsOf(t reflect.Type) (all []jsonField) {
	for f := range t.Fields() {
		name, options, tagged := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			for _, inner := range fieldsOf(f.Type) {
				if !slices.ContainsFunc(all, func(a jsonField) bool { return a.name == inner.name }) {
					all = append(all, inner)
				}
			}
		case f.IsExported() && name != "-" && name != "":
			all = slices.DeleteFunc(all, func(a jsonField) bool { return a.name == name })
			optional := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
			all = append(all, jsonField{name, tagged && optional, f.Type})
		}
	}
	return all
}

// typescript returns how TypeScript writes a type.
func typescript(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return "string"
	case t == reflect.TypeFor[json.RawMessage](), t == reflect.TypeFor[dynamic.Value]():
		return "unknown"
	}
	switch t.Kind() {
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Pointer:
		return typescript(t.Elem())
	case reflect.Slice:
		return typescript(t.Elem()) + "[]"
	case reflect.Map:
		return "Record<string, " + typescript(t.Elem()) + ">"
	case reflect.Struct:
		for _, p := range pageTypes {
			if reflect.TypeOf(p.of) == t {
				return p.name
			}
		}
		return "a struct that pageTypes lacks: " + t.String()
	}
	return "number"
}

// TestTheTypesOfThePageAreTheServers writes the page's types from the structs, so that a field
// which is renamed here is an error of the page's compiler. -update writes the file.
func TestTheTypesOfThePageAreTheServers(t *testing.T) {
	var out strings.Builder
	out.WriteString("// The shapes of what the server answers. Written by: go test ./admin -run TypesOfThePage -update\n")
	for _, p := range pageTypes {
		fmt.Fprintf(&out, "\nexport interface %s {\n", p.name)
		for _, f := range fieldsOf(reflect.TypeOf(p.of)) {
			is, mark := typescript(f.of), ""
			if more, ok := narrower[p.name+"."+f.name]; ok {
				is = more
			}
			if f.optional && p.name+"."+f.name != "CustomTool.version" {
				mark = "?"
			}
			fmt.Fprintf(&out, "  %s%s: %s;\n", f.name, mark, is)
		}
		out.WriteString("}\n")
	}
	must.Match(t, typesFile, out.String())
}

// TestTheDocumentHasTheFieldsOfTheServer compares the fields of openapi.yaml's schemas with those
// of the structs.
func TestTheDocumentHasTheFieldsOfTheServer(t *testing.T) {
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]any
				Required   []string
			}
		}
	}
	must.OK(t, yaml.Unmarshal(document, &doc))
	for _, p := range pageTypes {
		if p.schema == "" {
			continue
		}
		described := doc.Components.Schemas[p.schema]
		for _, f := range fieldsOf(reflect.TypeOf(p.of)) {
			if _, ok := described.Properties[f.name]; !ok {
				t.Errorf("schema %s of openapi.yaml has no %q", p.schema, f.name)
			}
			delete(described.Properties, f.name)
		}
		for name := range described.Properties {
			t.Errorf("schema %s of openapi.yaml has %q, and the server has no such field", p.schema, name)
		}
	}
}
