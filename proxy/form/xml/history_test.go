package xml

import (
	"fmt"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/voidmodel"
)

// user, said and system are messages, shortly.
func user(s string) chat.Message { return chat.Message{Role: chat.User, Content: s} }
func said(s string) chat.Message { return chat.Message{Role: chat.Assistant, Content: s} }

// talk writes a conversation, a line each message and call.
func talk(ms []chat.Message) string {
	var b strings.Builder
	for _, m := range ms {
		fmt.Fprintf(&b, "%s %q", m.Role, m.Content)
		for _, c := range m.Calls {
			fmt.Fprintf(&b, " %s=%s(%s)", c.ID, c.Name, c.Args)
		}
		if m.CallID != "" {
			fmt.Fprintf(&b, " of %s %s", m.CallID, m.Name)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestEarlierCallsBecomeCalls(t *testing.T) {
	for _, tt := range []struct {
		name, prompt string
		in           []chat.Message
		want         string
	}{
		{"a call, its result, and what the user says behind it", "void", []chat.Message{
			user("q"), said("I look.\n\n    <read_file>\n<uri>a</uri>\n<page_number>2</page_number>\n    </read_file>"),
			user("<read_file_result>\na\nb\n</read_file_result>\n\nand now?")},
			`user "q"
assistant "I look." call_void_1=read_file({"uri":"a","page_number":"2"})
tool "a\nb" of call_void_1 read_file
user "and now?"
`},
		{"two steps, the second without words or arguments", "void", []chat.Message{
			said("\n\n    <open_tabs>\n    </open_tabs>"), user("<open_tabs_result>\n\n</open_tabs_result>"),
			said("\n\n    <ls_dir>\n<uri></uri>\n    </ls_dir>"), user("<ls_dir_result>\n</ls_dir_result>\n</ls_dir_result>"), said("Done.")},
			`assistant "" call_void_1=open_tabs({})
tool "" of call_void_1 open_tabs
assistant "" call_void_2=ls_dir({"uri":""})
tool "</ls_dir_result>" of call_void_2 ls_dir
assistant "Done."
`},
		{"values with marks, lines and quotes", "void", []chat.Message{
			said("x\n\n    <edit_file>\n<uri>a</uri>\n<search_replace_blocks>\"1\"\r\n</search_replace_blocks> <b>\n</edit_file>\n</search_replace_blocks>\n    </edit_file>"),
			user("<edit_file_result>\nok\n</edit_file_result>")},
			`assistant "x" call_void_1=edit_file({"uri":"a","search_replace_blocks":"\"1\"\r\n</search_replace_blocks> <b>\n</edit_file>\n"})
tool "ok" of call_void_1 edit_file
`},
		{"a call without a result stays text", "void", []chat.Message{said("<ls_dir>\n</ls_dir>"), user("no")}, "assistant \"<ls_dir>\\n</ls_dir>\"\nuser \"no\"\n"},
		{"a result without a call stays text", "void", []chat.Message{said("x"), user("<ls_dir_result>\n\n</ls_dir_result>")}, "assistant \"x\"\nuser \"<ls_dir_result>\\n\\n</ls_dir_result>\"\n"},
		{"words between the arguments are no call", "void", []chat.Message{said("<ls_dir>\nor <uri>a</uri></ls_dir>"), user("<ls_dir_result>\n\n</ls_dir_result>")},
			"assistant \"<ls_dir>\\nor <uri>a</uri></ls_dir>\"\nuser \"<ls_dir_result>\\n\\n</ls_dir_result>\"\n"},
		{"Cline's result is the whole message", "cline", []chat.Message{
			said("I list.\n\n<list_files>\n<path>.</path>\n<recursive>\ntrue\n</recursive>\n</list_files>"),
			user("[list_files for '.'] Result:\nmain.go\n<environment_details>\n</environment_details>")},
			`assistant "I list." call_cline_1=list_files({"path":".","recursive":"true"})
tool "[list_files for '.'] Result:\nmain.go\n<environment_details>\n</environment_details>" of call_cline_1 list_files
`},
		{"another tool's result stays text", "cline", []chat.Message{said("<list_files>\n<path>.</path>\n</list_files>"), user("[read_file for 'x'] Result:\n")},
			"assistant \"<list_files>\\n<path>.</path>\\n</list_files>\"\nuser \"[read_file for 'x'] Result:\\n\"\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := talk(prompt(t, tt.prompt).history(tt.in)); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}

func TestAPromptIsWhereClientsPutIt(t *testing.T) {
	text := read(t, "testdata/void.txt")
	system := chat.Message{Role: chat.System, Content: "x"}
	for _, tt := range []struct {
		in    []chat.Message
		found bool
	}{
		{[]chat.Message{{Role: chat.System, Content: text}, user("q")}, true},
		{[]chat.Message{system, {Role: chat.System, Content: text}, user("q")}, true},
		{[]chat.Message{user("<SYSTEM_MESSAGE>\n" + text + "\n</SYSTEM_MESSAGE>\nq")}, true},
		{[]chat.Message{system, user(text)}, false},
		{[]chat.Message{user("q"), said("a"), user(text)}, false},
		{nil, false},
	} {
		if p, _ := Read(tt.in); (p != nil) != tt.found {
			t.Errorf("%d messages: found %t, want %t", len(tt.in), p != nil, tt.found)
		}
	}
}

// TestAPromptMayBeCut reads prompts that Void has cut, as it does for models that it does not know.
func TestAPromptMayBeCut(t *testing.T) {
	whole := read(t, "testdata/void.txt")
	cut := whole[:strings.Index(whole, "=======")] + "..."
	for text, want := range map[string]string{
		cut: "",
		"<SYSTEM_MESSAGE>\n" + cut + "\n</SYSTEM_MESSAGE>\nMy question...":                                             "</SYSTEM_MESSAGE>\nMy question...",
		"<SYSTEM_MESSAGE>\n" + whole[:strings.Index(whole, "\n\n\nImportant")] + "\n</SYSTEM_MESSAGE>\nMy\n\nquestion": "</SYSTEM_MESSAGE>\nMy\n\nquestion",
	} {
		p, out := Read([]chat.Message{user(text)})
		if p == nil || p.Tools[0].Name != "read_file" || len(p.Tools) < 2 {
			t.Errorf("%q is read as %+v", text, p)
			continue
		}
		if _, rest, _ := strings.Cut(out[0].Content, callInstructions+"\n"); rest != want {
			t.Errorf("behind the tools stands %q, want %q", rest, want)
		}
	}
	if p, _ := Read([]chat.Message{user("Available tools:\n1. a\n<a>\n</a>\nand so on")}); p != nil {
		t.Errorf("a list that is no prompt is read as %+v", p)
	}
}

// FuzzRead holds reading to what must be true of any conversation: nothing breaks, and what is no
// part of the prompt's tools stays.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"void", "cline", "roo"} {
		f.Add(read(f, "testdata/"+name+".txt"), "x\n<read_file>\n<uri>a</uri>\n</read_file>", "<read_file_result>\nb\n</read_file_result>")
		f.Add(read(f, "testdata/"+name+".txt"), "<list_files>\n<path>.</path>\n</list_files>", "[list_files for '.'] Result:\n")
	}
	f.Add("Available tools:\n1. a\nFormat:\n<a>\n<b>Optional</b>\n</a>\nTool calling details:\n- x\n\ny", "<a>\n<b></b></a>", "<a_result>\n\n</a_result>")
	f.Add("# Tools\n## a\nParameters:\n- b: (required) x\nUsage:\n<a>\n<b>c</b>\n</a>\n====\n", "<a><b>\nx\n</b></a>", "[a for 'b'] Result: c")
	f.Fuzz(func(t *testing.T, system, reply, answer string) {
		in := []chat.Message{{Role: chat.System, Content: system}, said(reply), user(answer)}
		p, out := Read(in)
		if p == nil {
			if fmt.Sprint(out) != fmt.Sprint(in) {
				t.Fatalf("without tools %q became %q", in, out)
			}
			return
		}
		if len(p.Tools) == 0 || in[0].Content != system || in[1].Content != reply {
			t.Fatalf("%d tools, or the messages were changed", len(p.Tools))
		}
		for _, tool := range p.Offer() {
			if !isName(tool.Name) || !strings.Contains(system, "<"+tool.Name+">") {
				t.Fatalf("a tool %q that the prompt does not show", tool.Name)
			}
		}
		for _, m := range out {
			for _, c := range m.Calls {
				if p.Find(c.Name) == nil {
					t.Fatalf("a call of %q, which is no tool", c.Name)
				}
			}
		}
	})
}

// FuzzWrite holds whatever is written to Void's own reading.
func FuzzWrite(f *testing.F) {
	f.Add("a", "b\n", "I look.")
	f.Add("<uri>", "</edit_file>", "a <edit_fi")
	p := prompt(f, "void")
	f.Fuzz(func(t *testing.T, uri, blocks, text string) {
		want := map[string]string{"uri": strings.ToValidUTF8(uri, "?"), "search_replace_blocks": strings.ToValidUTF8(blocks, "?")}
		args := append(append(append(append([]byte(`{"search_replace_blocks":`), chat.AppendQuoted(nil, want["search_replace_blocks"])...), `,"uri":`...), chat.AppendQuoted(nil, want["uri"])...), '}')
		open, rest, err := p.Write(chat.Call{Name: "edit_file", Args: args})
		if err != nil {
			return
		}
		v := voidmodel.Parser{Tools: asVoid(p)}
		for _, piece := range reply(p, []string{text}, open, rest) {
			v.Piece(piece)
		}
		if _, call := v.End(); call == nil || fmt.Sprint(call.Args) != fmt.Sprint(want) || !call.Closed {
			t.Fatalf("%q %q reads %+v, want %q", text, open+rest, call, want)
		}
	})
}
