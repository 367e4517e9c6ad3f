package valid

import (
	"bytes"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolnorm/internal/jsonscan"
)

// leaf is the value that is being waited for, or the key.
// It is scanned and not parsed while it comes: a parse at each fragment would take the square of the value's length.
// Until it is whole, or has its least characters, nothing of it may leave, however long it gets.
type leaf struct {
	schema *jsonschema.Schema // nil: anything
	start  int
	scan   jsonscan.Scanner // over the text from start on
	least  int              // characters after which a string may be followed; 0: only when it is whole
	enough int              // bytes after which these are counted
	goes   bool             // it is cut out when it is whole
}

// wait reads a value that counts when it is whole. A text that needs but a minimum of characters is let go once it has these:
// "minLength": 3 would otherwise hold a whole file.
func (p *Prefix) wait() bool {
	if p.scan() {
		return p.check()
	}
	source := p.text[p.leaf.start:p.pos]
	if p.leaf.enough == 0 || len(source) <= p.leaf.enough {
		return false
	}
	// Quotes and escapes make the source longer than the text, so the bytes say only when to count.
	if missing := p.leaf.least - characters(source[1:]); missing >= 0 {
		p.leaf.enough = len(source) + missing // no character is shorter than a byte, so counting before that is in vain
		return false
	}
	// The minimum is reached, and no rule is left that what follows could break.
	p.state = inText
	p.stands()
	return false
}

// scan reads a value or a key on, and reports whether it is whole. What is no JSON is a problem.
func (p *Prefix) scan() bool {
	p.pos += p.leaf.scan.Add(p.text[p.pos:])
	if p.leaf.scan.Wrong() {
		return p.fail("", "json", "no JSON")
	}
	return p.leaf.scan.Complete()
}

// characters counts those of a string's source, or fewer: an escape by its number may be half of a pair, so it counts as none.
// Counting too few only lets the text go a little later, counting too many would let go what does not fit.
func characters(source []byte) int {
	return utf8.RuneCount(source) - bytes.Count(source, []byte(`\`)) - 5*bytes.Count(source, []byte(`\u`))
}

// check looks at the value that is whole now. The first finding alone is told, as nothing behind it is read any more.
func (p *Prefix) check() bool {
	doc, err := parse(p.text[p.leaf.start:p.pos])
	if err != nil {
		return p.fail("", "json", err.Error())
	}
	// It is no matter what a member says that is left out.
	if p.leaf.goes {
		return p.cutMember()
	}
	// The value lies as deep as the containers around it, and a schema's work depends on the depth.
	if p.rules.workFor(append(make([]int, len(p.stack)), doc.levels...)) > most {
		return p.fail("", "work", tooMuch)
	}
	if len(doc.twice) > 0 {
		return p.stop(problem(append(p.path(""), doc.twice[0].path()...), "duplicate", "is there twice"))
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
