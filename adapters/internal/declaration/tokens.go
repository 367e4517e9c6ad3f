package declaration

import (
	"regexp"
	"slices"
	"strings"
)

// TokenLike finds what a model may have as one token: <tool_call>, <|message|>, [TOOL_CALLS]. Whether it really is one only
// the model's vocabulary says; here it is enough that none of them is missed.
var TokenLike = regexp.MustCompile(`<[^<>\s]+>|\[[^\[\]\s]+\]`)

// Tokens are the marks that a model may have as control tokens, which some servers leave out of the text unless they are
// asked for by name: those around reasoning, replies and calls of every known format, and the ends of this one's messages.
// What only ends another's turn is not among them: it would be read as text. The list is not to be changed.
// llama-server takes them as preserved_tokens; for all families that is some 2 KB in each request.
func (f *Family) Tokens() []string {
	f.tokensOnce.Do(func() { f.tokens = f.allTokens() })
	return f.tokens
}

// allTokens makes the list, which takes a millisecond: too long for every request, and most requests never need it.
// Marks of other families' turns are left out: a server that is asked for them shows them, and here they would be text.
func (f *Family) allTokens() []string {
	var all, turns []string
	for _, g := range f.set.families {
		all = g.appendTokens(all)
		turns = append(append(turns, g.Drop...), g.Ends...)
	}
	all = slices.DeleteFunc(all, func(word string) bool { return slices.Contains(turns, word) })
	all = append(f.appendTokens(all), TokenLike.FindAllString(strings.Join(f.Ends, " "), -1)...)
	slices.Sort(all)
	return slices.Compact(all)
}

// Own are those of the Tokens without which this format cannot be read: its calls', its reasoning's, its quotes and the ends
// of its messages, and the common marks of reasoning. Of a model that no family claims it may be any of them.
// They are looked up in the model's vocabulary, and a family whose marks are control tokens is read in another way.
func (f *Family) Own() []string {
	if f.set.generic == nil || f == f.set.generic {
		return f.Tokens()
	}
	own := TokenLike.FindAllString(strings.Join(f.Ends, " "), -1)
	for _, p := range f.set.generic.Think {
		own = p.appendTokens(own)
	}
	own = f.appendTokens(own)
	slices.Sort(own)
	return slices.Compact(own)
}

// appendTokens adds the marks of a family's examples. Quotes are among them: gemma4's <|"|> is a control token, and without
// it no string of a call has an end.
func (f *Family) appendTokens(all []string) []string {
	patterns := slices.Concat(f.Think, f.Plain, f.Sections, f.Calls, f.Args)
	text := strings.Join(f.Quotes, " ")
	if f.Header != nil {
		patterns = append(patterns, f.Header)
		text += ChannelMark
	}
	all = append(all, TokenLike.FindAllString(text, -1)...)
	for _, p := range patterns {
		all = p.appendTokens(all)
	}
	return all
}

// appendTokens adds the marks of one example.
func (p *Pattern) appendTokens(all []string) []string {
	for _, part := range p.Parts {
		all = append(all, TokenLike.FindAllString(part.Lit.Text, -1)...)
	}
	return all
}

// controlLike finds what a vocabulary may have as a control token, of whatever family. One or two letters in angles are more
// often HTML's.
var controlLike = regexp.MustCompile(`<[^<>\s]{3,}>|\[[^\[\]\s]{3,}\]|<\||\|>`)

// Marked says whether the text holds a mark of a known format, or what looks like a control token: in a prompt it would be
// read as one. A file that a tool has read may hold <|im_end|>, and then the turn would end in the middle of it.
func (f *Family) Marked(text string) bool {
	return controlLike.MatchString(text) || slices.ContainsFunc(f.Tokens(), func(mark string) bool { return strings.Contains(text, mark) })
}
