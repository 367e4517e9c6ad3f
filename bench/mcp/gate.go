package mcp

import "fmt"

// The limits that the server must keep.
const (
	MaxIdle = 28 << 10 // bytes of an idle session
	AimCall = 2.0      // the median time of a tool's call, as a multiple of a bare handler's
	// the same for processor time, which varies less on a busy machine; beyond this the gate fails
	MaxCall      = 3.0
	MaxLeftBytes = 1 << 20 // bytes that 10,000 closed sessions may leave, in all
	maxLeftGo    = 5       // goroutines that they may leave, since the runtime's own come and go
	// allocations that ninety more tools may add to a list, as the client's buffer grows
	maxListAllocs = 20
)

// Breaches measures sessions and calls, and returns a line for each limit that is broken. Calls of
// this server, by both revisions of the protocol, are compared with those of a bare handler. Those
// of mcp-go are measured only for the report. It returns an error if a measurement fails.
func Breaches() (all []string, err error) {
	sessions, err := IdleSessions()
	if err != nil {
		return nil, err
	}
	if b := sessions[0].Bytes; b > MaxIdle {
		all = append(all, fmt.Sprintf("an idle session takes %.1f KiB, the limit is %d", b/1024,
			MaxIdle>>10))
	}
	left, err := Churn()
	if err != nil {
		return nil, err
	}
	if left.Bytes > MaxLeftBytes || left.Goroutines > maxLeftGo {
		all = append(all,
			fmt.Sprintf("%d sessions that have gone left %.0f bytes and %d goroutines",
				left.Sessions, left.Bytes, left.Goroutines))
	}
	calls, err := Calls()
	if err != nil {
		return nil, err
	}
	for _, c := range calls[1:3] {
		if ratio := float64(c.CPU) / float64(calls[0].CPU); ratio > MaxCall {
			all = append(all, fmt.Sprintf(
				"%s: a tool's call takes %.1f times the processor time of a bare handler, the limit is %.1f", c.Name, ratio, MaxCall))
		}
	}
	few, many, err := ListAllocs()
	if err != nil {
		return nil, err
	}
	if many-few > maxListAllocs {
		all = append(all, fmt.Sprintf("a list of 100 tools takes %.0f allocations, one of 10 %.0f",
			many, few))
	}
	return all, nil
}
