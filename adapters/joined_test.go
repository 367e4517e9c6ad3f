package adapters

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/golden"
	"toolnorm/internal/test/heavy"
)

// joined are schemas of an object whose n members stand each in a part of its own, in all the
// ways in which parts are joined.
var joined = map[string]func(parts []string) string{
	"allOf": func(parts []string) string { return `{"allOf":[` + strings.Join(parts, ",") + `]}` },
	"anyOf": func(parts []string) string { return `{"anyOf":[` + strings.Join(parts, ",") + `]}` },
	"oneOf": func(parts []string) string { return `{"type":"object","oneOf":[` + strings.Join(parts, ",") + `]}` },
	"references": func(parts []string) string {
		var defs, refs []string
		for i, p := range parts {
			defs = append(defs, fmt.Sprintf(`"d%d":%s`, i, p))
			refs = append(refs, fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i))
		}
		return `{"$defs":{` + strings.Join(defs, ",") + `},"allOf":[` + strings.Join(refs, ",") + `]}`
	},
	"by twos": func(parts []string) string {
		for len(parts) > 1 {
			var half []string
			for i := 0; i+1 < len(parts); i += 2 {
				half = append(half, `{"allOf":[`+parts[i]+","+parts[i+1]+`]}`)
			}
			parts = append(half, parts[len(parts)-len(parts)%2:]...)
		}
		return parts[0]
	},
	"objects inside": func(parts []string) string {
		for i, p := range parts {
			parts[i] = strings.ReplaceAll(p, `{"type":"string"}`, `{"type":["string","object"],"properties":{"b":{}}}`)
		}
		return `{"allOf":[` + strings.Join(parts, ",") + `]}`
	},
}

// TestACallOfJoinedObjectsIsReadInProportion reads a call with every member, and one whose keys
// no part knows. Four times as many members may take about four times the work.
func TestACallOfJoinedObjectsIsReadInProportion(t *testing.T) {
	for name, join := range joined {
		for _, key := range []string{"a", "z"} {
			for _, family := range []string{"hermes", "qwen3-coder", "generic"} {
				read := func(n int) uint64 {
					var parts, args []string
					for i := range n {
						parts = append(parts, fmt.Sprintf(`{"type":"object","properties":{"a%d":{"type":"string"}}}`, i))
						args = append(args, fmt.Sprintf(`"%s%d":"x"`, key, i))
					}
					schema := `{"type":"object","properties":{"x":` + join(parts) + `}}`
					if family == "qwen3-coder" {
						schema = join(parts)
					}
					o := Options{Tools: []chat.Tool{{Name: "f", Schema: json.RawMessage(schema)}}}
					given := `{` + strings.Join(args, ",") + `}`
					if family != "qwen3-coder" {
						given = `{"x":` + given + `}`
					}
					f := Named(family)
					text := string(Named(map[bool]string{true: "qwen3-coder", false: "hermes"}[family == "qwen3-coder"]).Append(nil, chat.Call{Name: "f", Args: json.RawMessage(given)}))
					return heavy.Allocated(func() {
						got, err := golden.Transcript(f.Decode(golden.Source([]string{text}, chat.Stop), o))
						if err != nil || key == "a" && !strings.Contains(got, fmt.Sprintf(`a%d`, n-1)) {
							t.Errorf("%s, %s, %d members: %.200s, %v", name, family, n, got, err)
						}
					})
				}
				read(125) // what is computed once
				if small, large := read(125), read(500); large > 7*small {
					t.Errorf("%s, %s, keys %s: %d bytes are allocated for 125 members, %d for 500", name, family, key, small, large)
				}
			}
		}
	}
}
