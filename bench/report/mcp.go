package report

import (
	"fmt"
	"io"

	"toolnorm/bench/mcp"
)

// MCP measures the MCP server and writes the result to w. It returns an error if a measurement
// fails.
func MCP(w io.Writer) error {
	fmt.Fprint(w,
		"\n## The MCP server\n\nBeside mcp-go's own transports (Streamable HTTP without sessions) and a net/http handler that reads the request and answers with the same bytes. Servers and clients are in one process; eight connections; medians, the best of several rounds in turn.\n")
	calls, err := mcp.Calls()
	if err != nil {
		return err
	}
	fmt.Fprintf(w,
		"\n### tools/call\n\nThe aim is at most %.1f times the bare handler's median; CI fails beyond %.1f times its processor time.\n\n| server | median | ratio to bare | processor time, the client's too | ratio | calls a second | allocations |\n|---|--:|--:|--:|--:|--:|--:|\n", mcp.AimCall, mcp.MaxCall)
	for _, s := range calls {
		fmt.Fprintf(w, "| %s | %.0f µs | %.2f | %.0f µs | %.2f | %.0f | %.0f |\n", s.Name,
			micro(s.Median), float64(s.Median)/float64(calls[0].Median),
			micro(s.CPU), float64(s.CPU)/float64(calls[0].CPU), s.Second, s.Allocs)
	}
	lists, err := mcp.Lists()
	if err != nil {
		return err
	}
	fmt.Fprint(w,
		"\n### tools/list with 1,000 tools\n\n| server | median | lists a second | allocations |\n|---|--:|--:|--:|\n")
	for _, s := range lists {
		fmt.Fprintf(w, "| %s | %.2f ms | %.0f | %.0f |\n", s.Name, micro(s.Median)/1000, s.Second,
			s.Allocs)
	}
	fmt.Fprintf(w, "\nRatio: %.0f times as many a second.\n", lists[0].Second/lists[1].Second)
	return mcpSessions(w)
}

// mcpSessions measures how much memory and how many goroutines an open MCP session takes, and what
// remains of closed ones, and writes both to w. What remains can be negative, if garbage was
// collected in the meantime; the page then says 0. It returns an error if a measurement fails.
func mcpSessions(w io.Writer) error {
	idle, err := mcp.IdleSessions()
	if err != nil {
		return err
	}
	fmt.Fprintf(w,
		"\n### Sessions of SSE\n\n3,000 open and initialised, both ends of the connections in the process. CI fails beyond %d KiB.\n\n| server | a session | goroutines |\n|---|--:|--:|\n", mcp.MaxIdle>>10)
	for _, s := range idle {
		fmt.Fprintf(w, "| %s | %.1f KiB | %.1f |\n", s.Name, s.Bytes/1024, s.Goroutines)
	}
	left, err := mcp.Churn()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nWhat %d sessions leave that came and went: %.0f KiB and %d goroutines.\n",
		left.Sessions, max(left.Bytes, 0)/1024, max(left.Goroutines, 0))
	return nil
}
