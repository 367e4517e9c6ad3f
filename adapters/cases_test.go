package adapters

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"toolnorm/chat"
)

// section is one named text of a case file.
type section struct{ name, text string }

// readSections reads a case file: sections "-- NAME --" each followed by its text. One newline in front of the next
// section line is no text; a section "-- NAME quoted --" holds a Go string literal.
func readSections(t testing.TB, path string) []section {
	t.Helper()
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []section
	for _, line := range strings.SplitAfter(string(src), "\n") {
		bare := strings.TrimRight(line, "\n")
		if name, ok := strings.CutPrefix(bare, "-- "); ok && strings.HasSuffix(name, " --") {
			out = append(out, section{name: strings.TrimSuffix(name, " --")})
		} else if len(out) > 0 {
			out[len(out)-1].text += line
		}
	}
	for i := range out {
		s := &out[i]
		s.text = strings.TrimSuffix(s.text, "\n")
		if name, quoted := strings.CutSuffix(s.name, " quoted"); quoted {
			s.name = name
			if s.text, err = strconv.Unquote(strings.TrimSpace(s.text)); err != nil {
				t.Fatalf("%s: %s: %v", path, name, err)
			}
		}
	}
	return out
}

// testTools are the tools that every case is offered.
func testTools(t testing.TB) []chat.Tool {
	t.Helper()
	src, err := os.ReadFile("testdata/tools.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []struct {
		Function struct {
			Name, Description string
			Parameters        json.RawMessage
		}
	}
	if err := json.Unmarshal(src, &list); err != nil {
		t.Fatal(err)
	}
	var tools []chat.Tool
	for _, e := range list {
		tools = append(tools, chat.Tool{Name: e.Function.Name, Description: e.Function.Description, Schema: e.Function.Parameters})
	}
	return tools
}

// pieces is a source that delivers a text in pieces and then a Finish event.
type pieces struct {
	list   []string
	finish string
	done   bool
}

func (p *pieces) Next() (chat.Event, error) {
	if len(p.list) > 0 {
		s := p.list[0]
		p.list = p.list[1:]
		return chat.Event{Kind: chat.Text, Text: s}, nil
	}
	if !p.done {
		p.done = true
		return chat.Event{Kind: chat.Finish, Text: p.finish}, nil
	}
	return chat.Event{}, io.EOF
}

func (p *pieces) Close() error { return nil }

// bytesOf cuts a text into its bytes.
func bytesOf(s string) []string {
	out := make([]string, len(s))
	for i := range len(s) {
		out[i] = s[i : i+1]
	}
	return out
}

func randomCuts(s string, r *rand.Rand) []string {
	var out []string
	for s != "" {
		n := min(1+r.Intn(9), len(s))
		out, s = append(out, s[:n]), s[n:]
	}
	return out
}

// transcript decodes and writes the events as golden files do, adjacent fragments joined.
func transcript(f *Format, cut []string, finish string, o Options) (string, error) {
	var b strings.Builder
	var text, args strings.Builder
	kind := chat.None
	var start chat.Event
	open := false
	flush := func() {
		if kind != chat.None {
			fmt.Fprintf(&b, "%s %s\n", kind, strconv.Quote(text.String()))
		}
		kind = chat.None
		text.Reset()
	}
	line := func(word string) {
		id := ""
		if start.ID != "" {
			id = " id=" + start.ID
		}
		a := args.String()
		if strings.Contains(a, "\n") {
			a = strconv.Quote(a)
		}
		fmt.Fprintf(&b, "%s %d %s%s %s\n", word, start.Index, start.Text, id, a)
		args.Reset()
		open = false
	}
	for e, err := range f.Decode(&pieces{list: cut, finish: finish}, o) {
		if err != nil {
			return b.String(), err
		}
		if e.Kind != kind {
			flush()
		}
		switch e.Kind {
		case chat.Text, chat.Reasoning:
			kind = e.Kind
			text.WriteString(e.Text)
		case chat.CallStart:
			start, open = e, true
		case chat.CallArgs:
			args.WriteString(e.Text)
		case chat.CallEnd:
			if !json.Valid([]byte(args.String())) {
				return b.String(), fmt.Errorf("invalid JSON: %s", args.String())
			}
			line("call")
		case chat.Finish:
			if open {
				line("open")
			}
			fmt.Fprintf(&b, "finish %s\n", e.Text)
		}
	}
	return strings.TrimRight(b.String(), "\n"), nil
}

