package derive

import (
	"fmt"
	"regexp"
	"strings"
)

// messages is what was seen of a template whose replies are made of messages with headers, as
// gpt-oss writes them:
//
//	<|start|>assistant to=functions.write_file<|channel|>commentary json<|message|>{…}<|call|>
//
// What a message is stands in its header, between the mark that opens it and the one that closes
// it.
type messages struct {
	opens, closes         string // the marks around a header
	called                string // the header of a call, the role in front of it included
	thought, spoken       string // those of reasoning and of a plain reply; empty when they were not seen
	between, last, spokes string // the marks that end a call that another follows, the last call, and a plain reply
}

// headers finds out whether a template writes messages: the prompt ends inside a header, and the
// call's name stands in it. The arguments are turns without their reasoning: the beginning of a
// reply, one that speaks, one that calls, and one that thinks first. A template of turns has the
// role in a header, too, <|im_start|>assistant, but its calls stand behind the header: that the
// name stands inside is what makes a family of messages. It is nil for all others, and for a
// template whose replies have no mark that ends in front of the text.
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
	head, rest, ok := strings.Cut(called[min(len(called), strings.Index(called, mark[0])+len(mark[1])):], m.closes)
	if !strings.HasSuffix(before, m.closes) || !strings.Contains(called, mark[0]) || !ok || !strings.Contains(head, probes[0].Name) || strings.Contains(head, m.opens) {
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

// whole returns a region of a turn, from where the reply begins to the mark that ends the last
// message. The difference of two turns begins in the middle of the header, since "assistant" is in
// both.
func (m *messages) whole(opening, turn, region string) string {
	at := strings.Index(turn, region)
	if region == "" || at < len(opening) || !strings.HasPrefix(turn, opening) {
		return region
	}
	end := at + len(region)
	if n := strings.Index(turn[end:], m.last); n >= 0 && strings.TrimSpace(turn[end:end+n]) == "" && !strings.HasSuffix(region, m.last) {
		end += n + len(m.last)
	}
	return turn[len(opening):end]
}

// trailingRole is the mark that opens a header and the role behind it, as a prompt ends.
var trailingRole = regexp.MustCompile(`(` + aMark + `)[a-z]+$`)

// headerOf returns the header of the message that begins where a text ends.
func (m *messages) headerOf(before string) string {
	head := strings.TrimSuffix(before, m.closes)
	return head[strings.LastIndex(head, m.opens)+len(m.opens):]
}

// lastOf returns the last mark of a text, or "".
func lastOf(text string) string {
	if all := anyMark.FindAllString(text, -1); len(all) > 0 {
		return all[len(all)-1]
	}
	return ""
}

// lines returns the declaration of such a family; body is the arguments' hole, and more holds
// further lines that it needs. Routes are tried in their order, so the narrow ones come first: a
// message to oneself, then calls, then any other recipient, then channels. What no route fits is
// text, since text that is hidden is worse than a header that is shown. The first two marks of the
// ends line are used in printing: between calls, and after the last.
func (m *messages) lines(body, more string) string {
	var b strings.Builder
	name := probes[0].Name
	fmt.Fprintf(&b, "header  %s{junk}%s\n", example(m.opens), example(m.closes))
	fmt.Fprintf(&b, "message %s%s%s{%s}\n", example(m.opens), strings.ReplaceAll(example(m.called), name, "{name}"), example(m.closes), body)
	b.WriteString("ends    " + strings.Join(distinct(m.between, m.last, m.spokes), " ") + "\n" + more)
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

// field returns what tells a header from others: its recipient, else its channel; empty when it has
// neither. A recipient says more than a channel: glimmer thinks to=self, in whatever channel.
func (m *messages) field(header string) string {
	if to := addressee.FindString(header); to != "" {
		return to
	}
	if c := channel.FindStringSubmatch(header); c != nil {
		return "channel=" + c[1]
	}
	return ""
}

// distinct returns the words that are not empty, each once. An empty mark would be found
// everywhere.
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
