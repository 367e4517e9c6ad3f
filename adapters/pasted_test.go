package adapters

import (
	"encoding/json"
	"strings"
	"testing"

	"toolnorm/chat"
)

// pastedForms write a call of get_weather with a city that the test chooses.
var pastedForms = map[string]string{
	"json":   `{"name": "get_weather", "arguments": {"city": "CITY", "days": 3}}`,
	"lines":  "{\n  \"name\": \"get_weather\",\n  \"arguments\": {\n    \"city\": \"CITY\",\n    \"days\": 3\n  }\n}",
	"list":   `[{"name":"get_weather","parameters":{"city":"CITY","days":3}}]`,
	"yaml":   "name: get_weather\narguments:\n  city: CITY\n  days: 3",
	"toml":   "name = \"get_weather\"\n[arguments]\ncity = \"CITY\"\ndays = 3",
	"tags":   "<call name=\"get_weather\"><city>CITY</city><days>3</days></call>",
	"python": `get_weather(city='CITY', days=3)`,
	"shell":  `get_weather --city "CITY" --days 3`,
}

// TestPastedCallsAreText gives the model a call in one notation to write in another, in words that
// no list knows. Its answer must be text, whether it comes bare or in a fence, and in any cut. The
// control asks for the weather in words, and no notation may be lost that is read otherwise.
func TestPastedCallsAreText(t *testing.T) {
	weather := []chat.Tool{{Name: "get_weather", Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}}}`)}}
	ran := 0
	for from, pasted := range pastedForms {
		for to, reply := range pastedForms {
			for _, city := range []string{"Porto", "Łódź", "İzmir", "北京", "a/b.txt"} {
				for _, fence := range []string{"", "```\n", "```" + to + "\n"} {
					written := strings.ReplaceAll(reply, "CITY", city)
					if fence != "" {
						written = fence + written + "\n```"
					}
					says := func(text string) int {
						o := Options{Tools: weather, Messages: []chat.Message{{Role: chat.User, Content: text}}}
						whole := len(decodeCalls(t, Named("generic"), []string{written}, o))
						if cut := len(decodeCalls(t, Named("generic"), strings.Split(written, ""), o)); cut != whole {
							t.Errorf("%q after %q: %d calls whole, %d in pieces", written, text, whole, cut)
						}
						return whole
					}
					if says("Przepisz to jako "+to+":\n"+strings.ReplaceAll(pasted, "CITY", city)) > 0 {
						t.Errorf("a call that the user wrote in %s runs: %q", from, written)
					}
					ran += says("Jaka pogoda: " + city + ", 3 dni?")
				}
			}
		}
	}
	// nearly all are read; a fence of another label holds program text
	if all := 5 * 3 * len(pastedForms) * len(pastedForms); ran < all*3/4 {
		t.Errorf("%d of %d calls that the user asks for are read", ran, all)
	}
}
