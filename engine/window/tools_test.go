package window

import (
	"strings"
	"testing"
	"unicode/utf8"

	"toolnorm/chat"
)

// agentTools are four tools as an agent has them: much text, and parameters that are described at
// length.
func agentTools() (tools []chat.Tool) {
	for _, name := range []string{"Read", "Bash", "mcp__a__x", "mcp__a__y"} {
		tools = append(tools, chat.Tool{
			Name:        name,
			Description: "Does " + name + ". " + strings.Repeat("And one more rule about it. ", 60),
			Schema:      []byte(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"description":{"type":"string","description":"` + strings.Repeat("Word ", 60) + `"},"b":{"anyOf":[{"type":"array","items":{"type":"integer","description":"` + strings.Repeat("A number. ", 30) + `"}},{"type":"null"}]}},"required":["description"]}`),
		})
	}
	return tools
}

func TestToolsAreMadeToFit(t *testing.T) {
	none := func(string) bool { return false }
	for _, row := range []struct {
		budget  int
		cut     string
		dropped string
	}{
		{20000, "", ""},
		{9000, "descriptions are cut to 1000 bytes", ""},
		{6000, "descriptions are cut to 400 bytes", ""},
		{4600, "descriptions are cut to 160 bytes", ""},
		{3200, "descriptions are cut to 160 bytes, those of parameters to 120", ""},
		{1900, "descriptions are cut to 160 bytes, parameters have no descriptions", ""},
		{1500, "descriptions are cut to 60 bytes, parameters have no descriptions", ""},
		{900, "descriptions are cut to 60 bytes, parameters have no descriptions, left out: mcp__a__y", "mcp__a__y"},
		{1, "descriptions are cut to 60 bytes, parameters have no descriptions, left out: Read Bash mcp__a__x mcp__a__y", "Read Bash mcp__a__x mcp__a__y"},
	} {
		f := FitTools(agentTools(), row.budget, none)
		if got := strings.Join(f.Cut, ", "); got != row.cut || strings.Join(f.Dropped, " ") != row.dropped {
			t.Errorf("%d: %q, dropped %q; want %q, %q", row.budget, got, f.Dropped, row.cut, row.dropped)
		}
		if size := toolsBytes(f.Tools); size > row.budget {
			t.Errorf("%d: still %d bytes", row.budget, size)
		}
	}
}

func TestToolsThatWereCalledStay(t *testing.T) {
	f := FitTools(agentTools(), 1, func(name string) bool { return name == "mcp__a__y" })
	if len(f.Tools) != 1 || f.Tools[0].Name != "mcp__a__y" {
		t.Errorf("left are %+v", f.Tools)
	}
}

func TestOnlyTextsOfSchemasGo(t *testing.T) {
	got := string(plainer(agentTools()[0].Schema, 0))
	if want := `{"type":"object","properties":{"description":{"type":"string"},"b":{"anyOf":[{"type":"array","items":{"type":"integer"}},{"type":"null"}]}},"required":["description"]}`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for _, text := range []string{"", "true", `{"type":`} {
		if got := string(plainer([]byte(text), 0)); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestTextsAreCutBehindSentences(t *testing.T) {
	for _, row := range []struct {
		text string
		most int
		want string
	}{
		{"short", 10, "short"},
		{"One sentence. Another sentence.", 30, "One sentence.…"},
		{"A line of it\nand more words here", 20, "A line of it…"},
		{"nothing but words here", 16, "nothing but…"},
		{"日本語日本語日本語", 16, "日本語日…"},
	} {
		got := shorten(row.text, row.most)
		if got != row.want || len(got) > row.most && len(row.text) > row.most || !utf8.ValidString(got) {
			t.Errorf("%q in %d: %q, want %q", row.text, row.most, got, row.want)
		}
	}
}

// TestDataThatLooksLikeWordsStays holds that only keywords are taken for words: what a default, an
// enum or the names of members say is the tool's data.
func TestDataThatLooksLikeWordsStays(t *testing.T) {
	const given = `{ "title": "T", "description": "Long words.", "properties": {"title": {"description": "Long words.", "default": {"description": "Long words."}},
		"t": {"items": [{"title": "x"}, true]}, "n": {"const": 1.50, "enum": [{"title": "x"}]}}, "dependencies": {"title": ["t"], "t": {"title": "x"}}, "description ": 1}`
	for most, want := range map[int]string{
		0: `{"properties":{"title":{"default":{"description":"Long words."}},"t":{"items":[{},true]},"n":{"const":1.50,"enum":[{"title":"x"}]}},"dependencies":{"title":["t"],"t":{}},"description ":1}`,
		9: `{"title":"T","description":"Long…","properties":{"title":{"description":"Long…","default":{"description":"Long words."}},"t":{"items":[{"title":"x"},true]},"n":{"const":1.50,"enum":[{"title":"x"}]}},"dependencies":{"title":["t"],"t":{"title":"x"}},"description ":1}`,
	} {
		if got := string(plainer([]byte(given), most)); got != want {
			t.Errorf("%d: %s\nwant %s", most, got, want)
		}
	}
}
