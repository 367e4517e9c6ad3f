package mcp

import "fmt"

// What the gate asks of the server.
const (
	MaxIdle       = 28 << 10 // bytes of an idle session
	AimCall       = 2.0      // the median time of a tool's call, in those of a bare handler
	MaxCall       = 3.0      // what fails: its processor time, which swings less on a busy machine
	MaxLeftBytes  = 1 << 20  // of 10,000 sessions that have gone, in all
	maxLeftGo     = 5        // goroutines of them; the runtime's own come and go
	maxListAllocs = 20       // that ninety more tools add to a list, as the client's buffer grows
)

// Breaches measures what the gate is about, and says, a line each, which limit is broken. calls[0]
// is the bare handler and calls[1:3] are ours by the two revisions; mcp-go's are measured for the
// page alone.
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
