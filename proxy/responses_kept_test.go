package proxy

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/auth"
	"toolnorm/internal/test/must"
	"toolnorm/internal/test/streamcheck"
)

// respond asks /v1/responses and gives the status and the response object.
func respond(t *testing.T, base, body string, header ...string) (status int, o struct {
	ID     string
	Status string
	Output []streamcheck.Item
	Error  struct{ Message, Code, Param string }
}) {
	t.Helper()
	resp, reply := do(t, "POST", base+"/v1/responses", body, header...)
	if err := json.Unmarshal([]byte(reply), &o); err != nil {
		t.Fatalf("%v in %s", err, reply)
	}
	return resp.StatusCode, o
}

func TestAReplyIsGoneOnWithByItsID(t *testing.T) {
	srv, m := serve(t, script{think("hm"), say("I look."), call(0, "find"), args(0, `{"q":"a"}`), endOf(0), finish("stop")})
	tools := `"model":"m","tools":[{"type":"namespace","name":"docs","tools":[{"name":"search"}]},{"name":"find"}]`
	_, first := respond(t, srv.URL, `{`+tools+`,"instructions":"Be short.","input":"look"}`)
	status, second := respond(t, srv.URL, `{`+tools+`,"instructions":"Be long.","previous_response_id":"`+first.ID+`","input":[{"type":"function_call_output","call_id":"call_0","output":"found"}]}`)
	if status != 200 || second.ID == first.ID {
		t.Fatalf("%d %+v", status, second)
	}
	shown := func() (all []string) {
		for _, msg := range m.last.Messages {
			line := string(msg.Role) + " " + msg.Reasoning + "|" + msg.Content
			for _, c := range msg.Calls {
				line += " " + c.ID + " " + c.Name + string(c.Args)
			}
			all = append(all, line)
		}
		return all
	}
	want := "system |Be long.\nuser |look\nassistant hm|I look. call_0 find{\"q\":\"a\"}\ntool |found"
	if got := strings.Join(shown(), "\n"); got != want {
		t.Errorf("asked\n%s\nwant\n%s", got, want)
	}
	// A third turn has what both of the others said; another branch of the first one has not.
	_, third := respond(t, srv.URL, `{"model":"m","previous_response_id":"`+second.ID+`"}`)
	if n := len(m.last.Messages); n != 4 || m.last.Messages[3].Role != chat.Assistant {
		t.Errorf("the third turn has %q", shown())
	}
	if _, items := do(t, "GET", srv.URL+"/v1/responses/"+third.ID+"/input_items?order=asc", ""); strings.Count(items, `"type":"message"`) != 3 || !strings.Contains(items, `"first_id":"in_`) {
		t.Errorf("the third reply answered %s", items)
	}
	if respond(t, srv.URL, `{"model":"m","previous_response_id":"`+first.ID+`","input":"other","store":false}`); len(m.last.Messages) != 3 {
		t.Errorf("a branch has %q", shown())
	}
	// An item is named instead of repeated.
	respond(t, srv.URL, `{"model":"m","input":[{"role":"user","content":"look"},{"type":"item_reference","id":"`+first.Output[1].ID+`"},{"id":"`+first.Output[2].ID+`"}]}`)
	if got := strings.Join(shown(), "\n"); got != "user |look\nassistant |I look. call_0 find{\"q\":\"a\"}" {
		t.Errorf("by reference\n%s", got)
	}
}

func TestInputItemsAreListedInPages(t *testing.T) {
	srv, _ := serve(t, script{say("a"), finish("stop")})
	_, pages := respond(t, srv.URL, `{"model":"m","input":[{"id":"a","role":"user","content":"x"},{"id":"b","role":"user","content":"y"},{"id":"c","role":"user","content":"z"}]}`)
	for query, want := range map[string]string{
		"": "c a false", "order=desc&limit=2": "c b true", "limit=1&after=c": "b b true", "after=c": "b a false", "order=asc&limit=2&after=a": "b c false", "after=a": "<nil> <nil> false",
		"limit=0": "limit", "limit=x": "limit", "limit=101": "limit", "order=up": "order", "after=d": "after",
	} {
		resp, body := do(t, "GET", srv.URL+"/v1/responses/"+pages.ID+"/input_items?"+query, "")
		var list struct {
			First any  `json:"first_id"`
			Last  any  `json:"last_id"`
			More  bool `json:"has_more"`
			Error struct{ Param string }
		}
		must.OK(t, json.Unmarshal([]byte(body), &list))
		if got := fmt.Sprintf("%v %v %v", list.First, list.Last, list.More); got != want && (list.Error.Param != want || resp.StatusCode != 400) {
			t.Errorf("?%s lists %s, want %s: %s", query, got, want, body)
		}
	}
}

