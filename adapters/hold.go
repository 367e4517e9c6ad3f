package adapters

import (
	"fmt"
	"strconv"
)

// Degrees of holding, for Options.Hold: how many bytes of a call's arguments wait before the call leaves.
const (
	HoldShort = 0       // the default: calls of up to 512 bytes leave whole, longer ones stream from there on
	HoldNone  = -1      // every call streams from its commit point
	HoldCall  = 1 << 62 // every call waits until it is complete
)

// ParseHold reads a degree of holding as people write it: none, short, call, or a number of bytes above 0.
func ParseHold(s string) (int, error) {
	switch s {
	case "short":
		return shortCall, nil
	case "none":
		return HoldNone, nil
	case "call":
		return HoldCall, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n <= 0 {
		return 0, fmt.Errorf("must be none, short, call or a number of bytes, not %q", s)
	}
	return n, nil
}

// Held is how many bytes wait under a degree of holding.
func Held(hold int) int {
	if hold == HoldShort {
		return shortCall
	}
	return hold
}
