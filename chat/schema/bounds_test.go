package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"toolnorm/chat"
	"toolnorm/internal/test/heavy"
)

// TestSchemasThatGrowCostLittle reads schemas whose unions multiply: each level names the next one
// many times.
func TestSchemasThatGrowCostLittle(t *testing.T) {
	for _, join := range []string{"anyOf", "allOf", "oneOf"} {
		var b strings.Builder
		b.WriteString(`{"properties":{"x":{"$ref":"#/$defs/a0"}},"$defs":{`)
		for level := range 20 {
			var alts []string
			for i := range 20 {
				alts = append(alts, fmt.Sprintf(`{"$ref":"#/$defs/a%d","minLength":%d}`, level+1, i))
			}
			fmt.Fprintf(&b, `"a%d":{"%s":[%s]},`, level, join, strings.Join(alts, ","))
		}
		b.WriteString(`"a20":{"enum":["p","q"],"properties":{"x":{"$ref":"#/$defs/a0"}}}}}`)
		start := time.Now()
		typ := Compile(json.RawMessage(b.String()))
		for range 5 {
			typ = typ.Prop("x")
		}
		_, _ = typ.Members(), typ.Item()
		c := ConstrainCalls([]chat.Tool{{Name: "f", Schema: json.RawMessage(b.String())}}, Options{Stands: standingOf(parse([]byte(`{"x":{"x":{"+":0},"+":0},"+":0}`)))})
		if d := time.Since(start); d > 5*time.Second || !json.Valid(c.Schema) || len(c.Schema) > maxWritten {
			t.Errorf("%s: %v for %d bytes", join, d, len(c.Schema))
		}
	}
}

// TestALimitWithALargeExponentCostsLittle has limits that are a million digits when they are
// written out.
func TestALimitWithALargeExponentCostsLittle(t *testing.T) {
	raw := json.RawMessage(`{"anyOf":[` + strings.TrimSuffix(strings.Repeat(`{"type":"integer","minimum":1e999999,"maximum":1E-999999},`, 100), ",") + `]}`)
	var c Constraint
	if n := heavy.Allocated(func() { c = ConstrainCalls([]chat.Tool{{Schema: raw}}, Options{}) }); n > 1<<20 || len(c.Dropped) == 0 {
		t.Errorf("%d bytes are allocated for %d limits, dropped %v", n, 200, c.Dropped)
	}
}

// TestEqualAlternativesCostLittle has a member that may be the whole once more, in three ways that
// are the same: a few places that were met six times as often with each level, until the level
// ended.
func TestEqualAlternativesCostLittle(t *testing.T) {
	raw := json.RawMessage(`{"type":"object","properties":{"k":{"type":"object","anyOf":[{"$ref":"#"},{"title":"x"}],"oneOf":[{"title":"a"},{"title":"b"},{"title":"c"}]}}}`)
	var c Constraint
	if n := heavy.Allocated(func() { c = ConstrainCalls([]chat.Tool{{Schema: raw}}, Options{}) }); n > 64<<20 || !json.Valid(c.Schema) {
		t.Errorf("%d bytes are allocated for a constraint of %d", n, len(c.Schema))
	}
}
