package adapters

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/golden"
)

// pair is an argument of a call that is written in some notation.
type pair struct {
	key   string
	value any // a string, an int, a float64, a bool or a []string
}

// phrase is a call before it is written.
type phrase struct {
	name string
	args []pair
}

// json returns the arguments as JSON.
func (p phrase) json(indent string) string {
	var all []string
	for _, a := range p.args {
		value, _ := json.Marshal(a.value)
		all = append(all, quotedJSON(a.key)+": "+string(value))
	}
	if indent == "" {
		return "{" + strings.Join(all, ", ") + "}"
	}
	return "{\n" + indent + strings.Join(all, ",\n"+indent) + "\n}"
}

// asked returns a question that has the call's values.
func (p phrase) asked() string {
	words := "I need this:"
	for _, a := range p.args {
		words += fmt.Sprint(" ", a.value)
	}
	return strings.NewReplacer("[", "", "]", "").Replace(words) + ", please."
}

// vocabulary is a set of tools, and calls of them with values that no other set has.
type vocabulary struct {
	tools []chat.Tool
	call  func(m wrapperMaker) phrase
}

// seenVocabulary is what the rules were made with, and freshVocabulary what they were not.
func seenVocabulary() vocabulary {
	tool := func(name, schema string) chat.Tool {
		return chat.Tool{Name: name, Schema: json.RawMessage(`{"type":"object","properties":` + schema + `}`)}
	}
	return vocabulary{[]chat.Tool{
		tool("get_weather", `{"city":{"type":"string"},"days":{"type":"integer"},"hourly":{"type":"boolean"}},"required":["city"]`),
		tool("convert_currency", `{"amount":{"type":"number"},"from":{"type":"string"},"to":{"type":"string"}},"required":["amount","from","to"]`),
		tool("create_ticket", `{"title":{"type":"string"},"labels":{"type":"array","items":{"type":"string"}}},"required":["title"]`),
	}, func(m wrapperMaker) phrase {
		switch m.IntN(5) {
		case 0:
			return phrase{"get_weather", []pair{{"city", m.one("Paris", "Rome", "New York", "São Paulo")}}}
		case 1:
			return phrase{"get_weather", []pair{{"city", m.one("Paris", "Tel Aviv")}, {"days", 1 + m.IntN(9)}}}
		case 2:
			return phrase{"get_weather", []pair{{"city", m.one("Oslo", "Bad Homburg")}, {"hourly", m.IntN(2) == 0}}}
		case 3:
			return phrase{"convert_currency", []pair{{"amount", float64(m.IntN(90)) + 0.5}, {"from", "USD"}, {"to", m.one("EUR", "JPY")}}}
		}
		return phrase{"create_ticket", []pair{{"title", m.one("No light", "Broken", "Door is stuck")}, {"labels", []string{"bug", m.one("ui", "api")}}}}
	}}
}

func freshVocabulary() vocabulary {
	tool := func(name, schema string) chat.Tool {
		return chat.Tool{Name: name, Schema: json.RawMessage(`{"type":"object","properties":` + schema + `}`)}
	}
	return vocabulary{[]chat.Tool{
		tool("book-room", `{"hotel":{"type":"string"},"nights":{"type":"integer"},"guest_name":{"type":"string"}},"required":["hotel","nights"]`),
		tool("sendMail", `{"recipient":{"type":"string"},"subject":{"type":"string"},"urgent":{"type":"boolean"}},"required":["recipient"]`),
		tool("stats.mean", `{"column":{"type":"string"},"groups":{"type":"array","items":{"type":"string"}},"trim":{"type":"number"}},"required":["column"]`),
		tool("lookup", `{"word":{"type":"string"},"language":{"type":"string"}},"required":["word"]`),
	}, func(m wrapperMaker) phrase {
		switch m.IntN(6) {
		case 0:
			return phrase{"book-room", []pair{{"hotel", m.one("Ritz", "Grand Hôtel", "Sea View Inn")}, {"nights", 2 + m.IntN(20)}}}
		case 1:
			return phrase{"book-room", []pair{{"hotel", "Astoria"}, {"nights", 1}, {"guest_name", m.one("Ada Lovelace", "Jürgen", "O'Neill")}}}
		case 2:
			return phrase{"sendMail", []pair{{"recipient", m.one("ada@example.com", "bob@example.org")}, {"urgent", m.IntN(2) == 0}}}
		case 3:
			return phrase{"sendMail", []pair{{"subject", m.one("Minutes of May, draft", "Lunch?")}, {"recipient", "eve@example.net"}}}
		case 4:
			return phrase{"stats.mean", []pair{{"column", m.one("price", "net weight")}, {"trim", 0.25}, {"groups", []string{"region", "year"}}}}
		}
		return phrase{"lookup", []pair{{"word", m.one("ausgezeichnet", "à propos", "train")}, {"language", m.one("de", "fr")}}}
	}}
}

