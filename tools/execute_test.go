package tools

import (
	"encoding/json"
	"errors"
	"testing"

	"toolnorm/internal/test/must"
)

func TestAnOutcomeHasEitherAResultOrAnError(t *testing.T) {
	structured := must.Have(JSONOf(struct{ Name string }{"김민준 <a>"}))(t)
	for want, res := range map[string]Result{
		`{"success":true,"result":{"Name":"김민준 <a>"}}`:                     structured,
		`{"success":true,"result":"plain"}`:                                TextOf("plain"),
		`{"success":true,"result":""}`:                                     {},
		`{"success":true,"result":null}`:                                   {Structured: json.RawMessage("null")},
		`{"success":false,"error":"no employee"}`:                          Failure("no employee"),
		`{"success":false,"error":"the tool failed and does not say why"}`: {IsError: true},
		`{"success":false,"error":"no such place","details":{"message":"no such place","status":"error"}}`: {
			IsError: true, Content: []Part{{Text: `{"message":"no such place","status":"error"}`}}, Structured: json.RawMessage(`{"message":"no such place","status":"error"}`)},
		`{"success":false,"error":"[7]","details":[7]}`: {IsError: true, Content: []Part{{Text: "[7]"}}, Structured: json.RawMessage("[7]")},
		`{"success":true,"result":"one\n[image image/png, 3 bytes]\n[name](file:///a)\n[resource file:///b text/csv, 2 bytes]\ntwo"}`: {Content: []Part{
			{Text: "one"}, {Kind: Image, Data: []byte("abc"), MIME: "image/png"}, {Kind: Link, URI: "file:///a", Text: "name"},
			{Kind: Resource, URI: "file:///b", MIME: "text/csv", Data: []byte("ab")}, {Kind: Resource, URI: "file:///c", Text: "two"},
		}},
	} {
		if got := string(OutcomeOf(res).JSON()); got != want {
			t.Errorf("outcome %s, want %s", got, want)
		}
	}
}

func TestAValueThatIsNoJSONIsAnError(t *testing.T) {
	if _, err := JSONOf(make(chan int)); err == nil {
		t.Error("JSONOf took a channel")
	}
	var wrong *json.MarshalerError
	if _, err := JSONOf(json.RawMessage("{")); !errors.As(err, &wrong) {
		t.Errorf("JSONOf = %v", err)
	}
	if got := string(Outcome{Success: true, Result: json.RawMessage("{")}.JSON()); got != `{"success":false,"error":"the tool's result is no JSON: json: error calling MarshalJSON for type json.RawMessage: unexpected end of JSON input"}` {
		t.Errorf("outcome %s", got)
	}
}
