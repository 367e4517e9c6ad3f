package notation

import "strings"

// divider divides words and quoted texts that contain more than one part of a call, such as
// get_weather.city.
type divider struct{ *reader }

// split divides words that contain a parameter. The parameter may come after the tool's name or a
// word of the notation, as in get_weather.city and ARG_CITY. Or it comes first and a member of it
// follows, as in address.city. Quoted text that has a parameter with its value, as in `city=Paris`,
// is divided as well.
func (r *divider) split() {
	var all []token
	before := ""
	for i, t := range r.tokens {
		if t.kind == aText && strings.Contains("`«‹「『", string(firstRune(r.text[t.from:t.to]))) {
			if inner := r.opened(t); inner != nil {
				all = append(all, inner...)
				continue
			}
		}
		at := -1
		if t.kind == aWord && r.param(t.inner) == "" && r.toolAt(i) == nil {
			at = r.dividesAt(t.inner)
		}
		if at < 0 {
			if t.kind == aWord && r.param(t.inner) != "" {
				before = ""
			}
			all = append(all, t)
			continue
		}
		mid, front := t.from+at, t.inner[:at]
		if owner := r.param(front); owner != "" && owner == before {
			all = append(all, token{aSign, t.from, mid + 1, "."}) // the next member of it
		} else {
			before = owner
			all = append(all, token{aWord, t.from, mid, front}, token{aSign, mid, mid + 1, "."})
		}
		all = append(all, token{aWord, mid + 1, t.to, t.inner[at+1:]})
	}
	r.tokens = all
}

// dividesAt returns the position of the separator in a word with two parts: the tool's name and a
// parameter, as in get_weather.city, or a parameter and a member of it, as in address.city. It
// returns -1 for any other word.
func (r *divider) dividesAt(word string) int {
	for at, c := range word {
		if !strings.ContainsRune(".-_", c) || at == 0 {
			continue
		}
		front, name := word[:at], word[at+1:]
		if r.param(name) != "" && (front == r.tool.Name || roleOf(front)&structural != 0) ||
			c == '.' && r.typ.Has(front) && r.typ.Prop(front).Has(name) {
			return at
		}
	}
	return -1
}

// opened divides a quoted text that contains a parameter, a sign and a value, such as `city=Paris`.
// It returns the tokens inside, or nil for any other text.
func (r *divider) opened(t token) []token {
	open := len(string(firstRune(r.text[t.from:t.to])))
	inner := lex(r.text[t.from+open : t.to-open])
	if len(inner) < 3 || r.param(inner[0].inner) == "" || inner[1].kind != aSign &&
		inner[2].kind != aSign {
		return nil
	}
	all := []token{{aSign, t.from, t.from + open, r.text[t.from : t.from+open]}}
	for _, in := range inner {
		in.from, in.to = in.from+t.from+open, in.to+t.from+open
		all = append(all, in)
	}
	return append(all, token{aSign, t.to - open, t.to, r.text[t.to-open : t.to]})
}