// scalar returns a value in a line: a text in quotes, or as it is where that may be.
func (m wrapperMaker) scalar(v any, plain bool) string {
	if s, ok := v.(string); ok && (!plain || strings.ContainsAny(s, ",?:#'\"@")) {
		return quotedJSON(s)
	}
	if s, ok := v.(string); ok {
		return m.one(s, quotedJSON(s))
	}
	out, _ := json.Marshal(v)
	return string(out)
}

// yamlLines writes arguments as lines of YAML.
func (m wrapperMaker) yamlLines(p phrase, indent string) (out string) {
	for _, a := range p.args {
		if list, ok := a.value.([]string); ok && m.IntN(2) == 0 {
			out += indent + a.key + ":\n"
			for _, item := range list {
				out += indent + "  - " + item + "\n"
			}
			continue
		}
		out += indent + a.key + ": " + m.scalar(a.value, true) + "\n"
	}
	return out
}

// tomlLines writes arguments as lines of TOML.
func (m wrapperMaker) tomlLines(p phrase) (out string) {
	for _, a := range p.args {
		out += a.key + " = " + m.scalar(a.value, false) + "\n"
	}
	return out
}

// words writes arguments as words: in front of each key, between key and value, between two.
func (m wrapperMaker) words(p phrase, front, between, next string) string {
	var all []string
	for _, a := range p.args {
		value := m.scalar(a.value, false)
		if s, ok := a.value.(string); ok && !strings.ContainsAny(s, " ,?'&") && m.IntN(2) == 0 {
			value = s
		}
		if _, ok := a.value.([]string); ok && next == " " {
			value = "'" + value + "'"
		}
		all = append(all, front+a.key+between+value)
	}
	return strings.Join(all, next)
}

// anyObject writes arguments as an object of JSON, in one line, in several, or in a fence.
func (m wrapperMaker) anyObject(p phrase) string {
	switch m.IntN(4) {
	case 0:
		return p.json("")
	case 1:
		return p.json("  ")
	}
	return "```" + m.one("json", "json", "") + "\n" + p.json(m.one("", "  ")) + "\n```"
}

// inline writes arguments as an object in a line, with quotes around its keys or without.
func (m wrapperMaker) inline(p phrase) string {
	if m.IntN(3) > 0 {
		return p.json("")
	}
	var all []string
	for _, a := range p.args {
		all = append(all, a.key+": "+m.scalar(a.value, false))
	}
	return "{" + strings.Join(all, ", ") + "}"
}

// maybeFenced puts a text in a fence with a label, or leaves it.
func (m wrapperMaker) maybeFenced(label, text string) string {
	if m.IntN(2) == 0 {
		return text
	}
	return "```" + m.one(label, label, "") + "\n" + strings.TrimSuffix(text, "\n") + "\n```"
}

