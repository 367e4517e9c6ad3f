package valid

import (
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// leaf is the value that is being waited for.
type leaf struct {
	schema *jsonschema.Schema // nil: anything
	start  int
	depth  int  // of brackets
	quoted bool // inside a string
	chars  int  // of the string so far, at least
	enough int  // characters after which a string may be followed; 0: only when it is whole
	goes   bool // it is cut out when it is whole
}

// wait reads a value that counts when it is whole.
func (p *Prefix) wait() bool {
	for p.pos < len(p.text) {
		c := p.text[p.pos]
		switch {
		case p.leaf.quoted && c == '\\':
			if p.pos+2 > len(p.text) {
				return false
			}
			p.pos++
			if p.leaf.chars++; p.text[p.pos] == 'u' {
				p.leaf.chars -= 5 // its digits are no characters; half of a pair is none either
			}
		case c == '"':
			p.leaf.quoted = !p.leaf.quoted
			if !p.leaf.quoted && p.leaf.depth == 0 {
				p.pos++
				return p.check()
			}
		case p.leaf.quoted && utf8.RuneStart(c):
			if p.leaf.chars++; p.leaf.enough > 0 && p.leaf.chars > p.leaf.enough {
				p.safe, p.state = p.pos, inText
				return true
			}
		case p.leaf.quoted:
		case c == '{' || c == '[':
			p.leaf.depth++
		case p.leaf.depth == 0 && (c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n' || c == '\t' || c == '\r'):
			return p.check()
		case c == '}' || c == ']':
			if p.leaf.depth--; p.leaf.depth == 0 {
				p.pos++
				return p.check()
			}
		}
		p.pos++
	}
	return false
}

// check looks at the value that is whole now.
func (p *Prefix) check() bool {
	doc, err := parse(p.text[p.leaf.start:p.pos])
	if err != nil {
		return p.fail("", "json", err.Error())
	}
	if p.leaf.goes {
		return p.cutMember()
	}
	if p.rules.workFor(append(make([]int, len(p.stack)), doc.levels...)) > most {
		return p.fail("", "work", "too large or nested too deeply to be checked with this schema")
	}
	if len(doc.twice) > 0 {
		return p.stop(problem(append(p.path(""), doc.twice[0].path...), "duplicate", "is there twice"))
	}
	if p.leaf.schema != nil {
		if failed, ok := p.leaf.schema.Validate(doc.value).(*jsonschema.ValidationError); ok {
			f := findings(failed)[0]
			return p.stop(problem(append(p.path(""), f.path...), f.keyword, f.text))
		}
	}
	p.done()
	return true
}
