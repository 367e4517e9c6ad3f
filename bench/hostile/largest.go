package hostile

import (
	"fmt"
	"strings"

	"toolnorm/bench/fake"
)

// largest returns attacks by bodies of nearly the largest size, 20 MiB, on each API and in each
// place that may have a long text. They reveal superfluous copies: a server that has a text four
// times in memory at once, garbage included, breaks the limit. Most are sent to the model of the
// fake server, because the demo model refuses a prompt that is longer than its context. For paths
// where toolnorm does other work for the demo, they are sent to the demo.
func largest() (all []attack) {
	const words = "word "
	for _, a := range []struct{ name, path, body, piece string }{
		{"a text of 19 MB", chatPath, turns, words},
		{"19 MB of <", chatPath, turns, "<"}, // which is six bytes in the prompt that Ollama sends
		{"19 MB of line feeds", chatPath, turns, `\n`},
		{"19 MB of line separators", chatPath, turns, "\u2028"},
		{"19 MB that is no UTF-8", chatPath, turns, "\xff"},
		{"a result of 19 MB", chatPath, `{"model":"%s",` + tools + `"messages":[` + callTail +
			`,{"role":"tool","tool_call_id":"a","content":"%s"},{"role":"user","content":"%s"}]}`,
			words},
		{"arguments of 19 MB", chatPath, `{"model":"%s",` + tools +
			`"messages":[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"a\":\"%s\"}"}}]},{"role":"user","content":"%s"}]}`, words},
		{"broken arguments of 19 MB", chatPath, `{"model":"%s",` + tools +
			`"messages":[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{a:'%s"}}]},{"role":"user","content":"%s"}]}`, words},
		{"a stop sequence of 19 MB", chatPath,
			`{"model":"%s","stop":"%s","messages":[{"role":"user","content":"%s"}]}`, words},
		{"Responses: a text of 19 MB", "/v1/responses",
			`{"model":"%s","input":[{"role":"user","content":"%s"},{"role":"user","content":"%s"}]}`, words},
		{"Messages: a text of 19 MB", "/v1/messages",
			`{"model":"%s","max_tokens":100,"messages":[{"role":"user","content":"%s"},{"role":"user","content":"%s"}]}`, words},
		{"Ollama's API: a text of 19 MB", "/api/chat", turns, words},
		{"Ollama's API: a prompt of 19 MB", "/api/generate", `{"model":"%s","prompt":"%s\n%s"}`,
			words},
		{"19 MB to complete", "/v1/completions", `{"model":"%s","prompt":"%s\n%s"}`, words},
	} {
		all = append(all, long(a.name, a.path, a.body, fake.Model, a.piece))
	}
	for _, path := range []string{chatPath, "/api/chat"} {
		all = append(all, long("a text of 19 MB, demo, "+path, path, turns, "demo/hermes", words))
	}
	const last = `{"role":"user","content":"{\"Bytes\":400}"}]}`
	return append(all,
		long("19 MB to embed", "/v1/embeddings", `{"model":"%s","input":["%s","%s"]}`,
			"demo/hermes", words),
		long("a text of 19 MB for Void", chatPath, turns, fake.Model, words, "Toolnorm-Client-Form",
			"void"),
		one("50,000 messages of 350 bytes", chatPath,
			opening+many(50_000, `{"role":"user","content":"`+strings.Repeat(words, 70)+`"}`)+","+
				last),
		one("Messages: 50,000 results", "/v1/messages", `{"model":"`+fake.Model+
			`","max_tokens":100,"messages":[{"role":"user","content":[`+
			many(50_000, `{"type":"tool_result","tool_use_id":"a%d","content":"x"}`)+`]},`+last),
		one("Responses: 40,000 results", "/v1/responses", `{"model":"`+fake.Model+`","input":[`+
			many(40_000, `{"type":"function_call_output","call_id":"a%d","output":"x"}`)+","+last),
		one("Ollama's API: 50,000 messages", "/api/chat",
			opening+many(50_000, `{"role":"user","content":"x"}`)+","+last),
	)
}

// Parts that several attacks share. A body is a format for the model, the long text and the last
// message, in this order.
const (
	chatPath = "/v1/chat/completions"
	turns    = `{"model":"%s","messages":[{"role":"user","content":"%s"},{"role":"user","content":"%s"}]}`
	tools    = `"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],`
	callTail = `{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}`
	opening  = `{"model":"` + fake.Model + `","messages":[`
)

// long returns an attack by a body in which the text piece is repeated up to 19 MB. The body is
// made when it is sent, because the bodies of all attacks together would be half a gigabyte.
func long(name, path, body, model, piece string, header ...string) attack {
	return attack{name: name, send: func(t *target) error {
		text := strings.Repeat(piece, (19<<20)/len(piece))
		return wantAnswer(t.post(path,
			fmt.Sprintf(body, model, text, `{\"Call\":true,\"Bytes\":400}`), header...))
	}}
}