// notations write a call, each in one way: a place for the tool's name, and a coding of one object.
var notations = []struct {
	kind  string
	write func(m wrapperMaker, p phrase) string
}{
	{"yaml, name and member", func(m wrapperMaker, p phrase) string {
		return m.maybeFenced("yaml", m.one("tool", "name", "function", "use", "action")+": "+p.name+"\n"+m.one("arguments", "args", "with", "parameters", "input")+":\n"+m.yamlLines(p, "  "))
	}},
	{"yaml, name is the key", func(m wrapperMaker, p phrase) string {
		return m.maybeFenced(m.one("yaml", "yml"), p.name+":\n"+m.yamlLines(p, m.one("  ", "    ")))
	}},
	{"yaml, wrapped", func(m wrapperMaker, p phrase) string {
		return m.maybeFenced("yaml", m.one("tool_call", "call", "function_call", "action")+":\n  name: "+p.name+"\n  arguments:\n"+m.yamlLines(p, "    "))
	}},
	{"yaml, list of calls", func(m wrapperMaker, p phrase) string {
		return m.maybeFenced("yaml", m.one("", "tool_calls:\n")+"- name: "+p.name+"\n  arguments:\n"+m.yamlLines(p, "    "))
	}},
	{"yaml, document marks", func(m wrapperMaker, p phrase) string {
		return m.maybeFenced("yaml", "---\ntool: "+p.name+"\nargs:\n"+m.yamlLines(p, "  ")+m.one("", "...\n"))
	}},
	{"yaml, flow", func(m wrapperMaker, p phrase) string {
		return m.maybeFenced("yaml", "tool: "+p.name+"\narguments: "+m.inline(p)+"\n")
	}},
	{"yaml, quoted name", func(m wrapperMaker, p phrase) string {
		return m.maybeFenced("yaml", "tool: \""+p.name+"\"\narguments:\n"+m.yamlLines(p, "  "))
	}},
	{"toml, table", func(m wrapperMaker, p phrase) string {
		return m.maybeFenced("toml", "["+p.name+"]\n"+m.tomlLines(p))
	}},
	{"toml, name and table", func(m wrapperMaker, p phrase) string {
		return m.maybeFenced("toml", m.one("tool", "name", "function")+" = "+quotedJSON(p.name)+"\n\n["+m.one("arguments", "args", "parameters")+"]\n"+m.tomlLines(p))
	}},
	{"toml, tables of calls", func(m wrapperMaker, p phrase) string {
		return m.maybeFenced("toml", "[[tool_calls]]\nname = "+quotedJSON(p.name)+"\n\n[tool_calls.arguments]\n"+m.tomlLines(p))
	}},
	{"toml, inline table", func(m wrapperMaker, p phrase) string {
		return m.maybeFenced("toml", "tool = "+quotedJSON(p.name)+"\narguments = { "+strings.ReplaceAll(strings.TrimSuffix(m.tomlLines(p), "\n"), "\n", ", ")+" }\n")
	}},
	{"toml, wrapped", func(m wrapperMaker, p phrase) string {
		return m.maybeFenced("toml", "[tool_call]\nname = "+quotedJSON(p.name)+"\n[tool_call.arguments]\n"+m.tomlLines(p))
	}},
	{"words, flags", func(m wrapperMaker, p phrase) string {
		return m.one("", "", "$ ", "/") + p.name + " " + m.words(p, "--", " ", " ")
	}},
	{"words, flags with =", func(m wrapperMaker, p phrase) string {
		return m.one("", "$ ", "! ") + p.name + " " + m.words(p, "--", "=", " ")
	}},
	{"words, assignments", func(m wrapperMaker, p phrase) string {
		return m.one("", "/", "@", "!") + p.name + " " + m.words(p, "", "=", " ")
	}},
	{"words, in a fence", func(m wrapperMaker, p phrase) string {
		return "```" + m.one("", "bash", "sh", "shell") + "\n" + p.name + " " + m.words(p, "--", m.one(" ", "="), m.one(" ", " ", " \\\n  ")) + "\n```"
	}},
	{"words, behind a colon", func(m wrapperMaker, p phrase) string {
		return p.name + ": " + m.words(p, "", "=", m.one(", ", " "))
	}},
	{"words, query", func(m wrapperMaker, p phrase) string {
		return p.name + "?" + strings.ReplaceAll(strings.ReplaceAll(m.words(p, "", "=", "&"), `"`, ""), " ", "%20")
	}},
	{"sign and object", func(m wrapperMaker, p phrase) string {
		return m.one("@", "/", "!", "#", "$", "&") + p.name + m.one("", " ") + m.inline(p)
	}},
	{"arrow", func(m wrapperMaker, p phrase) string {
		return p.name + m.one(" -> ", " => ", "->", " → ") + m.inline(p)
	}},
	{"colon", func(m wrapperMaker, p phrase) string { return p.name + m.one(": ", ":\n", " : ") + m.anyObject(p) }},
	{"equals sign", func(m wrapperMaker, p phrase) string { return p.name + m.one(" = ", " := ") + m.inline(p) }},
	{"bar", func(m wrapperMaker, p phrase) string { return p.name + m.one(" | ", " || ", " ; ") + m.inline(p) }},
	{"name in brackets", func(m wrapperMaker, p phrase) string {
		return m.one("["+p.name+"]", "[["+p.name+"]]", "{{"+p.name+"}}", "("+p.name+")", "<"+p.name+">") + m.one("", " ", "\n") + m.inline(p)
	}},
	{"heading", func(m wrapperMaker, p phrase) string {
		return m.one("#", "##", "###", "####") + " " + m.one(p.name, p.name, "`"+p.name+"`") + "\n" + m.one("", "\n") + m.anyObject(p)
	}},
	{"heading with a word", func(m wrapperMaker, p phrase) string {
		return m.one("##", "###") + " " + m.one("Tool: ", "Tool call: ", "Function: ", "Call: ", "Action: ") + m.one(p.name, "`"+p.name+"`") + "\n" + m.one("", "\n") + m.anyObject(p)
	}},
	{"heading and lines", func(m wrapperMaker, p phrase) string {
		return "### " + p.name + "\n" + m.one("", "\n") + m.one(m.yamlLines(p, ""), m.yamlLines(p, "- "), "```yaml\n"+m.yamlLines(p, "")+"```")
	}},
	{"label of a fence", func(m wrapperMaker, p phrase) string {
		return "```" + p.name + "\n" + p.json(m.one("", "  ")) + "\n```"
	}},
	{"label of a fence, lines", func(m wrapperMaker, p phrase) string {
		return "```" + p.name + "\n" + m.one(m.yamlLines(p, ""), m.tomlLines(p)) + "```"
	}},
	{"bold name", func(m wrapperMaker, p phrase) string {
		return m.one("**"+p.name+"**", "**"+p.name+":**", "**`"+p.name+"`**", "*"+p.name+"*", "**"+p.name+"**:") + m.one("\n", "\n\n", " ") + m.anyObject(p)
	}},
	{"name in backquotes", func(m wrapperMaker, p phrase) string {
		return "`" + p.name + "`" + m.one("\n", "\n\n", ": ", " ") + m.anyObject(p)
	}},
	{"name on its line", func(m wrapperMaker, p phrase) string { return p.name + m.one("\n", "\n\n", ":\n") + m.anyObject(p) }},
	{"labels in bold", func(m wrapperMaker, p phrase) string {
		return "**" + m.one("Tool", "Function", "Action", "Tool name") + ":** " + m.one(p.name, "`"+p.name+"`") + "\n" + m.one("", "\n") + "**" + m.one("Arguments", "Parameters", "Input") + ":**" + m.one(" ", "\n") + m.anyObject(p)
	}},
	{"labels and a fence", func(m wrapperMaker, p phrase) string {
		return m.one("Tool", "Function", "Action") + ": " + m.one(p.name, "`"+p.name+"`") + "\n" + m.one("Arguments", "Parameters", "Action Input", "Input") + ":\n```json\n" + p.json("  ") + "\n```"
	}},
	{"labels in a list", func(m wrapperMaker, p phrase) string {
		return m.one("- ", "* ") + m.one("Tool", "**Tool**", "tool") + ": " + m.one(p.name, "`"+p.name+"`") + "\n- " + m.one("Arguments", "arguments", "Input") + ": " + m.one(p.json(""), "`"+p.json("")+"`")
	}},
	{"words of a command", func(m wrapperMaker, p phrase) string {
		return m.one("call", "CALL", "use", "run", "invoke", "Call tool", "execute") + " " + m.one(p.name, "`"+p.name+"`") + m.one(" ", " with ", " with arguments ") + m.inline(p)
	}},
	{"expression, keys", func(m wrapperMaker, p phrase) string {
		return "(" + m.one("", "call ") + p.name + " " + strings.NewReplacer("true", "t").Replace(m.words(p, ":", " ", " ")) + ")"
	}},
	{"expression, lists", func(m wrapperMaker, p phrase) string {
		return "(" + m.one("", "call ", "tool-call ") + p.name + " " + m.words(p, "(", m.one(" ", " . "), ") ") + "))"
	}},
	{"parentheses with colons", func(m wrapperMaker, p phrase) string {
		return m.one("", "@", "→ ") + p.name + "(" + m.words(p, "", ": ", ", ") + ")"
	}},
	{"brackets of arguments", func(m wrapperMaker, p phrase) string {
		return p.name + "[" + m.words(p, "", "=", ", ") + "]"
	}},
}

