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

// asked is one request: the schema of the answer, the kind of reply that the model server gives,
// and the API.
type asked struct {
	*entry
	kind   kind
	api    api
	stream bool
	long   int // the index of the answer that the model means
}

// right returns the answer that the fake model intends to give, before it makes mistakes in it.
func (a asked) right() json.RawMessage { return a.Answers[a.long] }

// number returns a number that depends on all properties of the request, as a part of the random
// seed.
func (a asked) number() uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, a.Source, a.Name, a.kind.name, a.api.name, a.stream, a.long)
	return h.Sum64() >> 25
}

// given is the reply that the client got.
type given struct {
	status int
	text   string // of the answer
	end    string // the reason for its end, as the API calls it
	err    string // the error in the body or in the stream
}

// api is one of the APIs that clients use.
type api struct {
	name, path string
	whole      string // the value of given.end for a complete answer
	body       string // a format for the message, the schema and a unique number
	tool       string // the member with one tool; empty: the API has no tools
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

// send sends the request to a handler, the parameter face, and returns the reply. The handler asks
// the given model server.
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

// read adds the content of a reply to g. The parameter by is the API in whose form the reply is.
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

// parts returns the JSON texts of a reply: the data of its events, its lines, or the whole reply if
// that is one JSON text.
func parts(body io.Reader) (all [][]byte) {
	text, _ := io.ReadAll(body) // a reply that broke off is read as far as it goes
	if json.Valid(text) {
		return [][]byte{text}
	}
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		all = append(all, bytes.TrimPrefix(line, []byte("data: ")))
	}
	return all
}

// into decodes the JSON of a member into the variable to which v points. If the member is missing,
// the variable is unchanged.
func into(raw json.RawMessage, v any) { json.Unmarshal(raw, v) }

// chatPart adds a chunk, or a whole reply, of /v1/chat/completions to g.
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

// responsesPart adds an event, or a whole response, of /v1/responses to g.
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

// messagesPart adds the text and the stop reason of a reply of /v1/messages to g. The parameter m
// is one event of a stream, or a whole message.
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

// generatePart adds a line, or a whole reply, of /api/generate to g.
func generatePart(g *given, m map[string]json.RawMessage) {
	var text, end string
	into(m["response"], &text)
	into(m["done_reason"], &end)
	g.text += text
	g.end += end
}

// ollamaPart adds a line, or a whole reply, of /api/chat to g.
func ollamaPart(g *given, m map[string]json.RawMessage) {
	var message struct{ Content string }
	var end string
	into(m["message"], &message)
	into(m["done_reason"], &end)
	g.text += message.Content
	g.end += end
}
