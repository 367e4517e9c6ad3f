package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/internal/test/must"
	"toolnorm/tools"
)

const someBase = "cf23c222-b024-4533-81aa-52e4f673281e"

// fiveRows are the specification's table of questions and tools.
var fiveRows = []struct{ question, tool string }{
	{"リモートワーク手当は？", "search_documents"},
	{"このKBについて", "get_knowledge_base_summary"},
	{"副業の規定を教えて", "search_documents"},
	{"このKBには何件のドキュメントがある？", "get_knowledge_base_summary"},
	{"OCR結果: マネ-ジャ-", "normalize_ocr_text"},
}

// library is a desk with the tools of knowledge bases, and one that has nothing to do with them.
func library(t *testing.T) *desk {
	t.Helper()
	d := newDesk(t)
	base := `"knowledge_base_id":{"type":"string","format":"uuid"}`
	must.OK(t, d.registry.Set("kb",
		d.tool("search_documents", "Searches.", json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"},`+base+`,"threshold":{"type":"number"},"max_results":{"type":"integer"}},"required":["query","knowledge_base_id"]}`)),
		d.tool("get_knowledge_base_summary", "Counts.", json.RawMessage(`{"type":"object","properties":{`+base+`},"required":["knowledge_base_id"]}`)),
		d.tool("normalize_ocr_text", "Normalizes.", json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`)),
	))
	d.answer = func(name string, _ json.RawMessage) tools.Result { return tools.TextOf("found by " + name) }
	return d
}

// wantCall is what ran for a question: the caller's knowledge base, and the question itself.
func wantCall(question, tool string) string {
	args := map[string]string{"knowledge_base_id": someBase}
	switch tool {
	case "search_documents":
		args["query"] = question
	case "normalize_ocr_text":
		args = map[string]string{"text": question}
	}
	text, _ := chat.JSON(args)
	return tool + " " + string(text)
}

func TestAQuestionFindsItsTool(t *testing.T) {
	for _, row := range fiveRows {
		for by, m := range map[string]chat.Model{
			"llm":    &scripted{texts: []string{fmt.Sprintf(`{"tool_name":%q,"arguments":{}}`, row.tool), "The answer."}},
			"rule":   failing(fault.New(fault.Unavailable, "the server is gone")),
			"rule ":  &scripted{texts: []string{"I would search.", `{"tool_name":"delete_documents","arguments":{}}`, "The answer."}},
			"forced": &scripted{texts: []string{"The answer."}},
		} {
			d := library(t)
			ask := Ask{Request: question(row.question), Base: someBase}
			if by == "forced" {
				ask.Force = row.tool
			}
			out, err := New(Config{Model: m, Tools: d.registry, Servers: d}).Run(t.Context(), ask, nil)
			if err != nil {
				t.Fatalf("%s, %s: %v", row.question, by, err)
			}
			if out.Chosen != strings.TrimSpace(by) || !slices.Equal(d.ran, []string{wantCall(row.question, row.tool)}) {
				t.Errorf("%s, %s: selected by %s, ran %q", row.question, by, out.Chosen, d.ran)
			}
			switch {
			case by == "rule" && (out.Text != "found by "+row.tool || out.Stop != ModelError || len(out.Warnings) != 2):
				t.Errorf("%s without a model: %+v", row.question, out)
			case by != "rule" && (out.Text != "The answer." || out.Stop != Final):
				t.Errorf("%s, %s: %+v", row.question, by, out)
			}
		}
	}
}

// The questions that the rule would get wrong if it looked at one word alone. What Claude Code puts
// in front of a question is not searched for: `Which toner …?` found nothing behind 3 KB of
// reminders.
func TestAClientsRemindersAreNoQuestion(t *testing.T) {
	d := library(t)
	ask := Ask{Request: question("<system-reminder>\nHooks may run.\n</system-reminder>\nWhich toner?"), Base: someBase}
	ask.Request.Messages = append(ask.Request.Messages, chat.Message{Role: chat.User, Content: "<system-reminder>\nBe brief.\n</system-reminder>"})
	if _, err := New(Config{Model: failing(fault.New(fault.Unavailable, "the server is gone")), Tools: d.registry, Servers: d}).Run(t.Context(), ask, nil); err != nil {
		t.Fatal(err)
	}
	if want := wantCall("Which toner?", "search_documents"); !slices.Equal(d.ran, []string{want}) {
		t.Errorf("ran %q, want %q", d.ran, want)
	}
}

func TestTheRuleOfTools(t *testing.T) {
	for question, want := range map[string]string{
		"このナレッジベースについて教えて":                    "get_knowledge_base_summary",
		"ナレッジベースの概要":                          "get_knowledge_base_summary",
		"How many documents are in this KB?":  "get_knowledge_base_summary",
		"Tell me about this knowledge base":   "get_knowledge_base_summary",
		"이 지식베이스에는 문서가 몇 개 있어?":               "get_knowledge_base_summary",
		"このKBで副業の申請について教えて":                   "search_documents",
		"有給休暇は何件まで繰り越せる？":                     "search_documents",
		"500KBの添付ファイルについて":                    "search_documents",
		"How many days of vacation do I have": "search_documents",
		"東京-大阪の出張費":                           "search_documents",
		"サ-ビス規程とは":                            "normalize_ocr_text",
		"Fix this OCR text: abc":              "normalize_ocr_text",
		"":                                    "search_documents",
	} {
		if got := knowledgeTool(question); got != want {
			t.Errorf("%q finds %s, want %s", question, got, want)
		}
	}
}

// TestTheKnowledgeBaseIsTheCallers holds that no argument of a model's leads to another base, in
// the first step or a later one.
func TestTheKnowledgeBaseIsTheCallers(t *testing.T) {
	const foreign = "00000000-0000-4000-8000-000000000000"
	d := library(t)
	m := &scripted{texts: []string{
		`{"tool_name":"search_documents","arguments":{"query":"own words","knowledge_base_id":"` + foreign + `","max_results":3,"knowledgeBaseId":"` + foreign + `","KNOWLEDGE_BASE_ID":"` + foreign + `"}}`,
		fenced("get_knowledge_base_summary", `{"knowledge_base_id":"`+foreign+`"}`),
		fenced("local.search_documents", `{"kb_id":"`+foreign+`","query":" "}`),
		fenced("calc.add", `{"a":1,"b":2}`),
		"Done.",
	}}
	out, err := New(Config{Model: m, Tools: d.registry, Servers: d}).Run(t.Context(), Ask{Request: question("副業は？"), Base: someBase}, nil)
	must.OK(t, err)
	want := []string{
		`search_documents {"knowledge_base_id":"` + someBase + `","max_results":3,"query":"own words"}`,
		wantCall("", "get_knowledge_base_summary"),
		wantCall("副業は？", "search_documents"),
	}
	if !slices.Equal(d.ran, want) || out.Chosen != "llm" {
		t.Errorf("ran %q, %+v", d.ran, out)
	}
	first := m.asked[0]
	if format := string(first.Format); !strings.Contains(format, `"enum":["search_documents","get_knowledge_base_summary","normalize_ocr_text"]`) || first.Temperature == nil || *first.Temperature != 0 {
		t.Errorf("the choice is asked for with %s, temperature %v", format, first.Temperature)
	}
	if said := first.Messages[len(first.Messages)-1].Content; !strings.Contains(said, "1. search_documents: specific information") || strings.Contains(said, someBase) {
		t.Errorf("the choice is asked for by\n%s", said)
	}
	for _, c := range out.Calls {
		if strings.Contains(string(c.Arguments), foreign) {
			t.Errorf("the outcome tells of %s", c.Arguments)
		}
	}
}

func TestWhatCannotBeConsulted(t *testing.T) {
	d := library(t)
	for name, row := range map[string]struct {
		loop *Loop
		ask  Ask
		kind fault.Kind
		want string
	}{
		"an unknown tool": {New(Config{Model: &scripted{}, Tools: d.registry, Servers: d}), Ask{Base: someBase, Force: "delete_documents"}, fault.Invalid,
			`there is no tool "delete_documents"; there are local.search_documents, local.get_knowledge_base_summary, local.normalize_ocr_text`},
		"a tool of another kind": {New(Config{Model: &scripted{}, Tools: d.registry, Servers: d}), Ask{Base: someBase, Force: "calc.add"}, fault.Invalid, `there is no tool "calc.add"`},
		"no tools":               {New(Config{Model: &scripted{}, Tools: newDesk(t).registry}), Ask{Base: someBase}, fault.Invalid, "this server has no tools of knowledge bases"},
		"a server that is busy":  {New(Config{Model: failing(fault.New(fault.Busy, "busy")), Tools: d.registry}), Ask{Base: someBase}, fault.Busy, "busy"},
	} {
		row.ask.Request = question("x")
		out, err := row.loop.Run(t.Context(), row.ask, nil)
		if f := fault.From(err); err == nil || f.Kind != row.kind || !strings.Contains(f.Message, row.want) {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
	if len(d.ran) != 0 {
		t.Errorf("ran %q", d.ran)
	}
}

func TestAKnowledgeBaseIsAskedByHTTP(t *testing.T) {
	d := library(t)
	l := New(Config{Model: &scripted{texts: []string{"The answer."}}, Tools: d.registry, Servers: d, DefaultModel: "m"})
	body := func(force string) string {
		return `{"method":"generate_content","id":1,"params":{"messages":[{"role":"user","content":"副業は？"}],"knowledge_base_id":"` + someBase + `","force_tool":"` + force + `"}}`
	}
	if w, got := posted(l, body("search_documents")); w.Code != 200 || !strings.Contains(got, `"selected_by":"forced"`) || !strings.Contains(got, `"text":"The answer."`) || !slices.Equal(d.ran, []string{wantCall("副業は？", "search_documents")}) {
		t.Errorf("%d %s, ran %q", w.Code, got, d.ran)
	}
	if w, got := posted(l, body("search")); w.Code != 400 || !strings.Contains(got, `"code":-32602`) || !strings.Contains(got, "local.search_documents, local.get_knowledge_base_summary, local.normalize_ocr_text") {
		t.Errorf("%d %s", w.Code, got)
	}
}
