package mcpserver

import (
	"encoding/json"
	"strings"
	"testing"

	"toolnorm/tools"
)

// TestAToolThatAsksIsNotCalledReading holds that clients ask before a tool with Confirm: they hear
// no hint that it only reads.
func TestAToolThatAsksIsNotCalledReading(t *testing.T) {
	yes, no := true, false
	for _, confirm := range []bool{false, true} {
		tool := tools.Tool{Name: "a", Hints: tools.Hints{ReadOnly: &yes, Destructive: &no}, Confirm: confirm, More: json.RawMessage(`{"annotations":{"readOnlyHint":true},"icons":[]}`)}
		text := string(encode(describe(tool)))
		if strings.Contains(text, "readOnlyHint") == confirm || strings.Contains(text, "destructiveHint") == confirm {
			t.Errorf("confirm %v: %s", confirm, text)
		}
		if more := string(unhinted(tool)); strings.Contains(more, "readOnlyHint") == confirm || !strings.Contains(more, "icons") {
			t.Errorf("confirm %v: %s", confirm, more)
		}
	}
}
