package ollama

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/valyala/fastjson"

	"toolnorm/internal/fault"
	"toolnorm/proxy/field"
	"toolnorm/proxy/form"
)

// ask is a chat with a tool.
func ask(more string) string {
	return `{"model":"m","messages":[{"role":"user","content":"q"}],"tools":[{"type":"function","function":{"name":"f"}}]` + more + `}`
}

// parseChat parses a body and reads it as a chat.
func parseChat(body []byte) (ask *form.Ask, err error) {
	err = field.Parse(body, func(v *fastjson.Value) error {
		ask, err = readChat(v)
		return err
	})
	return ask, err
}

func FuzzRequestIsReadOrRefused(f *testing.F) {
	f.Add([]byte(ask(`,"options":{"stop":"a","x":{"y":1}},"keep_alive":"5m","format":{"type":"object"},"think":true`)))
	f.Add([]byte(`{"model":"m","messages":[{"role":"user","images":["AQI="]},{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":{"a":"\\\n"}}}]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		a, err := parseChat(body)
		if err != nil {
			if f := fault.From(err); f.Kind != fault.Invalid || f.Message == "" {
				t.Fatalf("error %v is no fault of the request", err)
			}
			return
		}
		kept := append(slices.Collect(maps.Values(a.Options)), a.Format, a.Keep)
		for _, m := range a.Messages {
			for _, c := range m.Calls {
				kept = append(kept, c.Args)
			}
		}
		for _, raw := range kept {
			if raw != nil && !json.Valid(raw) {
				t.Errorf("%q was kept as JSON, and is none", raw)
			}
		}
	})
}

// What Ollama would refuse in words of its own, or take for nothing, is refused by the name of the
// field. Its own words for "no limit" stay what they are.
func TestOptionsOfAWrongKindAreNamed(t *testing.T) {
	for more, want := range map[string]string{
		`,"options":{"temperature":"hot"}`: "options.temperature: must be a number, not a string",
		`,"options":{"top_k":"5"}`:         "options.top_k: must be a whole number, not a string",
		`,"options":{"seed":true}`:         "options.seed: must be a whole number, not true or false",
		`,"options":{"stop":[1]}`:          "options.stop[0]: must be a string, not a number",
		`,"options":{"use_mmap":"yes"}`:    "options.use_mmap: must be true or false, not a string",
		`,"options":5`:                     "options: must be an object, not a number",
		`,"format":"xml"`:                  `format: must be "json" or a JSON Schema, an object`,
		`,"format":5`:                      `format: must be "json" or a JSON Schema, an object`,
		`,"options":{"num_predict":-1,"top_k":5.0,"own":"x","seed":null,"stop":null},"format":"json"`: "",
		`,"format":{"type":"object"}`: "",
	} {
		_, err := parseChat([]byte(ask(more)))
		if got := ""; err != nil || want != "" {
			if got = err.Error(); got != want {
				t.Errorf("%s: %s, want %s", more, got, want)
			}
		}
	}
}

// TestTheVersionIsThatOfTheClientLibrary keeps the version of the API with the library that speaks
// it.
func TestTheVersionIsThatOfTheClientLibrary(t *testing.T) {
	mod, err := os.ReadFile("../../../go.mod")
	if err != nil || !strings.Contains(string(mod), "github.com/ollama/ollama v"+apiVersion+"\n") {
		t.Errorf("go.mod does not have the client of version %s: %v", apiVersion, err)
	}
}
