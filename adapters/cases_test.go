package adapters

import (
	"iter"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/golden"
	"toolnorm/internal/test/must"
)

// readSections reads a case file.
func readSections(t testing.TB, path string) []golden.Section {
	t.Helper()
	src := must.Read(t, path)
	sections, err := golden.Sections(src)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return sections
}

// testTools are the tools that every case is offered.
func testTools(t testing.TB) []chat.Tool {
	t.Helper()
	tools, err := golden.Tools()
	must.OK(t, err)
	return tools
}

// transcript decodes and writes the events as golden files do.
func transcript(f *Format, cut []string, finish string, o Options) (string, error) {
	return golden.Transcript(f.Decode(golden.Source(cut, finish), o))
}

// replyOf returns what a format reads in a reply that comes in pieces.
func replyOf(t testing.TB, f *Format, pieces []string, o Options) *chat.Collector {
	t.Helper()
	reply := new(chat.Collector)
	for e, err := range f.Decode(golden.Source(pieces, chat.Stop), o) {
		must.OK(t, err)
		reply.Add(e)
	}
	return reply
}

// familyCase is one case of a family.
type familyCase struct {
	golden.Case
	format string
}

// goldens reads the cases of every family file.
func goldens(t testing.TB) []familyCase {
	t.Helper()
	var out []familyCase
	paths, _ := filepath.Glob("families/*.txt")
	for _, path := range paths {
		src := must.Read(t, path)
		cases, err := golden.Cases(src)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, c := range cases {
			out = append(out, familyCase{c, strings.TrimSuffix(filepath.Base(path), ".txt")})
		}
	}
	if len(out) == 0 {
		t.Fatal("no golden cases")
	}
	return out
}

// decodeAs reads replies in a family.
func decodeAs(f *Format, o Options) golden.Decode {
	return func(in chat.Source, prompt, hold string) iter.Seq2[chat.Event, error] {
		o.Prompt = prompt
		o.Hold, _ = ParseHold(hold)
		return f.Decode(in, o)
	}
}

func TestGoldenCases(t *testing.T) {
	o := Options{Tools: testTools(t)}
	for _, g := range goldens(t) {
		t.Run(g.format+"/"+g.Name, func(t *testing.T) {
			if d := g.Whole(decodeAs(Named(g.format), o)); d != nil {
				t.Error(d)
			}
		})
	}
}

// TestCallsAndResultsArePrintedAsTheTemplatesDo prints the cases of every family file that say what
// a template prints.
func TestCallsAndResultsArePrintedAsTheTemplatesDo(t *testing.T) {
	for _, f := range All() {
		prints, err := golden.Prints([]byte(f.File()))
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		for i := range prints {
			if d := prints[i].Run(f); d != nil {
				t.Errorf("%s/%s: %v", f.Name, prints[i].Name, d)
			}
		}
	}
}

// TestEachFormatReadsItsOwnAlone leaves out generic, which is all of them together.
func TestEachFormatReadsItsOwnAlone(t *testing.T) {
	o := Options{Tools: testTools(t), Alone: true}
	for _, g := range goldens(t) {
		if g.format == "generic" {
			continue
		}
		if d := g.Whole(decodeAs(Named(g.format), o)); d != nil {
			t.Errorf("%s/%s\n%v", g.format, g.Name, d)
		}
	}
}

func TestAnySplitGivesTheSameEvents(t *testing.T) {
	o := Options{Tools: testTools(t)}
	for i, g := range goldens(t) {
		if skipped(i) {
			continue
		}
		t.Run(g.format+"/"+g.Name, func(t *testing.T) {
			t.Parallel()
			if d := g.Split(decodeAs(Named(g.format), o)); d != nil {
				t.Error(d)
			}
		})
	}
}

// skipped says whether a short run leaves out number i of something: it takes a tenth. The race
// detector has short runs, since a decoder is one goroutine's.
func skipped(i int) bool { return testing.Short() && i%10 != 0 }

// checkSplits compares the whole text with its bytes, every two-way split and random splits.
func checkSplits(t *testing.T, f *Format, raw, finish string, o Options) {
	t.Helper()
	checkCuts(t, f, raw, finish, o, 0, 1)
}

// checkCuts compares the whole text with its bytes, random splits, and the two-way splits at every
// n-th place from place k on.
func checkCuts(t *testing.T, f *Format, raw, finish string, o Options, k, n int) {
	t.Helper()
	want, err := transcript(f, []string{raw}, finish, o)
	if err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	for what, cut := range golden.Cuts(raw, k, n) {
		if got, err := transcript(f, cut, finish, o); got != want || err != nil {
			t.Fatalf("%s, hold %d\nraw   %q\ngot   %s\nwhole %s\nerr %v", what, o.Hold, raw, got, want, err)
		}
	}
}

func TestNegativesStayText(t *testing.T) {
	tools := testTools(t)
	texts := negatives(t)
	if len(texts) < 120 {
		t.Errorf("only %d negatives", len(texts))
	}
	for k, f := range All() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			for i, s := range texts {
				if !skipped(i + k) {
					checkText(t, f, s, Options{Tools: tools}, i+k)
				}
			}
		})
	}
}

// negatives are the texts that hold no call, whoever wrote them.
func negatives(t *testing.T) []golden.Section {
	t.Helper()
	var all []golden.Section
	paths, _ := filepath.Glob("testdata/negatives/*.txt")
	for _, path := range paths {
		for _, s := range readSections(t, path) {
			s.Name = filepath.Base(path) + "/" + s.Name
			all = append(all, s)
		}
	}
	return all
}

// checkText reads a text that holds no call, cut at every 24th place from number k on, so that each
// place is tried with three of the seventy formats.
func checkText(t *testing.T, f *Format, s golden.Section, o Options, k int) {
	t.Helper()
	for _, finish := range []string{chat.Stop, chat.Length} {
		if finish == chat.Length && strings.Contains(s.Name, "half a") && strings.HasSuffix(s.Name, "mark") {
			continue // a limit has cut a mark in two, and half of it is not text
		}
		want := "finish " + finish
		if s.Text != "" {
			want = "text " + strconv.Quote(s.Text) + "\n" + want
		}
		if got, err := transcript(f, []string{s.Text}, finish, o); got != want || err != nil {
			t.Errorf("%s\ngot  %s\nwant %s\nerr %v", s.Name, got, want, err)
			continue
		}
		checkCuts(t, f, s.Text, finish, o, k, 24)
	}
}

// TestReasoningThatQuotesToolSyntax reads replies of models that think: what they quote while
// thinking is no call.
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
			i := strings.LastIndex(s.Name, ": ")
			if want[s.Name[:i]] == nil {
				want[s.Name[:i]] = map[string]string{}
			}
			want[s.Name[:i]][s.Name[i+2:]] = s.Text
		}
		for name, parts := range want {
			for _, f := range formats {
				t.Run(family+"/"+name+"/"+f.Name, func(t *testing.T) {
					o := Options{Tools: tools}
					got := map[string]string{}
					for e := range f.Decode(golden.Source([]string{parts["raw"]}, chat.Stop), o) {
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
