package valid

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"toolnorm/internal/jsonscan"
)

// leaf is the value or key that is being read. It is scanned while it arrives and only parsed at
// its end, because parsing it at each fragment would take quadratic time. In general nothing of it
// may be sent, however long it gets, until it is complete. The exception is a string that no later
// character can make wrong (see the field flows): the part that was read may be sent.
type leaf struct {
	schema *jsonschema.Schema
	start  int
	scan   jsonscan.Scanner // over the text from start on
	// no later character can make this string wrong, so the part that was read is safe
	flows bool
	least int // characters after which it flows
	// bytes after which its characters are counted; 0: it is safe only when it is complete
	enough int
}

// wait reads more of the value. If it is a string that no later character can make wrong, the part
// that was read is safe at once. Any other value is safe when it is complete and checked. wait
// returns false if more text is needed, or at a problem.
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

// reached reports whether no later character can make the string wrong, so that it may be sent
// while it is being read. That is so if its only rule is a minimum of characters, and it has as
// many. Otherwise "minLength": 3 would hold back a whole file.
func (p *Prefix) reached() bool {
	l := &p.leaf
	if source := p.text[l.start:p.pos]; l.enough > 0 && len(source) > l.enough {
		// Quotes and escapes make the source longer than the text, so the bytes say only when to
		// count.
		missing := l.least - characters(source[1:])
		l.flows = missing < 0
		// no character is shorter than a byte, so counting before that is in vain
		l.enough = len(source) + missing
	}
	return l.flows
}

// stands marks the part of a string that was read so far as safe to send. Half an escape at its end
// is left out, because its other half is not known. If a byte came that no string may contain, the
// text before that byte is safe.
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

// scan reads more of a value or a key, and reports whether it is complete. Text that is not JSON is
// recorded as a problem.
func (p *Prefix) scan() bool {
	p.pos += p.leaf.scan.Add(p.text[p.pos:])
	if p.leaf.scan.Wrong() {
		return p.fail(p.path(""), "json", "no JSON")
	}
	return p.leaf.scan.Complete()
}

// characters returns the number of characters of a string's source, or a smaller number. An escape
// with a number, such as \ud83d, may be half of a pair, so it is not counted. Counting too few only
// delays the text a little, but counting too many would release text that does not fit.
func characters(source []byte) int {
	return utf8.RuneCount(source) - bytes.Count(source, []byte(`\`)) - 5*bytes.Count(source, []byte(
		`\u`))
}

// check validates the completed value, and returns false if it has a problem. If it has several,
// only the one with the first place is recorded, because nothing after that place is read. The
// library iterates over maps, so without this order a model would read a different problem each
// time.
func (p *Prefix) check() bool {
	doc, err := parse(p.text[p.leaf.start:p.pos])
	if err != nil {
		return p.fail(p.path(""), "json", err.Error())
	}
	switch {
	// The value of a member that is left out does not matter.
	case p.goes:
		p.cut()
		p.state, p.goes = wantNext, false
		return true
	// The value is as deep as the containers around it, and a schema's work depends on the depth.
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
