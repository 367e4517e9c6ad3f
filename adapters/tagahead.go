package adapters

import (
	"bytes"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
)

// tagsAhead finds the tags of calls in the text ahead, as their families write them or damaged. It
// does not move the position, so a search can use it at any place of the text.
type tagsAhead struct {
	below
	names *names
	tails tagTails
}

// argHead reads the tags before an argument's value at offset i, such as <parameter=city>, by the
// first pattern that matches. Families with two patterns list the longer one first, as Kimi K3 does
// with the one that has a type. It returns mismatch if there are none, and incomplete if no pattern
// matches and the text ended inside such tags.
func (ta *tagsAhead) argHead(f *declaration.Family, i int) (head, match) {
	best := mismatch
	for _, p := range f.Args {
		h, a := ta.headBy(p, i)
		if a == matched {
			return h, matched
		}
		if a == incomplete {
			best = incomplete
		}
	}
	return head{}, best
}

// headBy reads the tags before an argument's value at offset i, by the pattern p, in which literals
// alternate with the key and perhaps a type: <parameter=city>, <arg_key>city</arg_key><arg_value>,
// <|open|>argument key="city" type="string"<|sep|>. Everything up to the next literal is the key,
// so keys may contain blanks and punctuation. It returns mismatch if the tags are not there, and
// incomplete if the text ends in them.
func (ta *tagsAhead) headBy(p *declaration.Pattern, i int) (head, match) {
	h := head{p: p, own: p.Parts[len(p.Parts)-1].Lit}
	for k := 0; ; k += 2 {
		end, a := ta.marks.literal(i, p.Parts[k].Lit)
		if a != matched {
			return head{}, a
		}
		placeholder := p.PlaceholderAt(k + 1)
		if placeholder == "value" {
			// tags named like the parameter close by that name, and may nest
			if h.end = end; p.Keyed() {
				h.own, h.again = declaration.Exactly(p.CloseTag(h.key)), p.OpenTag(h.key)
			}
			// <parameter=city>>
			if !h.onLines() || ta.At(end) != '>' || ta.At(end+1) != '\n' {
				return h, matched
			}
			h.end += 2
			return h, matched
		}
		end += ta.Space(end)
		i = ta.marks.upTo(end, p.Parts[k+2].Lit)
		if i <= end {
			return head{}, incompleteAtEnd(i, mismatch)
		}
		word := strings.Trim(string(ta.Slice(ta.Pos+end, ta.Pos+i)), "\"' \t\r\n")
		// ]<]minimax[>[</city>: a closer is not a parameter
		if placeholder == "key" && p.Keyed() && strings.ContainsAny(word, "/<\" ") {
			return head{}, mismatch // another tag than a parameter's
		}
		if placeholder == "key" {
			h.odd = oddKey(p.Family, word)
			// key="a&amp;b"
			if h.key = word; p.Family.Flags.Entities {
				h.key = plainly.Replace(word)
			}
		} else if strings.ContainsAny(word, "<>") {
			return head{}, mismatch // the end of the tag is missing
		} else {
			h.wire = strings.Trim(word, "=:\"'`“” ")
		}
	}
}

// loneKeys returns the offset after the run of keys without values at offset i, or i if there are
// none. Such keys are not arguments. Poolside's models write <arg_key>days</arg_key></tool_call>,
// and an empty text for days would be a value that the model never wrote.
func (ta *tagsAhead) loneKeys(p *declaration.Pattern, i int) int {
	a := p.Family.Args[0]
	// only families whose keys have a closer of their own
	if len(a.Parts) < 4 || !strings.HasPrefix(a.Parts[2].Lit.Text, "</") {
		return i
	}
	opener, closer := a.Parts[0].Lit, a.Parts[2].Lit.Pieces()[0]
	for {
		end, found := ta.marks.literal(i, opener)
		if found != matched {
			return i
		}
		if end = ta.marks.upTo(end, closer); end <= i {
			return i
		}
		if bytes.ContainsAny(ta.Slice(ta.Pos+i, ta.Pos+end)[min(end-i, len(opener.Text)):], "<>") {
			return i // two tags may have changed places
		}
		end, _ = ta.marks.literal(end, closer)
		end += ta.Elastic(end)
		// with a value's tag after the key's closer it is an argument
		_, closed := ta.marks.closerAt(end, p)
		if _, another := ta.marks.literal(end, opener); !closed && another != matched {
			return i
		}
		i = end
	}
}

// pastComment returns the offset after white space at offset i, and after a comment if there is
// one. Models explain what they close, as in </parameter> <!-- the town --> </function>. The
// closing tag after such a comment is as valid as one without a comment.
func (ta *tagsAhead) pastComment(i int) int {
	i += ta.Elastic(i)
	if n := ta.Comment(i); n > 0 {
		i += n + ta.Elastic(i+n)
	}
	return i
}

// indentedLine reports whether a value is a single line that is indented like its opening tag and
// its closing tag. That indentation then belongs to the layout.
func (ta *tagsAhead) indentedLine(h *head) bool {
	if h.indent == "" || !h.line || !ta.Has(0, h.indent) || scan.IsSpace(ta.At(len(h.indent))) {
		return false
	}
	n := ta.Run(0, maxLine, func(c int) bool { return c >= 0 && c != '\n' })
	end, a := ta.marks.literal(n+1+len(h.indent), h.own.Trimmed())
	return ta.Has(n, "\n"+h.indent) && a == matched && ta.At(end) == '\n'
}

// maxLine bounds, in bytes, the line of a value that is a single line.
const maxLine = 4096

// laidOut reports whether the beginning of a value on lines of its own may belong to the layout of
// its tags rather than to the value. Three kinds of text may: blanks, if the tag is indented; a
// blank line, if blank lines separate the tags; and punctuation and blanks alone on the tag's line.
func (ta *tagsAhead) laidOut(h *head) bool {
	switch {
	case !h.onLines():
		return false
	case !h.line:
		n := ta.Run(0, maxIndent, func(c int) bool {
			return c >= 0 && c != '\n' && c < 0x80 && !scan.IsWord(c)
		})
		if ta.Has(0, "</") {
			n = ta.Run(0, maxIndent, func(c int) bool { return c > ' ' })
		}
		return n > ta.Run(0, maxIndent, func(c int) bool { return c == ' ' || c == '\t' }) &&
			ta.At(n) == '\n'
	}
	c := ta.At(0)
	return h.indent != "" && (c == ' ' || c == '\t') || h.apart && c == '\n'
}
