package valid

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolnorm/internal/jsonscan"
)

// leaf is the value that is being waited for, or the key. It is scanned and not parsed while it
// comes: a parse at each fragment would take the square of the value's length. Until it is whole,
// or has its least characters, nothing of it may leave, however long it gets.
type leaf struct {
	schema *jsonschema.Schema
	start  int
	scan   jsonscan.Scanner // over the text from start on
	flows  bool             // a string whose rules nothing that follows can break: what is there of it can stand
	least  int              // characters after which a string flows
	enough int              // bytes after which these are counted; 0: it does not flow before it is whole
}

// wait reads a value that is followed as a text, or counts when it is whole.
func (p *Prefix) wait() bool {
	switch {
	case !p.scan():
		if p.leaf.flows || p.reached() {
			p.stands()
		}
		return false
	case p.leaf.flows:
		p.done()
		return true
	}
	return p.check()
}

// reached reports whether a string flows by now. A string that needs only a minimum of characters
// is let go once it has these: "minLength": 3 would otherwise hold a whole file.
func (p *Prefix) reached() bool {
	l := &p.leaf
	if source := p.text[l.start:p.pos]; l.enough > 0 && len(source) > l.enough {
		// Quotes and escapes make the source longer than the text, so the bytes say only when to
		// count.
		missing := l.least - characters(source[1:])
		l.flows = missing < 0
		l.enough = len(source) + missing // no character is shorter than a byte, so counting before that is in vain
	}
	return l.flows
}

// stands notes that what was read of a string can stand, but for half an escape: what completes it
// is not known. What stands in front of a byte that no string may hold can stand as well, as if
// that byte had come by itself.
func (p *Prefix) stands() {
	scan := &p.leaf.scan
	if scan.Wrong() {
		scan = &jsonscan.Scanner{}
		scan.Add(p.text[p.leaf.start:p.pos])
	}
	if p.safe = p.pos; !scan.InString() {
		p.safe = bytes.LastIndexByte(p.text[:p.pos], '\\')
	}
}

// scan reads a value or a key on, and reports whether it is whole. What is no JSON is a problem.
func (p *Prefix) scan() bool {
	p.pos += p.leaf.scan.Add(p.text[p.pos:])
	if p.leaf.scan.Wrong() {
		return p.fail(p.path(""), "json", "no JSON")
	}
	return p.leaf.scan.Complete()
}

// characters counts those of a string's source, or fewer: an escape by its number may be half of a
// pair, so it counts as none. Counting too few only lets the text go a little later, counting too
// many would let go what does not fit.
func characters(source []byte) int {
	return utf8.RuneCount(source) - bytes.Count(source, []byte(`\`)) - 5*bytes.Count(source, []byte(`\u`))
}

// check looks at the value that is whole now. The first finding alone is told, as nothing behind it
// is read any more: the first by its place, since the library goes through maps, and a model would
// be told another one each time.
func (p *Prefix) check() bool {
	doc, err := parse(p.text[p.leaf.start:p.pos])
	if err != nil {
		return p.fail(p.path(""), "json", err.Error())
	}
	switch {
	// It is no matter what a member says that is left out.
	case p.goes:
		p.cut()
		p.state, p.goes = wantNext, false
		return true
	// The value lies as deep as the containers around it, and a schema's work depends on the depth.
	case p.rules.workFor(len(p.stack), doc.levels) > most:
		return p.fail(p.path(""), "work", tooMuch)
	case len(doc.twice) > 0:
		return p.fail(append(p.path(""), doc.twice[0].path()...), "duplicate", "is there twice")
	}
	if failed, ok := p.leaf.schema.Validate(doc.value).(*jsonschema.ValidationError); ok {
		f := slices.MinFunc(findings(failed), finding.compare)
		return p.fail(append(p.path(""), f.path...), f.keyword, f.text)
	}
	p.done()
	return true
}
