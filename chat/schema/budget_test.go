package schema_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/chat/schema"
	"toolnorm/internal/test/heavy"
)

// beyond is a size at which each heavy schema is refused, and what the error must name.
var beyond = map[string]struct {
	n    int
	says string
}{
	"allOf": {300_000, "bytes"}, "anyOf": {300_000, "bytes"}, "enum": {1_000_000, "bytes"}, "properties": {200_000, "bytes"},
	"variants": {1001, "1000 elements in one list"}, "joined": {1001, "1000 elements in one list"}, "required": {2001, "2000 members"}, "deep": {65, "128 levels"}, "deep unions": {64, "128 levels"},
	"long pattern": {683, "4096 bytes in a pattern"}, "many patterns": {30, "steps of patterns"}, "patterns of names": {30, "steps of patterns"},
	"folded classes": {9, "bytes of patterns"}, "laughs of properties": {1700, "values"}, "laughs of anyOf": {2000, "2000 members"}, "laughs of allOf": {2000, "2000 members"},
	"laughs of items": {2000, "2000 members"}, "shared enum": {5001, "5000 values in an enum"}, "nots": {2000, "2000 members"},
}

func TestHeavySchemasAreRefusedByName(t *testing.T) {
	for name, make := range heavy.Schemas {
		limit, ok := beyond[name]
		if !ok {
			t.Errorf("%s: no size is said to be too much", name)
			continue
		}
		tools := []chat.Tool{{Name: "fine"}, {Name: "heavy_one", Schema: make(limit.n)}}
		var excess *schema.Excess
		if err := schema.Affordable(tools, nil); !errors.As(err, &excess) {
			t.Errorf("%s of %d: %v, want it refused", name, limit.n, err)
		} else if excess.Param != "tools[1].function.parameters" || !strings.Contains(excess.Error(), `"heavy_one"`) || !strings.Contains(excess.Error(), limit.says) {
			t.Errorf("%s of %d: at %s: %v, want it to say %q", name, limit.n, excess.Param, excess, limit.says)
		}
		if err := schema.Affordable(nil, make(limit.n)); !errors.As(err, &excess) || excess.Param != "response_format" {
			t.Errorf("%s as the answer's form: %v", name, err)
		}
		if err := schema.Affordable([]chat.Tool{{Name: "small", Schema: make(3)}}, make(3)); err != nil {
			t.Errorf("%s of 3: %v", name, err)
		}
	}
}

func TestManySmallToolsAreAffordable(t *testing.T) {
	tools := make([]chat.Tool, 10_000)
	for i := range tools {
		tools[i] = chat.Tool{Name: "f", Schema: json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"required":["a"]}`)}
	}
	if err := schema.Affordable(tools, nil); err != nil {
		t.Error(err)
	}
	tools[1].Description = strings.Repeat("d", 300_000)
	var excess *schema.Excess
	if err := schema.Affordable(tools, nil); !errors.As(err, &excess) || excess.Param != "tools[1].function.description" {
		t.Errorf("a description of 300 KB: %v", err)
	}
	tools[1].Description = ""
	for name, one := range map[string]json.RawMessage{
		"values":   heavy.Schemas["properties"](1900),
		"bytes":    json.RawMessage(`{"description":"` + strings.Repeat("d", 200_000) + `"}`),
		"patterns": json.RawMessage(`{"pattern":"` + strings.Repeat("abc", 1000) + `"}`),
		"steps":    json.RawMessage(`{"pattern":"(\\p{L}|\\p{N}){1,900}"}`),
	} {
		for i := range tools[:100] {
			tools[i].Schema = one
		}
		if err := schema.Affordable(tools[:100], nil); err == nil || !strings.Contains(err.Error(), "together") || !strings.Contains(err.Error(), name) {
			t.Errorf("a hundred tools with many %s: %v", name, err)
		}
	}
}

// TestReadingASchemaGrowsWithIt reads each heavy schema in a small and a larger size, up to the
// budget: four times the size may take about four times the work, not sixteen.
func TestReadingASchemaGrowsWithIt(t *testing.T) {
	sizes := map[string]int{"long pattern": 150, "many patterns": 3, "patterns of names": 3, "folded classes": 2, "deep": 15, "deep unions": 15}
	work := func(raw json.RawMessage) uint64 {
		return heavy.Allocated(func() {
			_ = schema.Affordable([]chat.Tool{{Schema: raw}}, nil)
			typ := schema.Compile(raw)
			for _, name := range typ.Members() {
				typ.Prop(name)
			}
			typ.Has("a")
			typ.Required()
			schema.ConstrainCalls([]chat.Tool{{Schema: raw}}, schema.Options{})
		})
	}
	for name, make := range heavy.Schemas {
		n := sizes[name]
		if n == 0 {
			n = 200
		}
		work(make(n)) // what is computed once
		small, large := work(make(n)), work(make(4*n))
		if large > 8*small+1<<16 {
			t.Errorf("%s: %d bytes are allocated for a size of %d, %d for four times that", name, small, n, large)
		}
	}
}

func TestWhatIsBehindTheBoundOfAWalkCostsNothing(t *testing.T) {
	has := func(n int) uint64 {
		typ := schema.Compile(heavy.Schemas["allOf"](n))
		return heavy.Allocated(func() { typ.Has("a") })
	}
	if few, many := has(1000), has(50_000); many > 2*few {
		t.Errorf("%d bytes are allocated to walk 1000 entries, %d to walk 50000", few, many)
	}
}
