package schema

import (
	"math/big"
	"strconv"
	"strings"

	"toolnorm/internal/jsontree"
)

// count returns the whole number that is the value of a keyword, such as minItems, or nil if it is
// anything else. 2.0 (since draft 6) and 1e3 are whole numbers. Numbers beyond an int32 are
// ignored, because no value is ever that long.
func count(v *jsontree.Value, keyword, at string) *Count {
	n, err := strconv.ParseFloat(v.Get(keyword).Raw, 64)
	if err != nil || n < 0 || n != float64(int32(n)) {
		return nil
	}
	return &Count{int(n), Origin{at, keyword}}
}

// readBound reads a limit of numbers, and returns nil if there is none. An exclusive limit is
// either a number of its own or, in draft 4, true beside the inclusive limit. Of two limits the
// tighter one is returned. A number of 40 bytes or more is ignored, because every integer of 64
// bits and every double is shorter. side is 1 for a minimum and -1 for a maximum.
func readBound(v *jsontree.Value, inclusive, exclusive, at string, side int) *Bound {
	limit := func(keyword string, excluded bool) *Bound {
		if n := v.Get(keyword); kind(n)&Number != 0 && len(n.Raw) < 40 {
			return &Bound{exactly(n.Raw), excluded, Origin{at, keyword}}
		}
		return nil
	}
	if v.Get(exclusive).Raw == "true" {
		return limit(inclusive, true)
	}
	return tighter(limit(inclusive, false), limit(exclusive, true), side)
}

// maxExponent replaces larger exponents. No double has one beyond 308, and 1e999999 would be
// written out: a schema with such limits occupied a core for minutes.
const maxExponent = 1024

// exactly returns a JSON number as a fraction. Exponents are limited by maxExponent.
func exactly(number string) *big.Rat {
	if at := strings.IndexAny(number, "eE"); at >= 0 {
		n, _ := strconv.Atoi(number[at+1:]) // beyond an int it is the nearest int
		number = number[:at+1] + strconv.Itoa(min(max(n, -maxExponent), maxExponent))
	}
	r, _ := new(big.Rat).SetString(number)
	return r
}
