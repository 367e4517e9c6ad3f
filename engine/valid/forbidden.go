package valid

import "slices"

// Written is all that was written.
func (p *Prefix) Written() []byte {
	if p.before == nil {
		return p.text
	}
	return p.before
}

// Cut says whether a member was cut out.
func (p *Prefix) Cut() bool { return p.before != nil }

// cutMember takes out a member that is whole.
func (p *Prefix) cutMember() bool {
	p.cut()
	if p.state = wantNext; p.top().n == 0 {
		p.state = wantOther
	}
	return true
}

// cut takes out what was read behind what can stand.
func (p *Prefix) cut() {
	if p.before == nil {
		p.before = append(slices.Clone(p.text), p.rest...)
	}
	p.text = append(p.text[:p.safe], p.text[p.pos:]...)
	p.pos = p.safe
}

// mayMean says whether a name may be another one, misspelt, that is not there yet.
func (o *open) mayMean(name string) bool {
	for other := range o.schema.Properties {
		if misspelt(name, other) && !slices.Contains(o.keys, other) {
			return true
		}
	}
	return false
}
