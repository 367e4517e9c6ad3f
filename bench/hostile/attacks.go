package hostile

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"toolnorm/bench/fake"
)

// attack is one hostile request, or many small ones. Its function send returns an error if the
// server did not behave, for example if it did not answer. The cost is measured around the call of
// send.
type attack struct {
	name     string
	settings []string      // of the server
	peak     int64         // limit of memory, in bytes; 0: MaxPeak
	cpu      time.Duration // 0: MaxCPU
	send     func(t *target) error
}

// attacks returns all attacks. Schemas are sent to two models: the demo model, which needs no
// server, and a model of the fake server, whose reply is a call that has to be checked.
func attacks() (all []attack) {
	for _, m := range schemas() {
		all = append(all, m.with("demo/hermes", `Use write_file with \"x\".`),
			m.with(fake.Model, `{\"Call\":true,\"Bytes\":400}`))
	}
	for _, list := range [][]attack{ollamas(), bodies(), largest(), crowds(), connections(),
		mcpMessages()} {
		all = append(all, list...)
	}
	return all
}

// wantAnswer returns an error if a request got no answer or the status 500. Any other status is
// fine, even 400. A 500 is a fault that the program did not expect. It also returns nil if the
// client lost its patience, or if the server closed the connection while the request was still
// being sent.
func wantAnswer(a *answer, err error) error {
	switch {
	// a reply that goes on, a request that is not read to its end
	case errors.Is(err, errLeft), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return nil
	case err != nil:
		return err
	case a.status == 500:
		return fmt.Errorf("status 500: %.200s", a.body)
	}
	return nil
}

// one returns an attack by one request.
func one(name, path, body string, header ...string) attack {
	return attack{name: name, send: func(t *target) error {
		return wantAnswer(t.post(path, body, header...))
	}}
}

// many returns n copies of the text piece with commas between them. A %d in the text becomes the
// number of the copy.
func many(n int, piece string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strings.ReplaceAll(piece, "%d", fmt.Sprint(i)))
	}
	return b.String()
}

// messages returns a chat request to the demo model in OpenAI's form, with the given messages
// before the last one.
func messages(list string) string {
	return `{"model":"demo/hermes","messages":[` + list + `,{"role":"user","content":"Hi"}]}`
}

// bodies returns attacks by the body of a request, apart from those by schemas. One body is larger
// than 20 MiB, the limit, and must be refused. All others are below the limit.
func bodies() []attack {
	const path = "/v1/chat/completions"
	image := base64.StdEncoding.EncodeToString(make([]byte, 14<<20))
	return []attack{
		one("100,000 open brackets", path, strings.Repeat("[", 100_000)),
		one("100,000 open braces", path, strings.Repeat(`{"a":`, 100_000)),
		one("content 5,000 levels deep", path, messages(`{"role":"user","content":`+strings.Repeat(
			"[", 5000)+strings.Repeat("]", 5000)+`}`)),
		one("50,000 messages", path, messages(many(50_000, `{"role":"user","content":"x"}`))),
		one("40,000 results of tools", path,
			messages(many(40_000, `{"role":"tool","tool_call_id":"a%d","content":"x"}`))),
		one("20,000 calls in one message", path, messages(`{"role":"assistant","tool_calls":[`+
			many(20_000, `{"id":"a%d","type":"function","function":{"name":"f","arguments":"{}"}}`)+
			`]}`)),
		one("20,000 parts in one message", path, messages(`{"role":"user","content":[`+
			many(20_000, `{"type":"text","text":"x"}`)+`]}`)),
		one("1 MB of broken arguments", path, messages(
			`{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"`+strings.Repeat(`{\"a\":[`, 130_000)+`"}}]},{"role":"tool","tool_call_id":"a","content":"x"}`)),
		one("an image of 14 MB", path, messages(
			`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,`+image+`"}}]}`)),
		one("4 MB of opening marks", path, messages(`{"role":"system","content":"`+strings.Repeat(
			"<tool_call>", 400_000)+`"}`)),
		one("4 MB of Void's tags", path, messages(`{"role":"system","content":"`+strings.Repeat(
			"<run_command><command>", 200_000)+`"}`), "Toolnorm-Client-Form", "void"),
		one("3 MB of lone surrogates", path, messages(`{"role":"system","content":"`+strings.Repeat(
			`\ud800`, 500_000)+`"}`)),
		one("one key 500,000 times", path, `{`+many(500_000, `"model":"demo/hermes"`)+`}`),
		one("500,000 unknown keys", path, `{`+many(500_000, `"k%d":1`)+`}`),
		one("500,000 stop sequences", path,
			`{"model":"demo/hermes","messages":[{"role":"user","content":"Hi"}],"stop":[`+
				many(500_000, `"s%d"`)+`]}`),
		one("a model's name of 5 MB", path, `{"model":"`+strings.Repeat("m", 5<<20)+
			`","messages":[{"role":"user","content":"Hi"}]}`),
		one("a number of 5 MB", path,
			`{"model":"demo/hermes","messages":[{"role":"user","content":"Hi"}],"max_tokens":`+
				strings.Repeat("9", 5<<20)+`}`),
		one("100,000 texts to embed", "/v1/embeddings", `{"model":"demo/hermes","input":[`+
			many(100_000, `"x"`)+`]}`),
		one("a body of 100 MB", path, strings.Repeat(" ", 100<<20)),
		one("a runner's call 4 MB deep", "/runner/call", `{"name":"search_docs","arguments":`+
			strings.Repeat(`{"a":`, 600_000)),
		one("a runner's call of 4 MB", "/runner/call",
			`{"name":"search_docs","arguments":{"query":"`+strings.Repeat("x ", 2<<20)+`"}}`),
	}
}

