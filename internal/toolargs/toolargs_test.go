package toolargs

import (
	"encoding/json"
	"strings"
	"testing"

	"toolnorm/tools"
)

// vacation is a tool with a number, a word and a list.
var vacation = tools.Tool{Name: "vacation", Schema: json.RawMessage(`{"type": "object", "required": ["id"], "additionalProperties": false,
	"properties": {"id": {"type": "string"}, "year": {"type": "integer", "minimum": 2000}, "unit": {"enum": ["days", "hours"]}, "of": {"type": "array", "items": {"type": "integer"}}}}`)}

func TestArgumentsAreReadAsTheSchemaWants(t *testing.T) {
	var r Reader
	for in, want := range map[string]string{
		`{"id": "EMP001",  "year":2026}`:      `{"id": "EMP001",  "year":2026}`, // what fits is not touched
		`{"id":"C:\temp"}`:                    `{"id":"C:\temp"}`,
		`{"id": "EMP001", "year": "2026"}`:    `{"id": "EMP001", "year": 2026}`,
		`{"id":"a","unit":"Days","of":["1"]}`: `{"id":"a","unit":"days","of":[1]}`,
		`{'id': 'a',}`:                        `{"id": "a"}`,
		`"{\"id\": \"a\"}"`:                   `{"id": "a"}`,
	} {
		got, err := r.Fit(vacation, json.RawMessage(in))
		if err != nil || string(got) != want {
			t.Errorf("Fit(%s) = %s, %v; want %s", in, got, err, want)
		}
	}
}

func TestWhatDoesNotFitIsToldPlaceByPlace(t *testing.T) {
	var r Reader
	for in, want := range map[string]string{
		`{}`:                     `the arguments of vacation do not fit: arguments.id: is missing`,
		`{"id":"a","year":1999}`: `the arguments of vacation do not fit: arguments.year: want at least 2000, got 1999`,
		`{"id":7,"year":"x"}`:    `the arguments of vacation do not fit: arguments.year: want integer, got string`,
		`{"id":"a","id":"b"}`:    `the arguments of vacation do not fit: arguments.id: is there twice`,
		`{"id":"a","x":1}`:       `the arguments of vacation do not fit: arguments.x: is not a parameter`,
		`[1]`:                    `the arguments of vacation must be one JSON object`,
		`please`:                 `the arguments of vacation must be one JSON object`,
		`{"id":"a"}{"id":"b"}`:   `the arguments of vacation must be one JSON object`,
		`{"id":"EMP0`:            `the arguments of vacation break off before their end`,
		`{"id":"a","year":20`:    `the arguments of vacation break off before their end`,
	} {
		if got, err := r.Fit(vacation, json.RawMessage(in)); err == nil || err.Error() != want {
			t.Errorf("Fit(%s) = %s, %v; want %s", in, got, err, want)
		}
	}
}

func TestASchemaThatIsNoneTakesAnyObject(t *testing.T) {
	var r Reader
	tool := tools.Tool{Name: "f", Schema: json.RawMessage(`{"type": 7}`)}
	if got, err := r.Fit(tool, json.RawMessage(`{"a":1}`)); err != nil || string(got) != `{"a":1}` {
		t.Errorf("Fit = %s, %v", got, err)
	}
}

// FuzzFit: what comes out is a JSON object that fits, and is read as itself once more.
func FuzzFit(f *testing.F) {
	for _, seed := range []string{`{"id":"a"}`, `{'id': a, year: "7"}`, "```json\n{\"id\":\"a\"}\n```", `"{\"id\":\"a\"}"`, `{"id":"a"`, `id=a`} {
		f.Add(seed)
	}
	var r Reader
	f.Fuzz(func(t *testing.T, in string) {
		got, err := r.Fit(vacation, json.RawMessage(in))
		if err != nil {
			return
		}
		var object struct{ ID *string }
		if err := json.Unmarshal(got, &object); err != nil || object.ID == nil {
			t.Fatalf("Fit(%q) = %q: %v", in, got, err)
		}
		if again, err := r.Fit(vacation, got); err != nil || string(again) != string(got) {
			t.Fatalf("Fit(%q) = %q, and again %q, %v", in, got, again, err)
		}
	})
}

func TestArgumentsAreBounded(t *testing.T) {
	var r Reader
	for values, ok := range map[int]bool{mostValues - 10: true, mostValues + 2: false} {
		args := `{"a":[` + strings.Repeat("1,", values) + `1],"b":"` + strings.Repeat(",", mostValues) + `"}`
		if _, err := r.Fit(tools.Tool{Name: "f"}, json.RawMessage(args)); (err == nil) != ok {
			t.Errorf("%d values: %.200v", values, err)
		}
	}
}
