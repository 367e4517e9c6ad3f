package replay

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
)

const (
	// maxWhy is the longest text, in bytes, that is decoded in other ways to find a reason. Two
	// more decodings of 256 KiB take some milliseconds, and replies are far shorter.
	maxWhy = 256 << 10
	// maxNames is how many words of a text are tried as the name of a tool.
	maxNames = 400
)

// explain adds sentences that say why a call is rejected, or why there is none. It adds nothing if
// the model simply answered.
func (r *Reading) explain(f *adapters.Format, t Text, reply *chat.Collector) {
	for _, c := range r.Calls {
		if len(c.Problems) > 0 {
			r.say("%s does not fit its schema: %s. The server has the model write the call again.",
				c.Name, strings.Join(c.Problems, "; "))
		}
	}
	if reply.Open || reply.End != nil && reply.End.Meta != nil && reply.End.Meta.Cut != "" {
		why := "it broke off there"
		if t.Cut {
			why = "it reached its token limit (max_tokens, or the context)"
		}
		r.say("The reply was cut inside a call, which was left out: %s.", why)
	}
	if slices.Contains(r.Repairs, "two-readings") {
		r.say("The arguments can be read in two ways, so the call stays text.")
	}
	if len(r.Calls) == 0 && len(r.Why) == 0 && len(t.Raw) <= maxWhy {
		r.explainText(f, t)
	}
}

// explainText adds a sentence that says why a text contains no call. The reasons are tried from the
// most certain one to a guess: a tool that was not offered, missing evidence, arguments that cannot
// be read. A plain answer fits none of them and gets no sentence.
func (r *Reading) explainText(f *adapters.Format, t Text) {
	names := make([]string, len(t.Tools))
	for i, tool := range t.Tools {
		names[i] = tool.Name
	}
	if found := otherCalls(f, t, names); len(found) > 0 {
		if len(names) == 0 {
			r.say("The text has a call of %s, but no tools were offered, so nothing is a call.",
				strings.Join(found, ", "))
			return
		}
		r.say("%s is not among the offered tools (%s).", strings.Join(found, ", "),
			strings.Join(names, ", "))
		return
	}
	eager := t
	eager.Which = adapters.Eager
	if reply, _, err := decode(f, eager); err == nil && len(reply.Calls) > 0 {
		r.say(
			"The text holds what could be a call of %s, but nothing shows that it was meant as one: it has no marks, or stands in the middle of prose. --calls eager takes it.", reply.Calls[0].Name)
		return
	}
	for _, name := range names {
		if strings.Contains(t.Raw, name) && strings.ContainsAny(t.Raw, "{(<") {
			r.say(
				"The text names %s, but what follows cannot be read as its arguments without doubt, so it stays text.", name)
			return
		}
	}
}

// word matches what could be the name of a tool.
var word = regexp.MustCompile(`[A-Za-z_][\w.-]{1,63}`)

// otherCalls returns the names of tools that the text would call if they were offered, or nil if
// there are none. The decoder takes <tool_call>{"name": "get_time", …} for plain text unless the
// tool get_time is offered. So otherCalls offers every word of the text as a tool. If the text then
// has a call, a missing tool was the reason why it had none before.
func otherCalls(f *adapters.Format, t Text, offered []string) (names []string) {
	open := t
	open.Tools = nil
	for _, at := range word.FindAllStringIndex(t.Raw, maxNames) {
		if at[0] > 0 && strings.IndexByte("</|", t.Raw[at[0]-1]) >= 0 {
			continue // <tool_call> is a mark
		}
		if w := strings.TrimRight(t.Raw[at[0]:at[1]], ".-"); !slices.ContainsFunc(open.Tools,
			func(o chat.Tool) bool { return o.Name == w }) && !slices.Contains(offered, w) {
			open.Tools = append(open.Tools, chat.Tool{Name: w, Schema: json.RawMessage(
				`{"type":"object"}`)})
		}
	}
	reply, _, err := decode(f, open)
	if err != nil {
		return nil
	}
	for _, c := range reply.Calls {
		if !slices.Contains(names, c.Name) {
			names = append(names, c.Name)
		}
	}
	return names
}

// say adds a formatted sentence to r.Why.
func (r *Reading) say(format string, args ...any) {
	r.Why = append(r.Why, fmt.Sprintf(format, args...))
}
