package adapters

import (
	"slices"
	"strings"
	"sync"
)

// Format is one model family's way of writing, read from its declaration.
type Family struct {
	Name   string   // as the declaration's first line says
	Models []string // globs on the model's name, lower case

	think, plain, section, call, arg []*pattern // plain: the text lines

	drop    []string          // marks of the turn, removed where they end something
	ends    []string          // message families: the marks that end a message
	header  *pattern          // message families: what opens and closes a header
	message *pattern          // message families: how a call is printed
	result  *pattern          // how a tool's answer is printed; nil when the family does not say
	results *pattern          // what stands around all answers; nil for nothing
	routes  []route           // message families: what a message is, by its header
	keys    map[string]string // member names that this family prints
	ahead   []string          // marks that every prompt ends with: the reply begins behind them
	noise   []string          // marks that mean nothing, wherever they stand
	flags   map[string]bool   // blank, cdata, entities, think-calls
	quotes  []string          // string delimiters of {pseudo}, the first one printed

	file string // what it was read from, cases and all

	wording Wording // how tools are described, zero: not said

	headless   []*pattern // calls whose opening mark is missing
	closeBytes *[256]bool // first bytes of what can end a tagged value
	valueStops *[256]bool // bytes at which copying a tagged value stops

	set        *FamilySet
	liveOnce   sync.Once
	live       *view // all marks of the set, this format's first
	loneOnce   sync.Once
	lone       *view // this format's marks alone
	tokensOnce sync.Once
	tokens     []string // see Tokens
}

// What stands around a value that holds markup, in families with flag cdata.
const (
	cdataOpen  = "<![CDATA["
	cdataClose = "]]>"
)

// begun are the calls and plain replies of a family whose marks every prompt of it opens already, without what the prompt
// says of them.
func (f *Family) begun(list []*pattern) []*pattern {
	var out []*pattern
	for _, p := range list {
		for _, mark := range f.ahead {
			if rest, ok := strings.CutPrefix(p.parts[0].lit.text, mark); ok {
				q := *p
				q.parts = slices.Clone(p.parts)
				if q.parts[0].lit = newLiteral(rest, "", p.holeAt(1)); rest == "" {
					q.parts = q.parts[1:]
				}
				out = append(out, &q)
			}
		}
	}
	return out
}

// prepare builds the tables for reading tagged values and delimited strings.
func (f *Family) prepare() {
	f.closeBytes = new([256]bool)
	note := func(l literal) {
		for _, u := range l.units {
			if u.kind == exact {
				f.closeBytes[u.b] = true
				return
			}
		}
	}
	for _, p := range f.arg {
		note(p.parts[0].lit)
		note(p.parts[p.hole("value")+1].lit)
	}
	f.headless = nil
	for _, p := range f.call {
		for _, l := range p.close {
			note(l)
		}
		if q := p.withoutOpener(); q != nil {
			f.headless = append(f.headless, q)
		}
	}
	if f.flags["cdata"] {
		f.closeBytes[cdataClose[0]] = true
	}
	f.valueStops = new([256]bool)
	for c, closes := range f.closeBytes {
		f.valueStops[c] = closes || c < ' ' || c == '"' || c == '\\' || c >= 0x80 // what JSON escapes, and what may be no UTF-8
	}
}

// literalText is a literal as it is printed: with the suffix of the family's checkpoints where it has a place for one.
func (f *Family) literalText(text string) string {
	return strings.ReplaceAll(text, suffixHole, f.keys["sfx"])
}

// channelMark is the mark in front of a channel's name, inside a header or at its start.
const channelMark = "<|channel|>"
