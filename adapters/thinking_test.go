package adapters

import (
	"strings"
	"testing"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/chat"
)

// thought is a reply by its parts.
func thought(t *testing.T, f *Format, raw string, o Options) (reasoning, text string) {
	t.Helper()
	got := replyOf(t, f, []string{raw}, o)
	return got.Reasoning.String(), got.Text.String()
}

// marksOfThinking are a family's pairs of marks around its reasoning, as its models write them.
func marksOfThinking(f *Format) (pairs [][2]string) {
	for _, p := range f.Think {
		pair := [2]string{}
		for i, text := range []string{p.Parts[0].Lit.Text, p.Parts[len(p.Parts)-1].Lit.Text} {
			pair[i] = f.Printed(text)
		}
		if !declaration.IsProse(p.Opener()) && !declaration.IsProse(p.CloseMark()) {
			pairs = append(pairs, pair)
		}
	}
	return pairs
}

// TestRepeatedMarksOfReasoningDoNotLeak writes the marks of every family twice, again, around
// nothing, and behind an answer.
func TestRepeatedMarksOfReasoningDoNotLeak(t *testing.T) {
	o := Options{Tools: testTools(t)}
	for _, f := range All() {
		for _, m := range marksOfThinking(f) {
			open, end := m[0], m[1]
			for _, row := range [][3]string{
				{open + "R." + end + "A.", "R.", "A."},
				{open + "R." + end + end + "A.", "R.", "A."},
				{open + "R." + end + "\n" + end + "A.", "R.", "A."},
				{open + "R." + end + "\n\n" + end + "\n\nA.", "R.", "A."},
				{open + open + "R." + end + "A.", "R.", "A."},
				{open + "\n" + open + "R." + end + "A.", "R.", "A."},
				{open + "R." + end + open + "S." + end + "A.", "R.S.", "A."},
				{open + "R." + end + "\n" + open + "S." + end + "A.", "R.S.", "A."},
				{open + "R." + end + open + end + "A.", "R.", "A."},
				{open + end + open + "R." + end + "A.", "R.", "A."},
				{open + end + "A.", "", "A."},
				{end + "A.", "", "A."},
				{end + end + "A.", "", "A."},
				{"A." + open + end, "", "A."},
				{"A." + open + "R." + end, "R.", "A."},
				{"A.\n" + open + "R." + end, "R.", "A."},
				{"A." + open + "R." + end + "B.", "R.", "A.B."},
				{open + "R." + end + "A." + open + "S." + end + "B.", "R.S.", "A.B."},
				{open + "R." + end + "A.\n" + open + "S." + end + "B.", "R.S.", "A.B."},
				{open + "R." + end + "A." + end + "B.", "R.", "A.B."},
				{open + "R." + end + "A." + end, "R.", "A."},
			} {
				reasoning, text := thought(t, f, row[0], o)
				text = strings.ReplaceAll(text, "\n", "")
				if strings.TrimSpace(reasoning) != row[1] || text != row[2] {
					t.Errorf("%s: %q\ngot  reasoning %q, text %q\nwant reasoning %q, text %q", f.Name, row[0], reasoning, text, row[1], row[2])
				}
				if !skipped(len(row[0])) {
					checkSplits(t, f, row[0], chat.Stop, o)
				}
			}
		}
	}
}

// TestThePromptOpensReasoning begins replies inside the reasoning of every family, told and not
// told.
func TestThePromptOpensReasoning(t *testing.T) {
	for _, f := range All() {
		for _, m := range marksOfThinking(f) {
			for _, reader := range []*Format{f, Named("generic"), Named("hermes")} {
				o := Options{Tools: testTools(t), Prompt: "Hello.\n" + m[0]}
				if reasoning, text := thought(t, reader, "R."+m[1]+"A.", o); reasoning != "R." || text != "A." {
					t.Errorf("%s read by %s behind %q: reasoning %q, text %q", f.Name, reader.Name, m[0], reasoning, text)
				}
			}
		}
	}
}

// TestMarksOfTheTurnNeverEndAReply puts the marks that a family's templates print at the end of a
// turn behind its replies.
func TestMarksOfTheTurnNeverEndAReply(t *testing.T) {
	o := Options{Tools: testTools(t)}
	for _, f := range All() {
		for _, mark := range append(append([]string(nil), f.Drop...), f.Ends...) {
			mark = f.Printed(mark)
			if declaration.IsProse(mark) {
				continue
			}
			for _, reader := range []*Format{f, Named("generic"), Named("llama3")} {
				for _, tail := range []string{"", "\n", " ", mark, "\n" + mark + "\n"} {
					if _, text := thought(t, reader, "Well done."+mark+tail, o); text != "Well done." {
						t.Errorf("%s read by %s: %q leaves %q", f.Name, reader.Name, mark+tail, text)
					}
				}
				call := string(f.Append(nil, chat.Call{ID: "example00", Name: "get_time", Args: []byte(`{}`)}))
				if _, text := thought(t, f, call+mark, o); strings.TrimSpace(text) != "" {
					t.Errorf("%s: %q leaves %q", f.Name, call+mark, text)
				}
			}
		}
	}
}