// TestNotations reads calls in notations that are made of a place for the name and a coding of one
// object, half of them of a vocabulary that no rule was made for.
func TestNotations(t *testing.T) {
	for _, half := range []struct {
		name string
		seed uint64
		vocabulary
	}{{"seen", 5, seenVocabulary()}, {"held out", 20261128, freshVocabulary()}} {
		m, read, o := wrapperMaker{rand.New(rand.NewPCG(half.seed, 32))}, 0, Options{Tools: half.tools}
		lost, alone := map[string]int{}, 0
		for i := range 500 {
			n := notations[i%len(notations)]
			p := half.call(m)
			text := n.write(m, p)
			o.Messages = []chat.Message{{Role: chat.User, Content: p.asked()}}
			calls := decodeCalls(t, Named("generic"), []string{text}, o)
			switch {
			case len(calls) == 1 && calls[0].Name == p.name && compact(calls[0].Args) == compact(p.json("")):
				read++
			case len(calls) > 0:
				t.Errorf("%s: %q\n%v, want %v", n.kind, text, calls, p)
			default:
				lost[n.kind]++
				if half.name == "seen" {
					t.Logf("lost, %s: %q", n.kind, text)
				}
			}
			o.Messages = nil
			alone += len(decodeCalls(t, Named("generic"), []string{text}, o))
			if i%10 == 0 {
				checkSplits(t, Named("generic"), text, chat.Stop, o)
			}
		}
		t.Logf("%s: %d of 500 read, %d by the text alone; lost %v", half.name, read, alone, lost)
		// a query with a list has no one spelling; a command in a fence is for the user to run,
		// unless it was asked for
		if read < 490 || alone < 480 {
			t.Errorf("%s: only %d of 500 are read, %d by the text alone", half.name, read, alone)
		}
	}
}

