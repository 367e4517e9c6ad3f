package chunk

import "strings"

// marks keeps apart what a text shows apart without a blank: text that is struck through from what
// replaces it, and a number that is raised or lowered from the digits beside it. "fee ~~5~~6" must
// not become "fee 56", nor 10⁶ become 106.
type marks struct {
	struck int    // number of surrounding elements that are struck through
	open   bool   // the text is within ~~
	sign   string // what separates the next digit from a digit before it; empty: nothing
}

// The signs before a number that is raised, lowered or neither.
const (
	raised  = "^"
	lowered = "_"
	plain   = " "
)

// within reads a part of a text by read, which may be struck through or begin with a sign of those
// above.
func (m *marks) within(struck bool, sign string, read func()) {
	if struck {
		m.struck++
		defer func() { m.struck-- }()
	}
	if sign != "" {
		m.sign = sign
		defer func() { m.sign = plain }()
	}
	read()
}

// end returns what ends struck text at the end of a line.
func (m *marks) end() string {
	open := m.open
	if m.open, m.sign = false, ""; open {
		return "~~"
	}
	return ""
}

// close returns what ends struck text before text that is not struck.
func (m *marks) close() string {
	if !m.open || m.struck > 0 {
		return ""
	}
	m.open = false
	return "~~"
}

// begin returns what has to stand between the texts so and text, which is not empty.
func (m *marks) begin(so, text string) string {
	sign := m.sign
	if m.sign = ""; sign != "" && (so == "" || !digit(so[len(so)-1]) || !startsNumber(sign, text)) {
		sign = ""
	}
	if m.struck > 0 && !m.open && strings.TrimSpace(text) != "" {
		m.open = true
		return sign + "~~"
	}
	return sign
}

// startsNumber reports whether text begins with a digit, or, if it is raised, with a sign and a
// digit.
func startsNumber(sign, text string) bool {
	if sign == raised {
		for _, minus := range []string{"-", "+", "−", "–"} {
			text = strings.TrimPrefix(text, minus)
		}
	}
	return text != "" && digit(text[0])
}

// digit reports whether a byte is one of 0 to 9.
func digit(b byte) bool { return '0' <= b && b <= '9' }
