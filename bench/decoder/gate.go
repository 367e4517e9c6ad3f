package decoder

import "fmt"

// The limits that every family must keep.
const (
	// per token, from 10 KiB on, so that a reply's fixed cost is spread; not for hostile text
	MaxAllocs = 0.2
	AimGrowth = 1.3 // see Row.Growth; for hostile text, too
	// beyond this the gate fails; a busy machine may show 1.6 for a flat cost, while a cost that
	// grows with the length shows 100
	MaxGrowth = 3.0
)

// Breaches returns a line for each row that breaks a limit, was not read right or was skipped in
// part. Wrong and skipped replies are breaches as well, because a decoder that reads nothing is
// fast.
func Breaches(rows []Row) []string {
	var all []string
	for _, r := range rows {
		where := r.Family + ", " + r.Text
		if s := r.wrong(); s != "" {
			all = append(all, where+": "+s)
		}
		if g := r.Growth(); g > MaxGrowth {
			all = append(all, fmt.Sprintf(
				"%s: a token at 1 MiB costs %.2f times one in a short text, the limit is %.1f",
				where, g, MaxGrowth))
		}
	}
	return all
}

// wrong returns a sentence about the first limit that the row breaks, or "" if it breaks none. The
// sizes of a reply are checked from the smallest on. At the smallest, 1 KiB, allocations are not
// checked, because most of them are the fixed cost of a reply.
func (r Row) wrong() string {
	for i, c := range r.Ours {
		switch {
		case c.Skipped:
			return fmt.Sprintf("%s would take more than %v", Size(Sizes[i]), patience)
		case c.Wrong:
			return fmt.Sprintf("%s is not read rightly", Size(Sizes[i]))
		case i > 0 && c.Allocs > MaxAllocs && r.Family != hostile:
			return fmt.Sprintf("%.2f allocations a token at %s, the limit is %.1f", c.Allocs,
				Size(Sizes[i]), MaxAllocs)
		}
	}
	return ""
}

// Size returns n bytes as text, in KiB or MiB.
func Size(n int) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}
