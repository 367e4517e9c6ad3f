package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"

	"toolnorm/chat"
	"toolnorm/e2e/script"
	"toolnorm/engine/valid"
	"toolnorm/internal/test/must"
)

// guaranteePage is where it is written what became of defective replies.
const guaranteePage = "../docs/evidence/guarantee.md"

// guaranteeHead opens the page.
const guaranteeHead = `# What happens to malformed replies

Written by ` + "`make guarantee`" + `. A scripted model, on each set-up of a real Ollama, wrote %d malformed replies, streamed and not: defects in the JSON, in the
marks around it, in types, and calls that no repair can make valid. The replies and the tools are in ` + "`e2e/defects`" + `.

- **own ` + "`/v1`" + `**: correct replies of the server's own endpoint, out of %d
- replies of toolnorm, by the step that made them correct: **as written**; **read** (repaired or converted while parsing, surplus members removed); **rewritten** (the model
  wrote the call again, constrained to the schema); **reasked** (the model was told what was wrong); **as text** (shown as the model wrote it, because
  it is no call or nothing helped); **left open** (its beginning had been sent and the rest was invalid: the reply ends with "length")
- **invalid**: calls that were sent completely and violate their schema; **lost**: visible text that is missing; **wrong**: replies that
  parsing alone should have made correct, and did not

When told what is wrong, the scripted model writes the same defect again; constrained to a schema, it writes valid but meaningless values. How often a
real model gets it right is another question, which [models.md](models.md) answers.

| set-up | own ` + "`/v1`" + ` | as written | read | rewritten | reasked | as text | left open | invalid | lost | wrong |
|---|---|---|---|---|---|---|---|---|---|---|
`

// outcome counts what became of the replies in one set-up.
type outcome struct {
	mu                                       sync.Mutex
	own, asWritten, read, rewritten, reasked int
	asText, leftOpen, invalid, lost, wrong   int
	faults                                   []string
}

// TestTheGuarantee asks for replies with defects in every set-up. No call may leave that does not
// fit its schema, no visible text may get lost, and what reading can cure must be exact. Each reply
// is streamed in one half of the set-ups and asked for whole in the other. With
// TOOLNORM_E2E_GUARANTEE=write it is both in all, and the page is written.
func TestTheGuarantee(t *testing.T) {
	l := open(t)
	rules := l.defectRules(t)
	base := l.proxied(t, l.newest)
	t.Parallel()
	write := os.Getenv("TOOLNORM_E2E_GUARANTEE") == "write"
	page := bytes.NewBufferString(fmt.Sprintf(guaranteeHead, len(l.defects), len(l.defects)))
	for i, s := range l.newest.setups {
		var sum outcome
		l.each(l.defects, func(j int, sc script.Script) {
			if write { // nothing is asked of it: it is a column of the page
				sum.countOwn(rules, sc, l.current.chat(l.newest.base, l.askDefect(s.name, sc, true)))
			}
			if write || (i+j)%2 == 0 {
				sum.count(rules, sc, l.current.chat(base, l.askDefect(s.model(), sc, true)))
			}
			if write || (i+j)%2 == 1 {
				sum.judge(rules, sc, l.current.chat(base, l.askDefect(s.model(), sc, false)))
			}
		})
		for _, f := range sum.faults {
			t.Errorf("%s: %s", s.name, f)
		}
		fmt.Fprintf(page, "| %s | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d |\n", s.name, sum.own, sum.asWritten, sum.read,
			sum.rewritten, sum.reasked, sum.asText, sum.leftOpen, sum.invalid, sum.lost, sum.wrong)
	}
	if write && !t.Failed() {
		must.OK(t, os.WriteFile(guaranteePage, page.Bytes(), 0o644))
	}
}

// defectRules check the arguments of the tools.
func (l *lane) defectRules(t *testing.T) map[string]*valid.Validator {
	t.Helper()
	b := must.Read(t, "defects/tools.json")
	tools := must.Have(chat.ParseTools(b))(t)
	rules := map[string]*valid.Validator{}
	for _, tool := range tools {
		rules[tool.Name] = must.Have(new(valid.Cache).Tool(tool))(t)
	}
	return rules
}

// askDefect is the request that brings up a defective reply.
func (l *lane) askDefect(model string, sc script.Script, stream bool) request {
	r := l.ask(model, sc, stream)
	r.Tools = l.defectTools
	return r
}

// each runs ask for every script and its index, two at a time.
func (l *lane) each(scripts []script.Script, ask func(int, script.Script)) {
	var wg sync.WaitGroup
	places := make(chan struct{}, 2)
	for i, sc := range scripts {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			ask(i, sc)
		})
	}
	wg.Wait()
}

