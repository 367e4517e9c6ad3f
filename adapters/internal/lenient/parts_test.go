package lenient

import (
	"testing"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat/schema"
)

// TestKeysAreFoundAhead looks for a key and the colon behind it.
func TestKeysAreFoundAhead(t *testing.T) {
	for text, want := range map[string]string{
		`"path" : 1`: "path", `path = 1`: "path", `“path”： 1`: "path",
		`"path", 1`: "", `two words: 1`: "", `"path`: "", ``: "",
	} {
		x := Text{Buffer: scan.Whole(text)}
		if key, _ := x.KeyAt(0); key != want {
			t.Errorf("KeyAt of %s = %q, want %q", text, key, want)
		}
	}
}

// TestWhatFollowsAValue asks in {"tags": [ whether a quote in front of a text ends its string.
func TestWhatFollowsAValue(t *testing.T) {
	for text, want := range map[string]bool{
		`, "b"]`: true, `], "days": 3}`: true, `]}`: true, ` + "b"]`: true, "": true,
		` said, then left"]`: false, `, then left"]`: false, `; "b"]`: false,
	} {
		a := lookahead{
			Text:   &Text{Buffer: scan.Whole(`"` + text)},
			open:   stack{{'{', noteType}, {'[', noteType.Prop("tags")}},
			quotes: new(quotes),
		}
		if got := a.valueFollows(1); got != want {
			t.Errorf("valueFollows at %s = %v, want %v", text, got, want)
		}
	}
}

// TestWrongClosers asks in {"tags": ["a" what a closer means that is not a bracket.
func TestWrongClosers(t *testing.T) {
	for text, want := range map[string]meaning{
		`}`: outerMissing, `)}`: ownMeant, `}, "days": 3}`: ownMeant, `}, "b"]`: surplus,
	} {
		out := NewOutput("note", noteType, nil)
		a := lookahead{
			Text: &Text{Buffer: scan.Whole(`a` + text)},
			out:  &out,
			open: stack{{'{', noteType}, {'[', noteType.Prop("tags")}},
		}
		a.Pos = 1
		if got := a.wrongCloser(a.At(0)); got != want {
			t.Errorf("wrongCloser at %s = %v, want %v", text, got, want)
		}
	}
}

// TestStringsAreWrittenAsJSON reads one string, inside an object.
func TestStringsAreWrittenAsJSON(t *testing.T) {
	for text, want := range map[string]string{
		`"a "b" c", "days": 3}`: `"a \"b\" c"`,
		`'it''s'}`:              `"it''s"`,
		`"C:\temp"}`:            `"C:\\temp"`,
		`"a" + "b"}`:            `"ab"`,
	} {
		r := documentReader(text)
		r.Enter('{', schema.Compile([]byte(`{"type":"object","properties":{"days":{"type":"integer"}}}`)))
		q, _ := r.QuoteAt(0)
		r.strings().copyString(q)
		if got := string(r.Out.JSON); got != want {
			t.Errorf("%s is written %s, want %s", text, got, want)
		}
	}
}