// golden is one case of a family.
type golden struct {
	format, name, raw, want string
	finish, prompt, hold    string
}

// goldens reads the cases of every family file.
func goldens(t testing.TB) []golden {
	t.Helper()
	var out []golden
	paths, _ := filepath.Glob("families/*.txt")
	for _, path := range paths {
		format := strings.TrimSuffix(filepath.Base(path), ".txt")
		byName := map[string]*golden{}
		var order []string
		for _, s := range readSections(t, path) {
			i := strings.LastIndex(s.name, ": ")
			if i < 0 {
				t.Fatalf("%s: section %q is no CASE: part", path, s.name)
			}
			name, part := s.name[:i], s.name[i+2:]
			g := byName[name]
			if g == nil {
				g = &golden{format: format, name: name, finish: chat.Stop}
				byName[name] = g
				order = append(order, name)
			}
			switch part {
			case "raw":
				g.raw = s.text
			case "events":
				g.want = strings.TrimRight(s.text, "\n")
			case "with":
				g.with(t, s.text)
			default:
				t.Fatalf("%s: no part %q", path, part)
			}
		}
		for _, n := range order {
			out = append(out, *byName[n])
		}
	}
	if len(out) == 0 {
		t.Fatal("no golden cases")
	}
	return out
}

func (g *golden) with(t testing.TB, text string) {
	for _, line := range strings.Split(text, "\n") {
		word, value, _ := strings.Cut(line, " ")
		var err error
		switch word {
		case "finish":
			g.finish = value
		case "prompt":
			g.prompt, err = strconv.Unquote(value)
		case "hold":
			g.hold = value
		case "#", "":
		default:
			t.Fatalf("%s: no option %q", g.name, word)
		}
		if err != nil {
			t.Fatalf("%s: %v", g.name, err)
		}
	}
}

var degrees = map[string]int{"none": HoldNone, "short": HoldShort, "call": HoldCall}

// holdsOf are the degrees in which a case is run.
func (g *golden) holds() []int {
	if g.hold != "" {
		return []int{degrees[g.hold]}
	}
	return []int{HoldShort, HoldNone, HoldCall}
}

func TestGoldenCases(t *testing.T) {
	tools := testTools(t)
	for _, g := range goldens(t) {
		t.Run(g.format+"/"+g.name, func(t *testing.T) {
			f := Named(g.format)
			for i, hold := range g.holds() {
				if i > 0 && strings.Contains(g.want, "\nopen") || i > 0 && g.finish == chat.Length {
					break
				}
				got, err := transcript(f, []string{g.raw}, g.finish, Options{Tools: tools, Prompt: g.prompt, Hold: hold})
				if err != nil || got != g.want {
					t.Fatalf("hold %d\nraw  %q\ngot  %s\nwant %s\nerr %v", hold, g.raw, got, g.want, err)
				}
			}
		})
	}
}

// TestEachFormatReadsItsOwnAlone leaves out generic, which is all of them together.
func TestEachFormatReadsItsOwnAlone(t *testing.T) {
	tools := testTools(t)
	for _, g := range goldens(t) {
		if g.format == "generic" {
			continue
		}
		o := Options{Tools: tools, Prompt: g.prompt, Hold: g.holds()[0], Alone: true}
		if got, err := transcript(Named(g.format), []string{g.raw}, g.finish, o); got != g.want || err != nil {
			t.Errorf("%s/%s\nraw  %q\ngot  %s\nwant %s\nerr %v", g.format, g.name, g.raw, got, g.want, err)
		}
	}
}