// plainDocument returns an ordinary document of YAML, TOML, a shell or Markdown that has a tool's
// name and its members.
func (m wrapperMaker) plainDocument(v vocabulary) string {
	p := v.call(m)
	n, word := m.IntN(900), m.one("fast", "draft 2", "see below", "stable")
	first := p.args[0]
	key, value := first.key, m.scalar(first.value, true)
	other := v.tools[m.IntN(len(v.tools))].Name
	kinds := []string{
		// YAML
		fmt.Sprintf("name: CI\non: [push]\njobs:\n  %s:\n    runs-on: ubuntu-latest\n    steps:\n      - run: make %s\n", p.name, key),
		fmt.Sprintf("name: %s\nversion: 1.%d\ndescription: %s\n", p.name, n, word),
		fmt.Sprintf("%s:\n  enabled: true\n  retries: %d\n", p.name, n),
		fmt.Sprintf("%s:\n  description: %s\n  parameters:\n    %s: string\n", p.name, word, key),
		fmt.Sprintf("services:\n  %s:\n    image: %s:%d\n    environment:\n      %s: %s\n", p.name, p.name, n, key, value),
		fmt.Sprintf("tools:\n  - %s\n  - %s\nmodel: small\n", p.name, other),
		fmt.Sprintf("tools:\n  - name: %s\n    arguments:\n%s", p.name, m.yamlLines(p, "      ")),
		fmt.Sprintf("tool: %s\narguments:\n%sresult: %s\n", p.name, m.yamlLines(p, "  "), word),
		fmt.Sprintf("tool: %s\narguments:\n%sstatus: ok\nduration: %d\n", p.name, m.yamlLines(p, "  "), n),
		fmt.Sprintf("example:\n  tool: %s\n  arguments:\n%s", p.name, m.yamlLines(p, "    ")),
		fmt.Sprintf("- name: %s\n  hosts: all\n  vars:\n    %s: %s\n  tasks: []\n", p.name, key, value),
		fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\ndata:\n  %s: %s\n", p.name, key, value),
		fmt.Sprintf("%s:\n  %s:\n    type: string\n    description: %s\n", p.name, key, word),
		fmt.Sprintf("%s: %s\n%s: %s\ntool: %s\n", key, value, "note", word, p.name),
		fmt.Sprintf("%s: %d\n%s: %d\n", p.name, n, other, n/2),
		// TOML
		fmt.Sprintf("[package]\nname = %q\nversion = \"0.%d.0\"\n\n[dependencies]\n%s = \"1\"\n", p.name, n, key),
		fmt.Sprintf("[tool.%s]\nline-length = %d\n", p.name, n),
		fmt.Sprintf("[%s]\nenabled = true\nlimit = %d\n", p.name, n),
		fmt.Sprintf("[%s]\n%stimeout = %d\n", p.name, m.tomlLines(p), n),
		fmt.Sprintf("[defaults]\n%s\n[%s]\nretries = %d\n", m.tomlLines(p), p.name, n),
		fmt.Sprintf("tool = %q\nversion = %d\n", p.name, n),
		fmt.Sprintf("[tools]\n%s = true\n%s = false\n", p.name, other+"2"),
		// a shell
		fmt.Sprintf("$ %s --help\nUsage: %s [--%s VALUE]\n", p.name, p.name, key),
		fmt.Sprintf("$ %s %s\n%s, %d\n$ ", p.name, m.words(p, "--", " ", " "), word, n),
		fmt.Sprintf("%s --%s %s --verbose\n", p.name, key, value),
		fmt.Sprintf("%s --version\n", p.name),
		fmt.Sprintf("#!/bin/sh\nset -e\n%s %s\n", p.name, m.words(p, "--", " ", " ")),
		fmt.Sprintf("export %s=%d\n%s | tee out.txt\n", strings.ToUpper(key), n, p.name),
		fmt.Sprintf("%s %s | sort > out.txt\n", p.name, m.words(p, "--", "=", " ")),
		fmt.Sprintf("%s %s && echo done\n", p.name, m.words(p, "--", "=", " ")),
		fmt.Sprintf("%s=%d\n%s=%s\n", strings.ToUpper(p.name), n, strings.ToUpper(key), word),
		// Markdown
		fmt.Sprintf("# %s\n\nA tool that finds the %s.\n\n```json\n%s\n```\n", p.name, key, p.json("  ")),
		fmt.Sprintf("### %s\n\n```json\n%s\n```\n\nReturns the %s.\n", p.name, p.json("  "), word),
		fmt.Sprintf("### %s\n\n```json\n%s\n```\n\n### %s\n\nSee above.\n", p.name, p.json(""), other+"2"),
		fmt.Sprintf("## Tools\n\n- `%s`: finds the %s\n- `%s`: %s\n", p.name, key, other, word),
		fmt.Sprintf("### %s\n\n- `%s` (string): the %s\n", p.name, key, word),
		fmt.Sprintf("### %s\n\n- %s: string\n", p.name, key),
		fmt.Sprintf("**%s** finds the %s:\n\n```json\n%s\n```\n", p.name, key, p.json("")),
		fmt.Sprintf("**%s**: %s\n\n**%s**: %s\n", p.name, word, key, value),
		fmt.Sprintf("| tool | %s |\n|---|---|\n| %s | %s |\n", key, p.name, value),
		fmt.Sprintf("`%s` takes one object:\n\n```json\n%s\n```\n", p.name, p.json("  ")),
		fmt.Sprintf("%s: %s is all it takes.\n", p.name, p.json("")),
		fmt.Sprintf("%s -> %s -> done\n", p.name, p.json("")),
		fmt.Sprintf("[%s](https://example.com/%s) {#%s}\n", p.name, key, p.name),
		fmt.Sprintf("1. %s\n2. %s\n3. %s\n", p.name, key, word),
		fmt.Sprintf("@%s, can you look at %s?\n", p.name, key),
		fmt.Sprintf("(defun %s (%s) (print %s))\n", p.name, key, key),
		fmt.Sprintf("(%s)\n", p.name),
		fmt.Sprintf("call %s with a %s.\n", p.name, key),
		fmt.Sprintf("%s = %s\nprint(%s)\n", key, quotedJSON(word), key),
	}
	text := kinds[m.IntN(len(kinds))]
	if label := m.one("", "", "yaml", "toml", "bash", "text"); label != "" && !strings.Contains(text, "```") {
		text = "```" + label + "\n" + text + "```\n"
	}
	return text
}