// connections returns attacks by connections that promise a body and do not send it. Such a promise
// costs an attacker nothing. A server that allocates by Content-Length would hold 4 GB after 200
// heads.
func connections() []attack {
	flood := func(path string) func(t *target) error {
		return func(t *target) error {
			for range 200 {
				c, err := t.dial()
				if err != nil {
					return err
				}
				if _, err := io.WriteString(c,
					head("POST", path, "localhost", 20<<20)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return []attack{
		{name: "slow bodies", send: func(t *target) error { return t.slow(slowHeads()...) }},
		{name: "slow bodies without a key", settings: []string{"--api-keys", someKey},
			send: func(t *target) error { return t.slow(slowHeads()...) }},
		{name: "200 promises of 20 MB", send: flood("/v1/chat/completions")},
		{name: "200 promises of 20 MB to Ollama's API", send: flood("/api/chat")},
		{name: "200 promises of 4 MB to MCP and the runner", send: func(t *target) error {
			return errors.Join(flood("/mcp")(t), flood("/runner/call")(t))
		}},
		{name: "20,000 headers", send: func(t *target) error {
			return raw(t, "GET /v1/models HTTP/1.1\r\nHost: localhost\r\n"+strings.Repeat(
				"X-A: b\r\n", 20_000)+"\r\n")
		}},
		{name: "a header of 20 MB", send: func(t *target) error {
			return raw(t, "GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX-A: "+
				strings.Repeat("b", 20<<20)+"\r\n\r\n")
		}},
		{name: "a path of 2 MB", send: func(t *target) error {
			return raw(t, "GET /"+strings.Repeat("a/", 1<<20)+
				" HTTP/1.1\r\nHost: localhost\r\n\r\n")
		}},
		{name: "500 streams whose clients leave", send: func(t *target) error {
			for range 500 {
				c, err := t.dial()
				if err != nil {
					return err
				}
				body := `{"model":"demo/hermes","stream":true,"messages":[{"role":"user","content":"Hi"}]}`
				if _, err := io.WriteString(c, fmt.Sprintf(
					"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(body), body)); err != nil {
					return err
				}
				c.Close()
			}
			return nil
		}},
		{name: "500 open event streams", send: func(t *target) error {
			for range 500 {
				if err := raw(t,
					"GET /sse HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n"); err != nil {
					return err
				}
			}
			return nil
		}},
	}
}

// raw sends bytes on a connection of its own and reads no answer. It returns an error only if it
// cannot connect, because a server may close a connection at any time.
func raw(t *target, text string) error {
	c, err := t.dial()
	if err != nil {
		return err
	}
	_, _ = io.WriteString(c, text)
	return nil
}

// mcpMessages returns attacks by messages of MCP.
func mcpMessages() []attack {
	const accept = "application/json, text/event-stream"
	mcp := func(name, body string) attack { return one(name, "/mcp", body, "Accept", accept) }
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_docs","arguments":`
	return []attack{
		mcp("MCP: a batch of 80,000", `[`+many(80_000, `{"jsonrpc":"2.0","id":%d,"method":"ping"}`)+
			`]`),
		mcp("MCP: 4 MB of open brackets", strings.Repeat("[", 4<<20)),
		mcp("MCP: arguments 9,000 levels deep", call+strings.Repeat(`{"a":`, 9000)+"1"+
			strings.Repeat("}", 9000)+"}}"),
		mcp("MCP: a search of 3 MB", call+`{"query":"`+strings.Repeat("x ", 3<<19)+`"}}}`),
		mcp("MCP: 200,000 arguments", call+`{`+many(200_000, `"a%d":1`)+`}}}`),
		mcp("MCP: one key 200,000 times", call+`{`+many(200_000, `"query":"x"`)+`}}}`),
		mcp("MCP: an id of 3 MB", `{"jsonrpc":"2.0","id":"`+strings.Repeat("x", 3<<20)+
			`","method":"ping"}`),
		{name: "MCP: 2,000 new sessions", send: func(t *target) error {
			for range 2000 {
				if _, err := t.post("/mcp",
					`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`, "Accept", accept); err != nil {
					return err
				}
			}
			return nil
		}},
	}
}
