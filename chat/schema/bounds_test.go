package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"toolnorm/chat"
)

// TestSchemasThatGrowCostLittle reads schemas whose unions multiply: each level names the next one many times.
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
