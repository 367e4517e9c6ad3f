package repair

import "testing"

// TestQuotesInsideAString grades quotes of a string under {"title": that do not close it.
func TestQuotesInsideAString(t *testing.T) {
	in := &Level{Kind: anObject, Depth: 1, Want: planType}
	for _, c := range []struct {
		text       string
		i          int // of the quote
		end, price int
	}{
		{`the "best" one"}`, 4, 0, likely},      // it opens a quotation
		{`a, "count": 3}`, 3, 2, 2 * slip},      // a key begins here
		{`a", "count": 3}`, 1, 2, Most + 1},     // it ends a quotation that never began
		{`5" wide", "count": 3}`, 1, 0, likely}, // inches
		{`a\", "count": 3}`, 2, 2, Most + 1},    // escaped twice, rather
		{`a"b"}`, 1, 0, slip + small},           // in the middle of a word
	} {
		x := stringReader{
			here: here{&look{text: c.text, lastQuote: len(c.text), delims: delims}, nil, &Node{Place: Place{Stack: in}}},
			d:    &delims[0], i: c.i, run: c.text[:c.i],
		}
		if end := x.likelyEnd(c.i+1, in); end != c.end {
			t.Errorf("%s: likelyEnd(%d) = %d, want %d", c.text, c.i+1, end, c.end)
		}
		if got := x.innerQuote(c.i+1, c.end); got != c.price {
			t.Errorf("%s: innerQuote(%d) = %d, want %d", c.text, c.i, got, c.price)
		}
	}
}

// TestNamedArgumentsBehindAValue looks behind a sign in a Python call.
func TestNamedArgumentsBehindAValue(t *testing.T) {
	in := &Level{Kind: aCall, Depth: 1, Want: planType}
	for text, want := range map[string]bool{"; title=": true, "and count=": true, `; "when": `: true, "; when=": false, "+ count": false} {
		x := afterReader{here: here{&look{text: text, delims: delims, python: true}, nil, &Node{Place: Place{Stack: in}}}}
		if got := x.namedBehind(); got != want {
			t.Errorf("namedBehind at %q = %v, want %v", text, got, want)
		}
	}
}
