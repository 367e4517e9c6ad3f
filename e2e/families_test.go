package e2e

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"

	"toolnorm/e2e/script"
)

var offered = []string{"get_weather", "get_time", "write_file"}

// TestEveryDialectThroughEverySetUp streams every script in every set-up of the newest Ollama. In
// one of them, which is another for each script, it is also streamed by the older client, asked for
// whole, and streamed by a toolnorm that reads everything as the generic format. The anchor is
// asked of Ollama's own endpoint as well, for the table.
func TestEveryDialectThroughEverySetUp(t *testing.T) {
	l := open(t)
	byName, generic := l.proxied(t, l.newest), l.proxied(t, l.newest, "--format", "*=generic")
	t.Parallel() // the lane itself is not changed from here on
	var rows []row
	for i, s := range l.newest.setups {
		var inFull, streamed []script.Script
		for j, sc := range l.scripts {
			if j%len(l.newest.setups) == i {
				inFull = append(inFull, sc)
			} else {
				streamed = append(streamed, sc)
			}
		}
		named := l.score(s, streamed, func(sc script.Script) []string { return l.askStream(byName, s, sc) })
		named.merge(l.score(s, inFull, func(sc script.Script) []string { return l.askAll(byName, s, sc) }))
		rows = append(rows, row{
			server:  l.newest.name,
			setup:   s.name,
			ollama:  l.score(s, l.scripts, func(sc script.Script) []string { return l.askOwn(l.newest, s, sc) }),
			named:   named,
			generic: l.score(s, inFull, func(sc script.Script) []string { return l.askStream(generic, s, sc) }),
		})
	}
	report(t, rows)
}

// TestOlderOllama asks for the anchor in every set-up of the last Ollama with an engine of its own,
// and for calls with split characters and long arguments: of every family in one set-up, of one in
// the others.
func TestOlderOllama(t *testing.T) {
	l := open(t)
	base := l.proxied(t, l.former)
	t.Parallel()
	var rows []row
	for i, s := range l.former.setups {
		part := slices.DeleteFunc(slices.Clone(l.scripts), func(sc script.Script) bool {
			return !sc.Anchor && (!demanding(sc) || i > 0 && sc.Family != "hermes")
		})
		rows = append(rows, row{
			server: l.former.name,
			setup:  s.name,
			ollama: l.score(s, part, func(sc script.Script) []string { return l.askOwn(l.former, s, sc) }),
			named:  l.score(s, part, func(sc script.Script) []string { return l.askStream(base, s, sc) }),
		})
	}
	report(t, rows)
}

// demanding are the scripts whose arguments hold characters that are split over tokens, or are
// long.
func demanding(sc script.Script) bool {
	_, kind, _ := strings.Cut(sc.Name, "_")
	return slices.Contains([]string{"ko", "ja", "emoji", "long"}, kind)
}

// report fails the test for each fault and prints the table.
func report(t *testing.T, rows []row) {
	t.Helper()
	for _, r := range rows {
		for _, err := range append(r.named.faults, r.generic.faults...) {
			t.Errorf("%s, %s", r.server, err)
		}
	}
	printTable(rows)
}

type row struct {
	server, setup          string
	ollama, named, generic score
}

// score counts right replies, those of the anchor apart.
type score struct {
	calls, callsOf int // anchor scripts with calls
	text, textOf   int // anchor scripts that must stay text
	more, moreOf   int // the others
	faults         []string
}

// score asks for each script, two at a time, and counts those without fault.
func (l *lane) score(s setup, scripts []script.Script, ask func(script.Script) []string) (sum score) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	places := make(chan struct{}, 2)
	for _, sc := range scripts {
		if sc.Reply == nil {
			continue
		}
		places <- struct{}{}
		wg.Go(func() {
			found := ask(sc)
			mu.Lock()
			defer mu.Unlock()
			sum.add(s, sc, found)
			<-places
		})
	}
	wg.Wait()
	return sum
}

// merge adds the counts and faults of another score.
func (sum *score) merge(o score) {
	sum.calls, sum.callsOf = sum.calls+o.calls, sum.callsOf+o.callsOf
	sum.text, sum.textOf = sum.text+o.text, sum.textOf+o.textOf
	sum.more, sum.moreOf = sum.more+o.more, sum.moreOf+o.moreOf
	sum.faults = append(sum.faults, o.faults...)
}

