package agent

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"toolnorm/chat"
)

// The values of Config.Consent say when a call requires the user's consent. Tools that are declared
// read-only never need it, and tools with Confirm always do.
const (
	ConsentNever = "never"
	// when a value of the call occurs in a tool's result and not in what the user said
	ConsentResults = "results"
	ConsentAlways  = "always"
)

// Wanted is a call that waits for the user's consent.
type Wanted struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Values    []Borrowed      `json:"values"` // empty: consent is always needed
	// the user allows the call by answering "allow CODE"
	Code string `json:"code"`
}

// Borrowed is a value in a call that comes from a tool's result or an earlier answer, and not from
// the user.
type Borrowed struct {
	Value string `json:"value"`
	From  string `json:"from"` // the tool whose result has it, or "an earlier answer"
}

// consentKey signs codes. It is random for each process: after a restart the user is asked again.
var consentKey = func() (key [32]byte) {
	_, _ = rand.Read(key[:]) // never fails
	return key
}()

// codeOf returns the code by which the user allows a call. The code cannot be forged without the
// key, so a call is allowed only by the user's answer to a question about exactly that call.
func codeOf(c chat.Call) string {
	sum := hmac.New(sha256.New, consentKey[:])
	sum.Write([]byte(c.Key()))
	return hex.EncodeToString(sum.Sum(nil)[:5])
}

// wants returns what the user has to be asked before a call runs, or nil if the call needs no
// consent.
func (r *run) wants(c chat.Call) *Wanted {
	t, known := r.tools.byName[c.Name]
	if !known {
		t, known = r.tools.later(r.loop.cfg.Tools.Snapshot(), c.Name)
	}
	when := r.loop.cfg.Consent
	if !known || !t.Confirm && (onlyReads(t) || when == "" || when == ConsentNever) {
		return nil
	}
	values := r.borrowed(c, t)
	if !t.Confirm && when == ConsentResults && len(values) == 0 {
		return nil
	}
	return &Wanted{c.Name, compact(c.Args), values, codeOf(c)}
}

// String returns the question to the user. It contains the call in a form that the method allowed
// can read again.
func (w *Wanted) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "May I call %s?", w.Tool)
	if len(w.Values) > 0 {
		b.WriteString(" You have not said these values yourself:")
		for _, v := range w.Values {
			fmt.Fprintf(&b, "\n- %q, from %s", v.Value, v.From)
		}
	}
	call, _ := chat.JSON(map[string]any{"tool": w.Tool, "arguments": w.Arguments})
	fmt.Fprintf(&b, "\n\n```json\n%s\n```\n\nTo allow this call, answer: allow %s", call, w.Code)
	return b.String()
}

// asks sends the client the question for consent. The question becomes the answer of the run.
func (r *run) asks() {
	if r.pass != nil && strings.TrimSpace(r.last.got.front.String()) != "" {
		// separates the question from what the model said before the call
		r.pass(chat.Event{Kind: chat.Text, Text: "\n\n"})
	}
	r.say(r.out.Consent.String())
}

// questioned matches the call in a question that String has written.
var questioned = regexp.MustCompile("(?m)^```json\n(\\{.*\\})\n```$")

// allowed runs the call to which the user has just consented, if there is one. That is a call about
// which the previous answer asked, if the user's last message repeats the code in the question. The
// call and its result become turns of the conversation, so the model takes the call for its own.
func (r *run) allowed(ctx context.Context) {
	last := len(r.turns) - 1
	if last < 1 || r.turns[last].Role != chat.User || r.turns[last-1].Role != chat.Assistant {
		return
	}
	for _, m := range questioned.FindAllStringSubmatch(r.turns[last-1].Content, -1) {
		var q struct {
			Tool      string
			Arguments json.RawMessage
		}
		if json.Unmarshal([]byte(m[1]), &q) != nil {
			continue
		}
		c := chat.Call{ID: "allowed", Name: q.Tool, Args: q.Arguments}
		if !strings.Contains(r.turns[last].Content, "allow "+codeOf(c)) {
			continue
		}
		text, _ := r.perform(ctx, c)
		r.turns = append(slices.Clip(r.turns),
			chat.Message{Role: chat.Assistant, Calls: []chat.Call{c}}, result(c, text))
		return
	}
}
