package remote

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// goodParts are content that every client of MCP reads; %s is where members stand that a server may
// add.
var goodParts = []string{
	`{"type":"text","text":""%s}`, `{"type":"text","text":"한 번\u0000"%s}`, `{"type":"image","data":"AAAA","mimeType":"image/png"%s}`,
	`{"type":"audio","data":"","mimeType":"audio/wav"%s}`, `{"type":"resource","resource":{"uri":"a:b","text":""%[1]s}%[1]s}`,
	`{"type":"resource","resource":{"uri":"a:b","blob":"AA=="}%s}`, `{"type":"resource_link","uri":"a:b","name":"n"%s}`,
}

// oddParts are content that some client refuses, with the whole result.
var oddParts = []string{
	`"a text alone"`, `null`, `7`, `[]`, `{}`, `{"type":"text"}`, `{"type":"text","text":7}`, `{"type":"text","text":null}`, `{"type":"video","data":"AAAA"}`,
	`{"type":"image","data":"not base64!","mimeType":"image/png"}`, `{"type":"image","data":"AAAA"}`, `{"type":"image","mimeType":"image/png"}`,
	`{"type":"resource"}`, `{"type":"resource","resource":"a:b"}`, `{"type":"resource","resource":{"text":"no uri"}}`, `{"type":"resource","resource":{"uri":"a:b"}}`,
	`{"type":"text","text":"x","annotations":null}`, `{"type":"resource","resource":{"uri":"a:b","text":"","mimeType":null}}`, `{"type":"resource_link","uri":"a:b"}`, `{"type":"resource_link","name":"n"}`, `{"type":7,"text":"x"}`,
}

// added are members that mean nothing to this program and something to a client.
var added = []string{``, `,"annotations":{"audience":["user"],"priority":0.3}`, `,"_meta":{"x/y":12345678901234567890}`, `,"title":"t","size":3,"icons":[{"src":"https://a.example/i.png"}]`}

// TestWhatIsProperPassesAsItIs has results of good parts pass byte for byte, and lets none with one
// odd part pass that way: what of it can be read is passed on all the same.
func TestWhatIsProperPassesAsItIs(t *testing.T) {
	for _, seed := range laneSeeds() {
		r := rand.New(rand.NewPCG(seed, 35))
		for range 400 {
			var parts []string
			for range r.IntN(4) {
				parts = append(parts, strings.ReplaceAll(strings.ReplaceAll(goodParts[r.IntN(len(goodParts))], "%[1]s", "%s"), "%s", added[r.IntN(len(added))]))
			}
			odd := r.IntN(2) == 0
			if odd {
				parts = append(parts, oddParts[r.IntN(len(oddParts))])
				r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
			}
			text := fmt.Sprintf(`{"content":[%s]%s%s}`, strings.Join(parts, ", "), []string{``, `,"isError":true`, `,"structuredContent":{"n":1.0}`}[r.IntN(3)], added[r.IntN(len(added))])
			got, err := result(json.RawMessage(text))
			switch {
			case err != nil:
				t.Fatalf("seed %d: %s: %v", seed, text, err)
			case odd == (got.Raw != nil):
				t.Fatalf("seed %d: odd %v, and passed as it is: %v\n%s", seed, odd, got.Raw != nil, text)
			case got.Raw != nil && string(got.Raw) != text:
				t.Fatalf("seed %d: %s became %s", seed, text, got.Raw)
			case len(got.Content) < len(parts)-1:
				t.Fatalf("seed %d: %d of %d parts are left of %s", seed, len(got.Content), len(parts), text)
			}
		}
	}
}