func TestAnySplitGivesTheSameEvents(t *testing.T) {
	tools := testTools(t)
	for _, g := range goldens(t) {
		t.Run(g.format+"/"+g.name, func(t *testing.T) {
			for _, hold := range []int{HoldShort, HoldNone, HoldCall} {
				checkSplits(t, Named(g.format), g.raw, g.finish, Options{Tools: tools, Prompt: g.prompt, Hold: hold})
			}
		})
	}
}

// checkSplits compares the whole text with its bytes, every two-way split and random splits.
func checkSplits(t *testing.T, f *Format, raw, finish string, o Options) {
	t.Helper()
	want, err := transcript(f, []string{raw}, finish, o)
	if err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	check := func(what string, cut []string) {
		t.Helper()
		if got, err := transcript(f, cut, finish, o); got != want || err != nil {
			t.Fatalf("%s, hold %d\nraw   %q\ngot   %s\nwhole %s\nerr %v", what, o.Hold, raw, got, want, err)
		}
	}
	check("byte by byte", bytesOf(raw))
	if len(raw) < 3000 {
		for i := range raw {
			check(fmt.Sprintf("cut at %d", i), []string{raw[:i], raw[i:]})
		}
	}
	r := rand.New(rand.NewSource(1))
	for range 8 {
		check("random cuts", randomCuts(raw, r))
	}
}

func TestNegativesStayText(t *testing.T) {
	tools := testTools(t)
	paths, _ := filepath.Glob("testdata/negatives/*.txt")
	n := 0
	for _, path := range paths {
		for _, s := range readSections(t, path) {
			n++
			for _, f := range All() {
				for _, finish := range []string{chat.Stop, chat.Length} {
					t.Run(filepath.Base(path)+"/"+s.name+"/"+f.Name+"/"+finish, func(t *testing.T) {
						want := "finish " + finish
						if s.text != "" {
							want = "text " + strconv.Quote(s.text) + "\n" + want
						}
						got, err := transcript(f, []string{s.text}, finish, Options{Tools: tools})
						if got != want || err != nil {
							t.Fatalf("got  %s\nwant %s\nerr %v", got, want, err)
						}
						checkSplits(t, f, s.text, finish, Options{Tools: tools})
					})
				}
			}
		}
	}
	if n < 60 {
		t.Errorf("only %d negatives", n)
	}
}

// TestReasoningThatQuotesToolSyntax reads replies of models that think: what they quote while thinking is no call.
func TestReasoningThatQuotesToolSyntax(t *testing.T) {
	tools := testTools(t)
	paths, _ := filepath.Glob("testdata/reasoning/*.txt")
	for _, path := range paths {
		family := strings.TrimSuffix(filepath.Base(path), ".txt")
		formats := []*Format{Named(family)}
		if family == "any" {
			formats = []*Format{Named("hermes"), Named("qwen3-coder"), Named("glm4"), Named("generic")}
		}
		want := map[string]map[string]string{}
		for _, s := range readSections(t, path) {
			i := strings.LastIndex(s.name, ": ")
			if want[s.name[:i]] == nil {
				want[s.name[:i]] = map[string]string{}
			}
			want[s.name[:i]][s.name[i+2:]] = s.text
		}
		for name, parts := range want {
			for _, f := range formats {
				t.Run(family+"/"+name+"/"+f.Name, func(t *testing.T) {
					o := Options{Tools: tools}
					got := map[string]string{}
					for e := range f.Decode(&pieces{list: []string{parts["raw"]}, finish: chat.Stop}, o) {
						switch e.Kind {
						case chat.Text:
							got["text"] += e.Text
						case chat.Reasoning:
							got["reasoning"] += e.Text
						case chat.CallStart:
							got["calls"] += e.Text + " "
						case chat.CallArgs:
							got["calls"] += e.Text
						case chat.CallEnd:
							got["calls"] += "\n"
						}
					}
					got["calls"] = strings.TrimSuffix(got["calls"], "\n")
					for _, part := range []string{"reasoning", "text", "calls"} {
						if got[part] != parts[part] {
							t.Errorf("%s\nraw  %q\ngot  %q\nwant %q", part, parts["raw"], got[part], parts[part])
						}
					}
					checkSplits(t, f, parts["raw"], chat.Stop, o)
				})
			}
		}
	}
}
