package chunk

import "strings"

// marks separates texts that are shown without a blank between them: struck text from what replaces
// it, and a raised or lowered number from the digits beside it. "fee ~~5~~6" must not become "fee
// 56", nor 10⁶ become 106.
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

// within calls the function read, which reads a part of a text. The parameter struck says whether
// the part is struck through. The parameter sign is the sign for a raised or lowered number at the
// beginning of the part, or "".
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

// end returns ~~, which ends struck text, at the end of a line, or "" if no struck text is open.
func (m *marks) end() string {
	open := m.open
	if m.open, m.sign = false, ""; open {
		return "~~"
	}
	return ""
}

// close returns ~~, which ends struck text, if the text that follows is not struck, and otherwise
// "".
func (m *marks) close() string {
	if !m.open || m.struck > 0 {
		return ""
	}
	m.open = false
	return "~~"
}

// begin returns the signs that have to stand between two texts: so, which is the text so far, and
// text, which comes next and must not be empty. They are a sign such as ^, or ~~ where struck text
// begins, or both, or none.
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

// startsNumber reports whether text begins with a digit. If the parameter sign says that the text
// is raised, there may be a plus or minus before the digit.
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
