package xml

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/test/must"
	"toolnorm/internal/voidmodel"
)

// prompts are those in testdata, read.
func prompt(t testing.TB, name string) *Prompt {
	t.Helper()
	p, _ := readPrompt(read(t, "testdata/"+name+".txt"))
	if p == nil {
		t.Fatalf("no tools in %s", name)
	}
	return p
}

// asVoid are a prompt's tools as Void has them.
func asVoid(p *Prompt) (all []voidmodel.Tool) {
	for _, t := range p.Tools {
		v := voidmodel.Tool{Name: t.Name}
		for _, param := range t.Params {
			v.Params = append(v.Params, voidmodel.Param{Name: param.Name})
		}
		all = append(all, v)
	}
	return all
}

// values are such as files and models hold.
var values = []string{
	"", "main.go", "a\nb", "\n", "\n\n", "  \n x \n  ", "a\r\nb\r\n", "\r\n", "서울\n부산", "한국어 값", "1 < 2 && 3 > 2", "<b>bold</b>", "</edit_file>",
	"<edit_file>", "<read_file><path>x</path>", "</k3j9ab_search_docs>", "<", "</", "a<", "&lt;uri&gt;", "\"quoted\" 'single' `back`", "\\n \\\\ \x00\x1b", "```go\nx\n```\n",
	strings.Repeat("long ", 2000) + "\n", "<think>hm</think>", "[1,2]", "{\"a\":null}", "null", "\u2028\ufeff", "\n<x>\n",
}

// sentences are what models say around calls.
var sentences = []string{"", "I look.", "I use <read_file> for this.", "<edit_file>\n<uri>x</uri></edit_file> is how", "a <", "the tag <run_", "<<run_command>", "end\n\n", "한<ls_dir>글", "</read_file>"}

// reply is what a client gets of a text in pieces, and a call behind it.
func reply(p *Prompt, pieces []string, open, rest string) (all []string) {
	prose := p.Prose()
	for _, s := range pieces {
		all = append(all, prose.Text(s))
	}
	all = append(all, prose.End())
	if open != "" {
		all = append(all, "\n\n", open, rest)
	}
	return all
}

func TestVoidReadsWhatIsWritten(t *testing.T) {
	p := prompt(t, "void")
	r := rand.New(rand.NewPCG(1, 2))
	written, refused := 0, 0
	for i := range 3000 {
		tool := &p.Tools[r.IntN(len(p.Tools))]
		want := map[string]string{}
		for _, param := range tool.Params {
			if param.Required || r.IntN(2) == 0 {
				want[param.Name] = values[r.IntN(len(values))] + values[r.IntN(len(values))]
			}
		}
		args, err := json.Marshal(want)
		must.OK(t, err)
		open, rest, err := p.Write(chat.Call{Name: tool.Name, Args: args})
		if err != nil {
			refused++
			continue
		}
		written++
		text := sentences[r.IntN(len(sentences))] + sentences[r.IntN(len(sentences))]
		v := voidmodel.Parser{Tools: asVoid(p)}
		for _, piece := range reply(p, chunks(r, text), open, rest) {
			v.Piece(piece)
		}
		shown, call := v.End()
		if call == nil || call.Name != tool.Name || !call.Closed || fmt.Sprint(call.Args) != fmt.Sprint(want) {
			t.Fatalf("%d: %s\nreads %+v\nwant  %q", i, text+open+rest, call, want)
		}
		if got := strings.ReplaceAll(shown, "< ", "<"); got != strings.TrimRight(strings.ReplaceAll(text, "< ", "<"), " \n") {
			t.Fatalf("%d: shows %q of %q", i, shown, text)
		}
	}
	if written < 2000 {
		t.Errorf("%d written, %d refused: hardly anything can be said", written, refused)
	}
}

// chunks cuts a text anywhere.
func chunks(r *rand.Rand, text string) (all []string) {
	for len(text) > 0 {
		n := 1 + r.IntN(len(text))
		all, text = append(all, text[:n]), text[n:]
	}
	return all
}

