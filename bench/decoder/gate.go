package decoder

import "fmt"

// What the gate asks of every family.
const (
	// per token, from 10 KiB on: what a reply costs once is spread over it; not of hostile text
	MaxAllocs = 0.2
	AimGrowth = 1.3 // see Row.Growth; of hostile text too
	// what fails: a busy machine may well say 1.6 of flat cost, while cost that grows with length
	// says 100
	MaxGrowth = 3.0
)

// Breaches returns a line for each place where rows break a limit or were not read rightly. A wrong
// or skipped cell is a breach, too: a decoder that reads nothing is fast.
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

// wrong describes what is wrong with the row at the smallest size where something is, or returns
// "". Allocations are judged from the second size on, 10 KiB: at 1 KiB what a reply costs once is
// most of it.
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

// Size returns n bytes in KiB or MiB as a text.
func Size(n int) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}
