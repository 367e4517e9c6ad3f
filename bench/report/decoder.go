// Package report writes what was measured as Markdown.
package report

import (
	"fmt"
	"io"

	"toolnorm/bench/decoder"
)

// Ours writes the decoder's own costs.
// A growth that is unknown, as the longest reply was skipped, is said to be so, and not 0.
func Ours(w io.Writer, rows []decoder.Row) {
	fmt.Fprint(w, "| family | text |")
	for _, n := range decoder.Sizes {
		fmt.Fprintf(w, " %s |", decoder.Size(n))
	}
	fmt.Fprintf(w, " growth | allocations at 10 KiB | at 1 MiB |\n|---|---|")
	for range len(decoder.Sizes) + 3 {
		fmt.Fprint(w, "--:|")
	}
	fmt.Fprintln(w)
	for _, r := range rows {
		fmt.Fprintf(w, "| %s | %s |", r.Family, r.Text)
		for _, c := range r.Ours {
			fmt.Fprintf(w, " %s |", nanoseconds(c))
		}
		growth := "unknown"
		if g := r.Growth(); g > 0 {
			growth = fmt.Sprintf("%.2f", g)
		}
		fmt.Fprintf(w, " %s | %.3f | %.3f |\n", growth, r.Ours[1].Allocs,
			r.Ours[len(r.Ours)-1].Allocs)
	}
}

// beside writes Ollama's costs as multiples of ours.
// A multiple holds on any machine; the nanoseconds in brackets say how much is at stake.
func beside(w io.Writer, rows []decoder.Row) {
	fmt.Fprint(w, "| family | text |")
	for _, n := range decoder.Sizes {
		fmt.Fprintf(w, " %s |", decoder.Size(n))
	}
	fmt.Fprintf(w, " allocations at 10 KiB, Ollama : ours |\n|---|---|")
	for range len(decoder.Sizes) + 1 {
		fmt.Fprint(w, "--:|")
	}
	fmt.Fprintln(w)
	for _, r := range rows {
		fmt.Fprintf(w, "| %s | %s |", r.Family, r.Text)
		for i, c := range r.Ollama {
			fmt.Fprintf(w, " %s |", times(c, r.Ours[i]))
		}
		if r.Ollama[1].Skipped {
			fmt.Fprintln(w, " - |")
			continue
		}
		fmt.Fprintf(w, " %.1f : %.2f |\n", r.Ollama[1].Allocs, r.Ours[1].Allocs)
	}
}

// nanoseconds returns a cost in a cell.
func nanoseconds(c decoder.Cost) string {
	switch {
	case c.Skipped:
		return "skipped"
	case c.Wrong:
		return fmt.Sprintf("%.0f, read wrongly", c.NS)
	}
	return fmt.Sprintf("%.0f", c.NS)
}

// times returns a peer's cost as a multiple of ours.
// A wrong reading has its multiple, too, and says that it is one: it costs what it costs.
func times(peer, ours decoder.Cost) string {
	switch {
	case peer.Skipped:
		return "skipped"
	case peer.Wrong:
		return fmt.Sprintf("%s (%.0f), read wrongly", multiple(peer.NS/ours.NS), peer.NS)
	}
	return fmt.Sprintf("%s (%.0f)", multiple(peer.NS/ours.NS), peer.NS)
}

// multiple returns a ratio with as many digits as say something.
func multiple(x float64) string {
	switch {
	case x < 1:
		return fmt.Sprintf("%.2fx", x)
	case x < 10:
		return fmt.Sprintf("%.1fx", x)
	}
	return fmt.Sprintf("%.0fx", x)
}
