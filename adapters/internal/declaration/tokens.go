package declaration

import (
	"regexp"
	"slices"
	"strings"
)

// TokenLike finds what a model may have as one token: <tool_call>, <|message|>, [TOOL_CALLS]. Whether it really is one only
// the model's vocabulary says; here it is enough that none of them is missed.
var TokenLike = regexp.MustCompile(`<[^<>\s]+>|\[[^\[\]\s]+\]`)

// AppendTokens adds the marks of a family's examples. Quotes are among them: gemma4's <|"|> is a control token, and without
// it no string of a call has an end.
func (f *Family) AppendTokens(all []string) []string {
	patterns := slices.Concat(f.Think, f.Plain, f.Sections, f.Calls, f.Args)
	text := strings.Join(f.Quotes, " ")
	if f.Header != nil {
		patterns = append(patterns, f.Header)
		text += ChannelMark
	}
	all = append(all, TokenLike.FindAllString(text, -1)...)
	for _, p := range patterns {
		all = p.AppendTokens(all)
	}
	return all
}

// AppendTokens adds the marks of one example.
func (p *Pattern) AppendTokens(all []string) []string {
	for _, part := range p.Parts {
		all = append(all, TokenLike.FindAllString(part.Lit.Text, -1)...)
	}
	return all
}
