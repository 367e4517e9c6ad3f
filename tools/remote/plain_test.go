package remote

import (
	"io"
	"strings"
	"testing"
)

// TestMessagesThatWouldBeDroppedAreRead has each line of a server read as mcp-go can read it. What
// mcp-go reads, and what is no message, passes byte for byte.
func TestMessagesThatWouldBeDroppedAreRead(t *testing.T) {
	const good = `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`
	for text, want := range map[string]string{
		good:                 good,
		"  " + good + "\r":   "  " + good + "\r",
		"Listening on stdio": "Listening on stdio",
		`{"level":"info"`:    `{"level":"info"`,
		"\uFEFF" + good:      good,
		"50% done.. " + good: good,
		`{"id":1,"result":[NaN,-Infinity,Infinity,"NaN",1.0]}`:                  `{"id":1,"result":[null,null,null,"NaN",1.0]}`,
		`{"id":1,"error":{"code":-32602,"message":"no","data":[1]}}`:            `{"id":1,"error":{"code":-32602,"message":"no","data":[1]}}`,
		`{"id":1,"error":"no"}`:                                                 `{"id":1,"error":"no"}`,
		`{"id":1,"error":{"code":"ENOENT","message":"no file","data":{"p":1}}}`: `{"id":1,"error":{"code":-32603,"message":"no file (ENOENT)","data":{"p":1}}}`,
		`{"id":1,"error":{"code":-32000.0,"message":"no"}}`:                     `{"id":1,"error":{"code":-32000,"message":"no"}}`,
		`{"id":1,"error":{"code":1,"message":{"why":"x"}}}`:                     `{"id":1,"error":{"code":1,"message":"{\"why\":\"x\"}"}}`,
		`{"id":1,"error":{"code":1}}`:                                           `{"id":1,"error":{"code":1,"message":"it gives no reason"}}`,
		`{"id":1,"error":[1]}`:                                                  `{"id":1,"error":{"code":-32603,"message":"[1]"}}`,
		`{"id":1,"result":{"error":7}}`:                                         `{"id":1,"result":{"error":7}}`,
		`{"id":1,"error":null,"result":{}}`:                                     `{"id":1,"error":null,"result":{}}`,
		"[" + good + "]":                                                        good,
		"[" + good + "," + good + "]":                                           "[" + good + "," + good + "]",
		`{"id":1.0,"result":{"id":2.0}}`:                                        `{"id":1,"result":{"id":2.0}}`,
		`{"id":1.5,"result":{}}`:                                                `{"id":1.5,"result":{}}`,
	} {
		for _, form := range []struct {
			unit          unit
			before, after string
		}{{oneLine, "", "\n"}, {oneEvent, "data:", "\n"}, {wholeBody, "", ""}} {
			in := form.before + text + form.after
			got, err := io.ReadAll(newPlainer(iotest(in), form.unit))
			if err != nil || strings.TrimRight(string(got), "\n") != form.before+want {
				t.Errorf("%q became %q, want %q: %v", in, got, want, err)
			}
		}
	}
	events := "event: message\r\ndata: " + good + "\r\n\r\n: ping\n\ndata: {\ndata: }\n\ndata"
	if got, _ := io.ReadAll(newPlainer(iotest(events), oneEvent)); string(got) != events {
		t.Errorf("%q became %q", events, got)
	}
}

// iotest is a reader that returns a few bytes at a time.
func iotest(text string) io.Reader {
	var all []io.Reader
	for len(text) > 0 {
		n := min(7, len(text))
		all, text = append(all, strings.NewReader(text[:n])), text[n:]
	}
	return io.MultiReader(all...)
}
