package derive

import (
	"fmt"
	"regexp"
	"strings"
)

// messages describes a template whose replies consist of messages with headers, as gpt-oss writes
// them:
//
//	<|start|>assistant to=functions.write_file<|channel|>commentary json<|message|>{…}<|call|>
//
// The header, between the opening and the closing mark, shows what kind of message it is.
type messages struct {
	opens, closes   string // the marks around a header
	called          string // the header of a call, with the role
	thought, spoken string // the headers of reasoning and of a plain reply; empty if not seen
	// the marks that end a call that another follows, the last call, and a plain reply
	between, last, spokes string
}

// headers returns the messages of a template that writes messages, or nil for other templates. In
// such a template the prompt ends inside a header, and the header of a call has the tool's name.
// Other templates have the role in a header as well, <|im_start|>assistant, but the names of their
// calls follow it. The parameters are the end of the prompt, a turn with text, one with a call, and
// one with reasoning and a call.
func headers(opening, spoken, called, thinking string) *messages {
	mark := trailingRole.FindStringSubmatch(opening)
	if mark == nil {
		return nil
	}
	m := &messages{opens: mark[1]}
	before, after, _ := strings.Cut(spoken, probeText)
	closes := anyMark.FindAllString(before, -1)
	if len(closes) == 0 {
		return nil
	}
	m.closes = closes[len(closes)-1]
	head, rest, ok := strings.Cut(
		called[min(len(called), strings.Index(called, mark[0])+len(mark[1])):], m.closes)
	if !strings.HasSuffix(before, m.closes) || !strings.Contains(called, mark[0]) || !ok ||
		!strings.Contains(head, probes[0].Name) || strings.Contains(head, m.opens) {
		return nil
	}
	// gpt-oss: " to=functions.write_file<|channel|>commentary json", "<|channel|>final", "<|end|>"
	m.called, m.spoken, m.spokes = head, m.headerOf(before), strings.TrimSpace(firstMark(after))
	if at := strings.Index(rest, m.opens); at >= 0 {
		m.last = lastOf(rest[:at])
	}
	if before, after, ok := strings.Cut(thinking, probeThink); ok {
		m.thought, m.between = m.headerOf(before), strings.TrimSpace(firstMark(after))
	}
	return m
}

// whole returns region, the part in which a turn differs from another turn, extended to all
// messages of the reply. Both turns begin with the same header text, such as "assistant", which
// region lacks. So it is extended to opening, which precedes the reply, and to the mark that ends
// the last message. An empty region, or one that is not part of the reply, is returned unchanged.
func (m *messages) whole(opening, turn, region string) string {
	at := strings.Index(turn, region)
	if region == "" || at < len(opening) || !strings.HasPrefix(turn, opening) {
		return region
	}
	end := at + len(region)
	if n := strings.Index(turn[end:], m.last); n >= 0 && strings.TrimSpace(turn[end:end+n]) == "" &&
		!strings.HasSuffix(region, m.last) {
		end += n + len(m.last)
	}
	return turn[len(opening):end]
}

// trailingRole matches the mark that opens a header and the role after it, at the end of a prompt.
var trailingRole = regexp.MustCompile(`(` + aMark + `)[a-z]+$`)

// headerOf returns the header at the end of a text, without the marks around it. The text must
// contain the mark that opens a header; this is not checked, and without it headerOf loses bytes or
// panics.
func (m *messages) headerOf(before string) string {
	head := strings.TrimSuffix(before, m.closes)
	return head[strings.LastIndex(head, m.opens)+len(m.opens):]
}

// lastOf returns the last mark of a text, such as <tool_call> or [ARGS], or "" if there is none.
func lastOf(text string) string {
	if all := anyMark.FindAllString(text, -1); len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

// lines returns the lines of a declaration whose replies consist of messages. The parameter body is
// the placeholder for the arguments in the message line, and the parameter more has further lines.
// A reader takes the first route line that fits a message's header, so the specific ones come
// first: text and reasoning by recipient, then calls, other recipients, and channels. All other
// messages are text, since hidden text is worse than a visible header. The first two marks of the
// ends line are printed between calls and after the last.
func (m *messages) lines(body, more string) string {
	var b strings.Builder
	name := probes[0].Name
	fmt.Fprintf(&b, "header  %s{junk}%s\n", example(m.opens), example(m.closes))
	fmt.Fprintf(&b, "message %s%s%s{%s}\n", example(m.opens),
		strings.ReplaceAll(example(m.called), name, "{name}"), example(m.closes), body)
	b.WriteString("ends    " + strings.Join(distinct(m.between, m.last, m.spokes), " ") + "\n" +
		more)
	to := recipient.FindString(m.called)
	spoken, thought := m.field(m.spoken), m.field(m.thought)
	if spoken != "" && strings.HasPrefix(spoken, "to=") {
		fmt.Fprintf(&b, "route   %s {text}\n", spoken)
	}
	if thought != "" && strings.HasPrefix(thought, "to=") {
		fmt.Fprintf(&b, "route   %s {reasoning}\n", thought)
	}
	if to != "" && body != "calls" {
		fmt.Fprintf(&b, "route   to={name} {%s}\nroute   to=* {junk}\n", body)
	} else if to != "" {
		fmt.Fprintf(&b, "route   to=* {%s}\n", body)
	}
	if strings.HasPrefix(thought, "channel=") {
		fmt.Fprintf(&b, "route   %s {reasoning}\n", thought)
	}
	b.WriteString("route   else {text}\n")
	return b.String()
}

var (
	recipient = regexp.MustCompile(`\bto=\S*`)
	channel   = regexp.MustCompile(`<\|channel\|>\s*([a-z]+)`)
	addressee = regexp.MustCompile(`\bto=[a-z]+$`)
)

// field returns the part of a header that shows the kind of message: its recipient, or else its
// channel, or "" if it has neither. The recipient comes first, since glimmer's reasoning is to=self
// in any channel.
func (m *messages) field(header string) string {
	if to := addressee.FindString(header); to != "" {
		return to
	}
	if c := channel.FindStringSubmatch(header); c != nil {
		return "channel=" + c[1]
	}
	return ""
}

// distinct returns the words without empty and repeated ones.
func distinct(words ...string) (out []string) {
	seen := map[string]bool{"": true}
	for _, w := range words {
		if !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	return out
}
