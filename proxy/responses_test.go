package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	testfiles "toolnorm/internal/golden"
	"toolnorm/internal/test/must"
	"toolnorm/internal/test/streamcheck"
)

// TestResponsesCases runs the files of testdata/responses: a request and what the model does,
// against what the model is asked and what the client gets, streamed and whole. The README there
// describes them.
func TestResponsesCases(t *testing.T) {
	files, err := filepath.Glob("testdata/responses/*.txt")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { responsesCase(t, file) })
	}
}

// responsesCase runs one file, or rewrites what it wants.
func responsesCase(t *testing.T, file string) {
	src := must.Read(t, file)
	sections, err := testfiles.Sections(src)
	must.OK(t, err)
	part := map[string]string{}
	for _, s := range sections {
		part[s.Name] = s.Text
	}
	srv, m := serve(t, stepsOf(t, part["model"]))
	got := map[string]string{}
	for _, kind := range []string{"stream", "whole"} {
		body := strings.Replace(part["request"], "{", fmt.Sprintf(`{"stream":%t,`, kind == "stream"), 1)
		resp, reply := do(t, "POST", srv.URL+"/v1/responses", body)
		if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
			if _, broken := streamcheck.CheckResponses(resp.Header, reply); len(broken) > 0 {
				t.Errorf("the stream breaks rules: %s", strings.Join(broken, "\n"))
			}
		}
		got[kind] = notesOf(resp.Header) + leftOut(resp.Header.Get("Toolnorm-Left-Out")) + fmt.Sprintf("%d ", resp.StatusCode) + settledIDs(reply)
	}
	if m.last != nil {
		got["asked"] = askedOf(t, m.last)
	}
	var out bytes.Buffer
	out.Write(src[:bytes.Index(src, []byte("-- request --"))])
	for _, name := range []string{"request", "model", "asked", "stream", "whole"} {
		text, written := got[name]
		if !written {
			text = part[name]
		}
		fmt.Fprintf(&out, "-- %s --\n%s\n", name, strings.TrimRight(text, "\n"))
	}
	must.Match(t, file, out.String())
}

// leftOut is the line that says what was left out.
func leftOut(what string) string {
	if what == "" {
		return ""
	}
	return "# left-out: " + what + "\n"
}

var (
	replyIDs  = regexp.MustCompile(`(resp|msg|rs|fc|ctc|tsc)_[A-Z2-7]{26}`)
	createdAt = regexp.MustCompile(`"created_at":\d+`)
	echoes    = regexp.MustCompile(`,"background":false.*?"metadata":\{[^}]*\}`)
)

// settledIDs is a reply without what differs from run to run, and without what the object repeats
// of the request, which TestAResponseRepeatsItsRequest looks at.
func settledIDs(reply string) string {
	reply = replyIDs.ReplaceAllString(reply, "${1}_R")
	return echoes.ReplaceAllString(createdAt.ReplaceAllString(reply, `"created_at":0`), ",…")
}

// askedOf is what the model is asked, a line for each message and tool.
func askedOf(t *testing.T, r *chat.Request) string {
	t.Helper()
	var b strings.Builder
	for _, m := range r.Messages {
		fmt.Fprintf(&b, "%s %s\n", m.Role, line(t, struct {
			Text   string      `json:"text,omitempty"`
			Think  string      `json:"think,omitempty"`
			Calls  []chat.Call `json:"calls,omitempty"`
			CallID string      `json:"call_id,omitempty"`
			Images int         `json:"images,omitempty"`
		}{m.Content, m.Reasoning, m.Calls, m.CallID, len(m.Images)}))
	}
	for _, tool := range r.Tools {
		fmt.Fprintf(&b, "tool %s\n", line(t, tool))
	}
	fmt.Fprintf(&b, "options %s\n", line(t, struct {
		Max      int                        `json:"max,omitempty"`
		Required bool                       `json:"required,omitempty"`
		Allowed  []string                   `json:"allowed,omitempty"`
		Single   bool                       `json:"single,omitempty"`
		Think    *bool                      `json:"think,omitempty"`
		Effort   string                     `json:"effort,omitempty"`
		Format   json.RawMessage            `json:"format,omitempty"`
		Extra    map[string]json.RawMessage `json:"extra,omitempty"`
	}{r.MaxTokens, r.Required, r.Allowed, r.Single, r.Think, r.Effort, r.Format, r.Extra}))
	return b.String()
}

// line is v as JSON on a line.
func line(t *testing.T, v any) string {
	t.Helper()
	b, err := chat.JSON(v)
	must.OK(t, err)
	return string(b)
}

// stepsOf reads what a model does, a step a line.
func stepsOf(t *testing.T, text string) (s script) {
	t.Helper()
	calls := -1
	for l := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(l, "\n"), " ")
		if strings.HasPrefix(rest, `"`) {
			if err := json.Unmarshal([]byte(rest), &rest); err != nil {
				t.Fatalf("%s: %v", l, err)
			}
		}
		switch word {
		case "say":
			s = append(s, say(rest))
		case "think":
			s = append(s, think(rest))
		case "call":
			calls++
			s = append(s, call(calls, rest))
		case "args":
			s = append(s, args(calls, rest))
		case "end":
			s = append(s, endOf(calls))
		case "idle":
			s = append(s, idle)
		case "beat":
			s = append(s, beat)
		case "usage":
			var in, out int
			fmt.Sscan(rest, &in, &out)
			s = append(s, counted(in, out))
		case "finish":
			s = append(s, finish(rest))
		case "fail":
			s = append(s, failures[rest])
		case "":
		default:
			t.Fatalf("unknown step %q", l)
		}
	}
	return s
}

// failures are the errors that a step can be.
var failures = map[string]error{
	"broken":   fault.New(fault.Unavailable, "the model server broke off"),
	"limited":  fault.New(fault.Limited, "too many requests"),
	"useless":  fault.New(fault.Failed, "the reply is of no use"),
	"too long": &fault.Error{Kind: fault.Invalid, Message: "This model's maximum context length is 9 tokens.", Code: "context_length_exceeded", Param: "messages"},
	"unknown":  fault.New(fault.NotFound, "no such model"),
}
