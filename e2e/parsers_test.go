package e2e

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/e2e/gguf"
	"toolnorm/e2e/script"
	"toolnorm/internal/test/must"
)

// parsers are the readers of the newest Ollama, each with a name of the models whose calls it
// reads.
var parsers = map[string]string{
	"cogito": "cogito-v2", "cohere": "command-a", "deepseek3": "deepseek-v3.1", "functiongemma": "functiongemma",
	"gemma4": "gemma4", "gemma4-no-thinking": "gemma4", "glimmer": "glimmer", "glm-4.7": "glm-4.7", "glm-ocr": "glm-4.7",
	"harmony": "gpt-oss", "laguna": "laguna-xs", "lfm2": "lfm2", "lfm2-thinking": "lfm2", "ministral": "ministral",
	"nemotron-3-nano": "nemotron-3", "olmo3": "olmo3", "olmo3-think": "olmo3", "ornith": "qwen3.5", "poolside-v1": "poolside",
	"qwen3": "qwen3", "qwen3-coder": "qwen3-coder", "qwen3-thinking": "qwen3", "qwen3-vl-instruct": "qwen3",
	"qwen3-vl-thinking": "qwen3", "qwen3.5": "qwen3.5",
}

// beginsInThought are the readers that take a reply for a thought up to </think>.
var beginsInThought = []string{"qwen3-thinking", "qwen3-vl-thinking", "olmo3-think"}

// parserScripts are what a model of a family says to one reader: a call, calls with prose behind
// them, and documents that show a call, whose marks are ordinary text in either vocabulary. A
// family's marks are control tokens in the second one.
func parserScripts(f *adapters.Format, parser string, controls bool) (all []script.Script) {
	call := func(tool, args string) string {
		return strings.Trim(string(f.Append(nil, chat.Call{ID: "abcdef001", Name: tool, Args: []byte(args)})), "\n")
	}
	add := func(name, text string, reply script.Reply) {
		if slices.Contains(beginsInThought, parser) {
			reply.Think = "Thoughts about " + name + "."
			text = reply.Think + "\n</think>\n\n" + text
		}
		sc := script.Script{Name: name, Family: "parsers", Reply: &reply, Model: gguf.Script{Name: name, Parts: []string{text}, Piece: 5}}
		if controls && len(reply.Calls) > 0 {
			sc.Model.Control = slices.DeleteFunc(f.Own(), func(m string) bool {
				return strings.IndexFunc(m, unicode.IsSpace) >= 0 || len(m) < 5 || !strings.Contains(text, m)
			})
		}
		all = append(all, sc)
	}
	one := call("get_weather", `{"city": "Oslo"}`)
	messages := strings.HasPrefix(one, " to=") // a call is a message of its own there, with nothing around
	if parser == "harmony" {
		one = `<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Oslo"}<|call|>`
	}
	add("p_one", one, script.Reply{Calls: []script.Call{{Name: "get_weather", Args: `{"city": "Oslo"}`}}})
	if messages {
		return all
	}
	add("p_behind", "I look up the sky.\n"+call("get_weather", `{"city": "Lyon"}`)+"\n\nThen I report what it said.", script.Reply{
		Text:  "I look up the sky. Then I report what it said.",
		Calls: []script.Call{{Name: "get_weather", Args: `{"city": "Lyon"}`}}})
	add("p_time", "Clock first.\n"+call("get_time", `{"tz": "CET"}`)+"\nPlease wait for an answer!", script.Reply{
		Text:  "Clock first. Please wait for an answer!",
		Calls: []script.Call{{Name: "get_time", Args: `{"tz": "CET"}`}}})
	if !slices.Contains(beginsInThought, parser) {
		for i, doc := range []string{"Nobody should write `%s` in a document.", "> %s\n\nThat quoted line is old.", "The header is %s and it ends there."} {
			text := fmt.Sprintf(doc, call("get_weather", fmt.Sprintf(`{"city": "Pau%d"}`, i)))
			add(fmt.Sprint("p_doc", i), text, script.Reply{Text: text})
		}
	}
	return all
}

// TestEveryParser holds toolnorm to a law in front of every reader of Ollama's, in both
// vocabularies, under a name that tells the family and one that does not: no part of its reply is
// worse than the server's own, and no document that shows a call runs where the server would not
// run it.
func TestEveryParser(t *testing.T) {
	l := open(t)
	for _, controls := range []bool{false, true} {
		var setups []setup
		asked := map[string][]script.Script{}
		for n, parser := range slices.Sorted(maps.Keys(parsers)) {
			scripts := parserScripts(adapters.Builtin().For(parsers[parser]), parser, controls)
			file := fmt.Sprintf("parser-%t-%s.gguf", controls, parser)
			m, err := gguf.New(append(script.Models(scripts), l.named(t, "default").Model), "")
			if err != nil {
				t.Fatalf("%s: %v", parser, err)
			}
			must.OK(t, m.WriteFile(filepath.Join(l.dir, file)))
			for _, name := range []string{parsers[parser] + "-by-" + parser, fmt.Sprintf("mystery-%d", n)} {
				setups = append(setups, setup{name: name, template: "tool_call.tmpl", parser: parser, file: file})
				asked[name] = scripts
			}
		}
		on := must.Have(l.startOllama(installed.newest, installed.version["OLLAMA"], 1, setups))(t)
		base := l.toolnorm(t, on.flags...)
		for _, s := range setups {
			t.Run(fmt.Sprintf("controls %t, %s, %s", controls, s.parser, s.name), func(t *testing.T) {
				for _, sc := range asked[s.name] {
					l.noWorse(t, on, base, s, sc)
				}
				on.unload(s.name)
			})
		}
	}
}

// noWorse reports where a reply of toolnorm is worse than the server's own.
func (l *lane) noWorse(t *testing.T, on *server, base string, s setup, sc script.Script) {
	t.Helper()
	own, got := askWhole(on.base, l.ask(s.name, sc, false)), askWhole(base, l.ask(s.name, sc, false))
	a, b := rightParts(sc.Reply, own), rightParts(sc.Reply, got)
	for part := range a {
		if a["calls"] && a[part] && !b[part] {
			t.Errorf("%s: the server itself has the %s right, toolnorm has not\nthe model wrote %s\ntoolnorm: %s\nthe server: %s",
				sc.Name, part, clip(sc.Text()), gist(got), gist(own))
		}
	}
	t.Logf("%s: the server %v, toolnorm %v", sc.Name, a, b)
}