// quotedNotation returns a call in some notation that a text shows.
func (m wrapperMaker) quotedNotation(v vocabulary) string {
	text := strings.TrimSpace(notations[m.IntN(len(notations))].write(m, v.call(m)))
	if !strings.Contains(text, "```") {
		text = m.one(text, "```"+m.one("yaml", "bash", "text", "toml")+"\n"+text+"\n```")
	}
	switch m.IntN(6) {
	case 0:
		return "Such a call would be written like this:\n\n" + text
	case 1:
		return "For example:\n\n" + text + "\n\nChange the values as you like."
	case 2:
		return text + "\n\nThis is how the documentation shows it."
	case 3:
		return "> " + strings.ReplaceAll(text, "\n", "\n> ") + "\n\nwas what the log had."
	case 4:
		return "The file has these lines:\n\n" + text
	}
	return text + "\n\nThe result was: 3\n"
}

// TestOrdinaryDocumentsAreNoNotations reads documents that have the names of tools and of their
// members, and calls that are shown: none of them runs, and all stay as they are.
func TestOrdinaryDocumentsAreNoNotations(t *testing.T) {
	for _, half := range []struct {
		seed uint64
		vocabulary
	}{{6, seenVocabulary()}, {20261129, freshVocabulary()}} {
		m, o := wrapperMaker{rand.New(rand.NewPCG(half.seed, 32))}, Options{Tools: half.tools}
		for i := range 600 {
			text := m.plainDocument(half.vocabulary)
			if i%3 == 0 {
				text = m.quotedNotation(half.vocabulary)
			}
			staysText(t, text, o, i%20 == 0)
		}
	}
}

// TestAskedDocumentsAreNoCalls has replies with a notation that show a call, in answer to the
// question above each: testdata/asked.txt.
func TestAskedDocumentsAreNoCalls(t *testing.T) {
	v := seenVocabulary()
	for _, s := range readSections(t, "testdata/asked.txt") {
		question, text, _ := strings.Cut(s.Text, "\n\n")
		o := Options{Tools: v.tools, Messages: []chat.Message{{Role: chat.User, Content: question}}}
		for _, pieces := range [][]string{{text}, golden.Bytes(text)} {
			if calls := decodeCalls(t, Named("generic"), pieces, o); len(calls) > 0 {
				t.Errorf("%s in %d pieces runs", s.Name, len(pieces))
			}
		}
	}
}