// countOwn counts a right reply of the server's own endpoint: exact, or a call that fits where none
// is prescribed.
func (o *outcome) countOwn(rules map[string]*valid.Validator, sc script.Script, got reply) {
	right := got.Error == "" && len(unfit(rules, got)) == 0
	if sc.Reply.Open {
		right = right && len(got.Calls) > 0
	} else {
		got.Content = strings.Join(strings.Fields(thought.ReplaceAllString(got.Content, "")), " ")
		want := *sc.Reply
		want.Text, want.Exact = strings.Join(strings.Fields(want.Text), " "), false
		right = right && len(faults(&want, got)) == 0
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if right {
		o.own++
	}
}

// steps finds what was done, in a stream's comment line.
var steps = regexp.MustCompile(`(?m)^: .*repairs=(\S*)`)

// count judges a streamed reply and counts the step that it owes most to.
func (o *outcome) count(rules map[string]*valid.Validator, sc script.Script, got reply) {
	o.judge(rules, sc, got)
	done := ""
	if m := steps.FindStringSubmatch(got.Raw); m != nil {
		done = "," + m[1] + ","
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case strings.Contains(done, ",left-open,"):
		o.leftOpen++
	case strings.Contains(done, ",as-text,"), len(got.Calls) == 0:
		o.asText++
	case strings.Contains(done, ",reasked,"):
		o.reasked++
	case strings.Contains(done, ",rewritten,"):
		o.rewritten++
	case done != "":
		o.read++
	default:
		o.asWritten++
	}
}

// judge notes what must not be.
func (o *outcome) judge(rules map[string]*valid.Validator, sc script.Script, got reply) {
	bad := unfit(rules, got)
	missing := !strings.Contains(got.Content, sc.Reply.Text)
	var wrong []string
	if !sc.Reply.Open {
		wrong = faults(sc.Reply, got)
	} else if got.Error != "" {
		wrong = []string{"error " + got.Error}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.invalid += len(bad)
	if missing {
		o.lost++
	}
	if len(wrong) > 0 {
		o.wrong++
	}
	if missing || len(bad)+len(wrong) > 0 {
		o.faults = append(o.faults, fmt.Sprintf("%s: %q %q, got %s", sc.Name, bad, wrong, gist(got)))
	}
}

// unfit are the calls of a reply that are complete and do not fit.
func unfit(rules map[string]*valid.Validator, got reply) (bad []string) {
	for _, c := range got.Calls {
		if got.Finish == "length" && !json.Valid([]byte(c.Arguments)) {
			continue // left open: nobody runs it
		}
		if rules[c.Name] == nil {
			bad = append(bad, c.Name+" is not offered")
			continue
		}
		for _, p := range rules[c.Name].Check([]byte(c.Arguments)) {
			bad = append(bad, p.Text)
		}
	}
	return bad
}

// TestChoicesAreObeyed asks a model that wants to say something else for a call: of any tool, and
// of each one, streamed and whole, in the set-ups that toolnorm and a server's own template make
// most different. What the model then writes is as good as random, so each call that fits is the
// constraint's doing.
func TestChoicesAreObeyed(t *testing.T) {
	l := open(t)
	rules := l.defectRules(t)
	base := l.proxied(t, l.newest)
	choices := []any{"required"}
	for _, name := range []string{"forecast", "book_train", "save_note", "list_notes"} {
		choices = append(choices, map[string]any{"type": "function", "function": map[string]string{"name": name}})
	}
	for _, s := range []setup{l.newest.setups[0], l.newest.setups[len(l.newest.setups)-1]} {
		for _, choice := range choices {
			for _, stream := range []bool{true, false} {
				r := l.askDefect(s.model(), l.named(t, "plain"), stream)
				r.Choice, r.MaxTokens = choice, 0
				got := l.current.chat(base, r)
				if stream && got.Finish == "length" && len(got.Calls) == 1 && len(unfit(rules, got)) == 0 {
					continue // a string without a bound ran on while it streamed, up to the limit of tokens
				}
				if got.Error != "" || len(got.Calls) != 1 || len(unfit(rules, got)) > 0 || got.Finish != "tool_calls" {
					t.Errorf("%s, %v, streamed %t: %v in %s (%s)", s.name, choice, stream, unfit(rules, got), gist(got), got.Error)
				}
			}
		}
	}
}

// TestOneCallIsOne asks for no more than one call of a model that writes two.
func TestOneCallIsOne(t *testing.T) {
	l := open(t)
	several := false
	for _, stream := range []bool{true, false} {
		r := l.ask(l.newest.setups[0].model(), l.named(t, "hermes_two"), stream)
		r.Parallel = &several
		if got := l.current.chat(l.proxied(t, l.newest), r); got.Error != "" || len(got.Calls) != 1 || got.Usage == nil || got.Usage.Completion == 0 {
			t.Errorf("streamed %t: %s, usage %+v", stream, gist(got), got.Usage)
		}
	}
}
