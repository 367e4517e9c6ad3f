package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
)

// asked is one request.
type asked struct {
	*entry
	kind   kind
	api    api
	stream bool
	long   int // which of the answers the model means
}

// right returns the answer that the model means.
func (a asked) right() json.RawMessage { return a.Answers[a.long] }

// number returns the number of a request, for the seed.
func (a asked) number() uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, a.Source, a.Name, a.kind.name, a.api.name, a.stream, a.long)
	return h.Sum64() >> 25
}

// given is what the client got.
type given struct {
	status int
	text   string // of the answer
	end    string // how it ended, in the API's word
	err    string // an error, with the status or in the stream
}

// api is one of the interfaces that clients use.
type api struct {
	name, path string
	whole      string // the value of end that promises a whole answer
	body       string // with %s for the message, the schema, and a number that is unique
	tool       string // one tool; empty: it takes none
	add        func(*given, map[string]json.RawMessage)
}

const parameters = `{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`

var apis = []api{
	{"chat", "/v1/chat/completions", "stop",
		`{"model":"qwen2.5:forms","messages":[{"role":"user","content":%s}],"response_format":{"type":"json_schema","json_schema":{"name":"answer","schema":%s}}`,
		`,"tools":[{"type":"function","function":{"name":"get_weather","parameters":` + parameters +
			`}}]`, chatPart},
	{"responses", "/v1/responses", "completed",
		`{"model":"qwen2.5:forms","input":[{"role":"user","content":%s}],"text":{"format":{"type":"json_schema","name":"answer","schema":%s}}`,
		`,"tools":[{"type":"function","name":"get_weather","parameters":` + parameters + `}]`,
		responsesPart},
	{"messages", "/v1/messages", "end_turn",
		`{"model":"qwen2.5:forms","max_tokens":4096,"messages":[{"role":"user","content":%s}],"output_config":{"format":{"type":"json_schema","schema":%s}}`,
		`,"tools":[{"name":"get_weather","input_schema":` + parameters + `}]`, messagesPart},
	{"ollama", "/api/chat", "stop",
		`{"model":"qwen2.5:forms","messages":[{"role":"user","content":%s}],"format":%s`,
		`,"tools":[{"type":"function","function":{"name":"get_weather","parameters":` + parameters +
			`}}]`, ollamaPart},
	{"generate", "/api/generate", "stop", `{"model":"qwen2.5:forms","prompt":%s,"format":%s`, "",
		generatePart},
	{"generate, raw", "/api/generate", "stop",
		`{"model":"qwen2.5:forms","raw":true,"prompt":%s,"format":%s`, "", generatePart},
}

// send asks, and returns what came.
func (a asked) send(face http.Handler, model *server) given {
	one := model.begin(a)
	defer model.end(one)
	body := fmt.Sprintf(a.api.body, quote("Answer as the form wants it. "+one.key), a.Schema)
	if a.kind.tools {
		body += a.api.tool
	}
	r := httptest.NewRequest("POST", a.api.path,
		strings.NewReader(body+fmt.Sprintf(`,"stream":%v}`, a.stream)))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	face.ServeHTTP(w, r)
	g := given{status: w.Code}
	g.read(a.api, w.Body)
	return g
}

// read adds what a reply says.
func (g *given) read(by api, body io.Reader) {
	for _, part := range parts(body) {
		var members map[string]json.RawMessage
		if json.Unmarshal(part, &members) != nil {
			continue
		}
		if err, ok := members["error"]; ok && string(err) != "null" {
			g.err = string(err)
		}
		by.add(g, members)
	}
}

// parts returns the JSON texts of a reply: its events, its lines, or the whole as one.
func parts(body io.Reader) (all [][]byte) {
	text, _ := io.ReadAll(body) // what broke off has no end
	if json.Valid(text) {
		return [][]byte{text}
	}
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		all = append(all, bytes.TrimPrefix(line, []byte("data: ")))
	}
	return all
}

// into reads a member into v; one that is not there changes nothing.
func into(raw json.RawMessage, v any) { json.Unmarshal(raw, v) }

// chatPart reads a chunk or a whole reply.
func chatPart(g *given, m map[string]json.RawMessage) {
	type content struct{ Content string }
	var choices []struct {
		Message, Delta content
		Finish         string `json:"finish_reason"`
	}
	into(m["choices"], &choices)
	for _, c := range choices {
		g.text += c.Message.Content + c.Delta.Content
		g.end += c.Finish
	}
}

// responsesPart reads an event or a whole response.
func responsesPart(g *given, m map[string]json.RawMessage) {
	type response struct {
		Status string
		Error  json.RawMessage
		Output []struct{ Content []struct{ Text string } }
	}
	var event struct {
		Type, Delta string
		Response    response
	}
	b, _ := json.Marshal(m)
	into(b, &event)
	var whole response
	into(b, &whole)
	switch event.Type {
	case "response.output_text.delta":
		g.text += event.Delta
	case "response.completed", "response.incomplete":
		g.end = event.Response.Status
	case "response.failed":
		g.err = string(event.Response.Error)
	case "":
		g.end = whole.Status
		for _, item := range whole.Output {
			for _, c := range item.Content {
				g.text += c.Text
			}
		}
	}
}

// messagesPart reads an event or a whole message.
func messagesPart(g *given, m map[string]json.RawMessage) {
	var event struct {
		Content []struct{ Text string }
		Delta   struct {
			Text   string
			Reason string `json:"stop_reason"`
		}
		Reason string `json:"stop_reason"`
	}
	b, _ := json.Marshal(m)
	into(b, &event)
	for _, c := range event.Content {
		g.text += c.Text
	}
	g.text += event.Delta.Text
	g.end += event.Delta.Reason + event.Reason
}

// generatePart reads a line or a whole reply of Ollama's /api/generate.
func generatePart(g *given, m map[string]json.RawMessage) {
	var text, end string
	into(m["response"], &text)
	into(m["done_reason"], &end)
	g.text += text
	g.end += end
}

// ollamaPart reads a line or a whole reply.
func ollamaPart(g *given, m map[string]json.RawMessage) {
	var message struct{ Content string }
	var end string
	into(m["message"], &message)
	into(m["done_reason"], &end)
	g.text += message.Content
	g.end += end
}