func TestVoidShowsEveryTextWithoutACall(t *testing.T) {
	p := prompt(t, "void")
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		text := sentences[r.IntN(len(sentences))] + sentences[r.IntN(len(sentences))]
		v := voidmodel.Parser{Tools: asVoid(p)}
		for _, piece := range reply(p, chunks(r, text), "", "") {
			v.Piece(piece)
		}
		shown, call := v.End()
		if call != nil || strings.ReplaceAll(shown, "< ", "<") != strings.TrimRight(strings.ReplaceAll(text, "< ", "<"), " \n") {
			t.Fatalf("of %q Void shows %q and runs %+v", text, shown, call)
		}
	}
}

func TestCallsAreWrittenByTheRules(t *testing.T) {
	for _, tt := range []struct{ prompt, call, args, want string }{
		{"void", "run_command", `{"cwd":"/tmp","command":"ls"}`, "<run_command>\n<command>ls</command>\n<cwd>/tmp</cwd>\n</run_command>"},
		{"void", "open_tabs", `{}`, "<open_tabs>\n</open_tabs>"},
		{"void", "read_file", `{"uri":"a","page_number":2,"start_line":null,"unknown":1}`, "<read_file>\n<uri>a</uri>\n<page_number>2</page_number>\n</read_file>"},
		{"void", "ls_dir", `{"uri":""}`, "<ls_dir>\n<uri></uri>\n</ls_dir>"},
		{"void", "read_file", `{"uri":["a", {"b": 1.50}],"start_line":true}`, "<read_file>\n<uri>[\"a\",{\"b\":1.50}]</uri>\n<start_line>true</start_line>\n</read_file>"},
		{"void", "edit_file", `{"uri":"a","search_replace_blocks":"x </uri> y"}`, "search_replace_blocks of edit_file holds </uri>, which would end it"},
		{"void", "nothing", `{}`, "the client has no tool nothing"},
		{"cline", "write_to_file", `{"content":"<svg><path>x</path>\n</content>\n","path":"a.svg"}`, "<write_to_file>\n<path>a.svg</path>\n<content>\n<svg><path>x</path>\n</content>\n\n</content>\n</write_to_file>"},
		{"cline", "execute_command", `{"command":"echo </command>","requires_approval":false}`, "command of execute_command holds </command>, which would end it"},
		{"roo", "read_file", `{"args":"<file><path>a</path></file>"}`, "<read_file>\n<args><file><path>a</path></file></args>\n</read_file>"},
	} {
		open, rest, err := prompt(t, tt.prompt).Write(chat.Call{Name: tt.call, Args: json.RawMessage(tt.args)})
		got := open + rest
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s %s(%s): %q, want %q", tt.prompt, tt.call, tt.args, got, tt.want)
		}
	}
}

func TestVoidReadsTenArgumentsAtMost(t *testing.T) {
	p := &Prompt{Protocol: Void, Tools: []Tool{{Name: "many"}}}
	args := map[string]string{}
	for i := range 11 {
		name := fmt.Sprintf("p%02d", i)
		p.Tools[0].Params = append(p.Tools[0].Params, Param{Name: name})
		b, err := json.Marshal(args)
		must.OK(t, err)
		open, rest, err := p.Write(chat.Call{Name: "many", Args: b})
		if err != nil {
			t.Fatalf("%d arguments: %v", i, err)
		}
		v := voidmodel.Parser{Tools: asVoid(p)}
		v.Piece(open)
		v.Piece(rest)
		if _, call := v.End(); len(call.Args) != i {
			t.Errorf("of %d arguments Void reads %d", i, len(call.Args))
		}
		args[name] = "x"
	}
	b, _ := json.Marshal(args)
	if _, _, err := p.Write(chat.Call{Name: "many", Args: b}); err == nil {
		t.Error("eleven arguments are written")
	}
}