func TestRepliesAreReadAndForgotten(t *testing.T) {
	srv, _ := serve(t, script{say("a"), finish("stop")})
	_, kept := respond(t, srv.URL, `{"model":"m","input":"x","metadata":{"k":"v"}}`)
	_, gone := respond(t, srv.URL, `{"model":"m","input":"x","store":false}`)
	path := srv.URL + "/v1/responses/"
	if resp, body := do(t, "GET", path+kept.ID, ""); resp.StatusCode != 200 || !strings.Contains(body, `"metadata":{"k":"v"}`) || !strings.Contains(body, `"output":[{`) {
		t.Errorf("%d %s", resp.StatusCode, body)
	}
	for _, missing := range []string{gone.ID, "resp_X", gone.ID + "/input_items"} {
		if resp, body := do(t, "GET", path+missing, ""); resp.StatusCode != 404 || !strings.Contains(body, "store is not false") {
			t.Errorf("%s: %d %s", missing, resp.StatusCode, body)
		}
	}
	if status, o := respond(t, srv.URL, `{"model":"m","previous_response_id":"`+gone.ID+`","input":"x"}`); status != 400 || o.Error.Code != "previous_response_not_found" || o.Error.Param != "previous_response_id" {
		t.Errorf("%d %+v", status, o.Error)
	}
	for i, want := range []int{200, 404} {
		if resp, body := do(t, "DELETE", path+kept.ID, ""); resp.StatusCode != want {
			t.Errorf("delete %d: %d %s", i, resp.StatusCode, body)
		}
	}
	if resp, _ := do(t, "PUT", path+kept.ID, ""); resp.StatusCode != 405 || resp.Header.Get("Allow") != "GET, DELETE" {
		t.Errorf("PUT: %d, allowed %q", resp.StatusCode, resp.Header.Get("Allow"))
	}
}

// What one caller was answered is nothing to another, who may hold a key of this server as well.
func TestARepliesIDIsOfNoUseToAnotherCaller(t *testing.T) {
	keys, _, err := auth.ParseKeys([]string{"the-first-key-of-two", "the-second-key-of-two"})
	must.OK(t, err)
	m := &told{script: script{say("a"), finish("stop")}}
	server := httptest.NewServer((&auth.Guard{Keys: keys}).Wrap(New(Config{Model: m, Catalog: m})))
	defer server.Close()
	srv := server.URL
	mine, theirs := []string{"Authorization", "Bearer the-first-key-of-two"}, []string{"Authorization", "Bearer the-second-key-of-two"}
	_, kept := respond(t, srv, `{"model":"m","input":"x"}`, mine...)
	for want, header := range map[int][]string{200: mine, 404: theirs} {
		if resp, body := do(t, "GET", srv+"/v1/responses/"+kept.ID, "", header...); resp.StatusCode != want {
			t.Errorf("%q: %d %s, want %d", header, resp.StatusCode, body, want)
		}
	}
	if status, o := respond(t, srv, `{"model":"m","previous_response_id":"`+kept.ID+`","input":"x"}`, theirs...); status != 400 {
		t.Errorf("gone on with by another: %d %+v", status, o)
	}
}

// The object repeats what was asked, with defaults where nothing was: the SDKs' types have no
// optional members.
func TestAResponseRepeatsItsRequest(t *testing.T) {
	srv, _ := serve(t, script{say("a"), finish("stop")})
	_, body := do(t, "POST", srv.URL+"/v1/responses", `{"model":"m","input":"x","instructions":"i","temperature":0.50,"tools":[{"type":"web_search"},{"name":"f","description":"<d>"}],"tool_choice":"none","user":"u","parallel_tool_calls":null,"store":false,"truncation":"auto"}`)
	for _, want := range []string{`"background":false`, `"instructions":"i"`, `"max_output_tokens":null`, `"parallel_tool_calls":true`, `"temperature":0.50`, `"tools":[{"type":"web_search"},{"name":"f","description":"<d>"}]`,
		`"tool_choice":"none"`, `"user":"u"`, `"store":false`, `"truncation":"auto"`, `"metadata":{}`, `"previous_response_id":null`, `"text":{"format":{"type":"text"}}`} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is not in %s", want, body)
		}
	}
}