func (sum *score) add(s setup, sc script.Script, found []string) {
	n, of := &sum.more, &sum.moreOf
	switch {
	case sc.Anchor && len(sc.Reply.Calls) > 0:
		n, of = &sum.calls, &sum.callsOf
	case sc.Anchor:
		n, of = &sum.text, &sum.textOf
	}
	*of++
	if len(found) == 0 {
		*n++
		return
	}
	sum.faults = append(sum.faults, fmt.Sprintf("%s, %s/%s: the model wrote %s\n%s", s.name, sc.Family, sc.Name, clip(sc.Text()), strings.Join(found, "\n")))
}

// clip shortens a long text for a message.
func clip(text string) string {
	if len(text) > 600 {
		return fmt.Sprintf("%q … (%d bytes)", text[:600], len(text))
	}
	return fmt.Sprintf("%q", text)
}

var thought = regexp.MustCompile(`(?s)<think>.*</think>`)

// askOwn asks the server's own endpoint, the anchor only. The set-ups declare no thinking, so a
// thought in the text is not held against it, nor are blanks beside a call.
func (l *lane) askOwn(on *server, s setup, sc script.Script) []string {
	if !sc.Anchor {
		return nil
	}
	if on.wedges {
		on.alone.Lock()
		defer on.alone.Unlock()
	}
	got, want := l.current.chat(on.base, l.ask(s.name, sc, true)), *sc.Reply
	if got.Error != "" && on.wedges {
		on.unload(s.name)
	}
	if !want.Exact {
		got.Content = strings.Join(strings.Fields(thought.ReplaceAllString(got.Content, "")), " ")
		want.Text = strings.Join(strings.Fields(want.Text), " ")
	}
	return faults(&want, got)
}

// askStream streams a script by the current client and checks every rule.
func (l *lane) askStream(base string, s setup, sc script.Script) []string {
	got := l.current.chat(base, l.ask(s.model(), sc, true))
	return l.judge("streamed", sc, got)
}

func (l *lane) judge(how string, sc script.Script, got reply) []string {
	found := append(faults(sc.Reply, got), thinkFault(sc.Reply, got)...)
	if got.Raw != "" && got.Status == 0 {
		found = append(found, broken(got, offered)...)
	}
	for i, c := range got.Calls {
		if want := len(c.Arguments) / 1000; len(c.Arguments) > 5000 && got.Raw != "" && c.Pieces < want {
			found = append(found, fmt.Sprintf("call %d: %d bytes of arguments came in %d pieces, want %d or more", i, len(c.Arguments), c.Pieces, want))
		}
	}
	for i := range found {
		found[i] = how + ": " + found[i]
	}
	return found
}

// askAll streams a script by both clients and asks for it whole; all three must be right, and
// alike.
func (l *lane) askAll(base string, s setup, sc script.Script) []string {
	streamed := l.current.chat(base, l.ask(s.model(), sc, true))
	found := l.judge("streamed", sc, streamed)
	old := l.old.chat(base, l.ask(s.model(), sc, true))
	found = append(found, l.judge("streamed to "+l.old.name, sc, old)...)
	whole := l.current.chat(base, l.ask(s.model(), sc, false))
	whole.Raw = "" // no stream
	found = append(found, l.judge("whole", sc, whole)...)
	for _, other := range []reply{old, whole} {
		if a, b := gist(streamed), gist(other); a != b {
			found = append(found, fmt.Sprintf("replies differ: %s and %s", a, b))
		}
	}
	return found
}

// gist is what two replies to one question must have in common.
func gist(r reply) string {
	return fmt.Sprintf("content %q, reasoning %q, finish %q, error %t, calls\n%s", r.Content, r.Reasoning, r.Finish, r.Error != "", gotCalls(r))
}

func printTable(rows []row) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "\nserver\tset-up\tits own /v1: calls\ttext\ttoolnorm: calls\ttext\tmore scripts\tread as generic: calls\ttext\tmore scripts")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s", r.server, r.setup, r.ollama.anchor())
		for _, s := range []score{r.named, r.generic} {
			fmt.Fprintf(w, "\t%s\t%s", s.anchor(), part(s.more, s.moreOf))
		}
		fmt.Fprintln(w)
	}
	w.Flush()
}

// anchor is the two columns of the anchor.
func (sum score) anchor() string {
	return part(sum.calls, sum.callsOf) + "\t" + part(sum.text, sum.textOf)
}

func part(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d", n, of)
}
