package adapters

import (
	"regexp"
	"slices"
	"strings"

	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// Offered finds the tool that a server means by the name of a call: the name exactly, in another case or spelling, or
// behind a known prefix. It answers false when none is meant, or more than one.
func Offered(tools []chat.Tool, name string) (chat.Tool, bool) {
	if t := (&toolset{offered: tools}).find(name); t != nil {
		return t.Tool, true
	}
	return chat.Tool{}, false
}

// Arguments reads the arguments of a call of t that a server handed over as text that is no JSON object: damaged,
// another value that stands for an object, or that object as a string once more. What comes out is one JSON object, with
// the names of what was mended. It answers false when the text is no such thing. Blank text is an object without members.
func Arguments(t chat.Tool, text string) (args string, repairs []string, ok bool) {
	if strings.TrimSpace(text) == "" {
		return "{}", nil, true
	}
	typ := schema.Compile(t.Schema)
	out, repairs, err := Repair(text, typ)
	if err != nil {
		return "", nil, false
	}
	args, ok = objectOf(out, typ)
	return args, repairs, ok
}

// tokenLike finds what a model may have as one token: <tool_call>, <|message|>, [TOOL_CALLS].
var tokenLike = regexp.MustCompile(`<[^<>\s]+>|\[[^\[\]\s]+\]`)

// Tokens are the marks that a model may have as control tokens, which some servers leave out of the text unless they are
// asked for by name: those around reasoning, replies and calls of every known format, and the ends of this one's messages.
// What only ends another's turn is not among them: it would be read as text. The list is not to be changed.
func (f *Format) Tokens() []string {
	f.once2.Do(func() { f.words = f.tokens() })
	return f.words
}

// tokens makes the list, which takes a millisecond.
func (f *Format) tokens() []string {
	var all, turns []string
	for _, g := range f.set.formats {
		all = g.appendTokens(all)
		turns = append(append(turns, g.drop...), g.ends...)
	}
	all = slices.DeleteFunc(all, func(word string) bool { return slices.Contains(turns, word) })
	all = append(f.appendTokens(all), tokenLike.FindAllString(strings.Join(f.ends, " "), -1)...)
	slices.Sort(all)
	return slices.Compact(all)
}

// Own are those of the Tokens without which this format cannot be read: its calls', its reasoning's, its quotes and the ends
// of its messages, and the common marks of reasoning. Of a model that no family claims it may be any of them.
func (f *Format) Own() []string {
	if f.set.generic == nil || f == f.set.generic {
		return f.Tokens()
	}
	own := tokenLike.FindAllString(strings.Join(f.ends, " "), -1)
	for _, p := range f.set.generic.think {
		own = p.appendTokens(own)
	}
	own = f.appendTokens(own)
	slices.Sort(own)
	return slices.Compact(own)
}

// appendTokens adds the marks of a format's examples.
func (f *Format) appendTokens(all []string) []string {
	patterns := slices.Concat(f.think, f.plain, f.section, f.call, f.arg)
	text := strings.Join(f.quotes, " ")
	if f.header != nil {
		patterns = append(patterns, f.header)
		text += channelMark
	}
	all = append(all, tokenLike.FindAllString(text, -1)...)
	for _, p := range patterns {
		all = p.appendTokens(all)
	}
	return all
}

// appendTokens adds the marks of one example.
func (p *pattern) appendTokens(all []string) []string {
	for _, part := range p.parts {
		all = append(all, tokenLike.FindAllString(part.lit.text, -1)...)
	}
	return all
}
