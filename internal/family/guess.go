package family

import (
	"errors"
	"fmt"
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/golden"
)

// Render gives the prompt that a conversation comes to with a model's own template.
type Render func(messages []chat.Message, tools []chat.Tool) (string, error)

// Proposal is what a model's template says about how the model writes.
type Proposal struct {
	File     string    // a family file: the declaration, and the template's own calls as cases
	Known    string    // the known family that prints the same; empty when none does
	Problems []Problem // what the declaration does not do
}

// What the probes say. Nothing of it occurs in a template, nor begins or ends as a mark does.
const (
	probeText   = "Zq: spoken :qZ"
	probeThink  = "Zq: thought :qZ"
	probeResult = "Zq: result :qZ"
)

// probes are two calls of one tool: all that differs between them is said here. The arguments are sorted, since servers may
// sort them.
var probes = []chat.Call{
	{ID: "Zq0000001", Name: "write_file", Args: []byte(`{"content": "wombat", "path": "quokka.txt"}`)},
	{ID: "Zq0000002", Name: "write_file", Args: []byte(`{"content": "bilby", "path": "numbat.txt"}`)},
}

// Guess renders conversations that differ in one thing, and proposes a declaration from the differences: with and without
// a call, with one call and two, with and without thinking. What it proposes is tested by printing and reading calls. An
// error means that the template writes no calls, or not in a form that a declaration can say.
func Guess(model string, set *adapters.Set, render Render) (best *Proposal, err error) {
	tools, err := golden.Tools()
	if err != nil {
		return nil, err
	}
	for _, behind := range []func(n int) []chat.Message{results, request} {
		w, failed := look(func(m chat.Message, n int) (string, error) {
			return render(append([]chat.Message{{Role: chat.User, Content: "Zq: asked :qZ"}, m}, behind(n)...), tools)
		})
		var p *Proposal
		if failed == nil {
			p, failed = propose(model, set, tools, w)
		}
		switch {
		case failed != nil && err == nil:
			err = failed
		case failed == nil && (best == nil || len(p.Problems) < len(best.Problems)):
			best = p
		}
		if best != nil && len(best.Problems) == 0 {
			break
		}
	}
	if best != nil {
		return best, nil
	}
	return nil, err
}

// results answer so many calls. Some templates print them as a part of the turn that called.
func results(n int) (out []chat.Message) {
	for _, c := range probes[:n] {
		out = append(out, chat.Message{Role: chat.ToolRole, Content: probeResult, Name: c.Name, CallID: c.ID})
	}
	return out
}

// request goes on without any result. Some templates drop thinking in front of it.
func request(int) []chat.Message {
	return []chat.Message{{Role: chat.User, Content: "Zq: asked again :qZ"}}
}

// propose makes a proposal of what was seen, and tests it.
func propose(model string, set *adapters.Set, tools []chat.Tool, w *writing) (*Proposal, error) {
	p := &Proposal{Known: w.knownIn(set)}
	lines, err := w.declaration(model, p.Known)
	if err != nil {
		return nil, err
	}
	f, err := set.Parse([]byte(lines))
	if err != nil {
		return nil, fmt.Errorf("%w: %w\n%s", errForm, err, lines)
	}
	p.File = lines + cases(f, tools, w)
	if got := string(f.Append(nil, probes...)); !begins(w.two, got) {
		p.Problems = append(p.Problems, Problem{"printed calls", fmt.Errorf("differ from the template's\ngot  %q\nwant %q", got, w.two)})
	}
	if err := reads(f, w.two, "", probes); err != nil {
		p.Problems = append(p.Problems, Problem{"the template's calls", err})
	}
	p.Problems = append(p.Problems, ReadsBack(f)...)
	return p, nil
}

// writing is what was seen of a template.
type writing struct {
	one, two string // one call, and two of them, without what surrounds the turn
	think    string // the thinking in front of a call; empty when the template drops it
	result   string // what follows a call up to the model's next turn, its result in it
	turn     string // what ends the turn
}

// look renders the probes; turn renders the assistant's message and what answers so many calls.
func look(turn func(m chat.Message, n int) (string, error)) (*writing, error) {
	var all [5]string
	for i, p := range []struct {
		thinking, text string
		calls, answers int
	}{{"", probeText, 0, 1}, {"", "", 1, 1}, {"", probeText, 0, 2}, {"", "", 2, 2}, {probeThink, "", 1, 1}} {
		var err error
		m := chat.Message{Role: chat.Assistant, Reasoning: p.thinking, Content: p.text, Calls: probes[:p.calls]}
		if all[i], err = turn(m, p.answers); err != nil {
			return nil, err
		}
	}
	text, one := all[0], all[1]
	if !strings.Contains(text, probeText) || !strings.Contains(one, "quokka") {
		return nil, errors.New("the template does not print calls")
	}
	w := new(writing)
	w.one = difference(text, one)
	w.two = difference(all[2], all[3])
	if !strings.Contains(w.one, probes[0].Name) || !strings.Contains(w.two, "numbat") {
		return nil, errors.New("the template prints calls that cannot be told from the rest of the turn")
	}
	if strings.Contains(all[4], probeThink) {
		w.think = insertion(one, all[4])
	}
	_, behind, _ := strings.Cut(text, probeText)
	w.turn = token(behind)
	if at := strings.Index(one, w.one); strings.Contains(one[at:], probeResult) {
		w.result = one[at+len(w.one):]
	}
	return w, nil
}

// knownIn is the known family that prints and reads the same, or "". One that agrees in white space too comes first.
func (w *writing) knownIn(set *adapters.Set) (name string) {
	for _, f := range set.All() {
		one, two := string(f.Append(nil, probes[0])), string(f.Append(nil, probes...))
		if !begins(w.one, one) || !begins(w.two, two) || reads(f, w.two, "", probes) != nil {
			continue
		}
		if one == w.one && two == w.two {
			return f.Name
		}
		if name == "" {
			name = f.Name
		}
	}
	return name
}

// begins says whether a text begins with calls as they are printed, white space aside: marks of the turn may follow.
func begins(text, calls string) bool {
	return strings.HasPrefix(strings.Join(strings.Fields(text), ""), strings.Join(strings.Fields(calls), ""))
}

// cases are the template's own calls as golden cases, with the events that the format reads, if these are the calls.
func cases(f *adapters.Format, tools []chat.Tool, w *writing) string {
	var b strings.Builder
	for i, raw := range []string{w.one, w.two} {
		raw = strings.Trim(raw, "\n")
		events, err := golden.Transcript(f.Decode(golden.Source([]string{raw}, chat.Stop), adapters.Options{Tools: tools}))
		if err != nil || strings.Count("\n"+events, "\ncall ") != i+1 || strings.Contains(raw, "\n-- ") {
			continue
		}
		name := []string{"one call", "two calls"}[i]
		fmt.Fprintf(&b, "-- %s: raw --\n%s\n-- %s: events --\n%s\n", name, raw, name, events)
	}
	return b.String()
}
