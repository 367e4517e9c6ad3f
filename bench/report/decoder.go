// Package report writes what was measured as Markdown.
package report

import (
	"fmt"
	"io"

	"toolnorm/bench/decoder"
)

// Ours writes a table of the costs of toolnorm's decoder. If the longest reply was skipped, the
// growth is not known, and the table says so instead of 0.
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

// beside writes a table of Ollama's costs as multiples of toolnorm's. A multiple holds on any
// machine. The nanoseconds in brackets show how much time that is.
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

// nanoseconds returns the text of a cell with a cost.
func nanoseconds(c decoder.Cost) string {
	switch {
	case c.Skipped:
		return "skipped"
	case c.Wrong:
		return fmt.Sprintf("%.0f, read wrongly", c.NS)
	}
	return fmt.Sprintf("%.0f", c.NS)
}

// times returns the text of a cell with a peer's cost as a multiple of toolnorm's. If the peer read
// the reply wrong, "read wrongly" follows. If the size was skipped, the text is "skipped".
func times(peer, ours decoder.Cost) string {
	switch {
	case peer.Skipped:
		return "skipped"
	case peer.Wrong:
		return fmt.Sprintf("%s (%.0f), read wrongly", multiple(peer.NS/ours.NS), peer.NS)
	}
	return fmt.Sprintf("%s (%.0f)", multiple(peer.NS/ours.NS), peer.NS)
}

// multiple returns a ratio as text with a sensible number of digits.
func multiple(x float64) string {
	switch {
	case x < 1:
		return fmt.Sprintf("%.2fx", x)
	case x < 10:
		return fmt.Sprintf("%.1fx", x)
	}
	return fmt.Sprintf("%.0fx", x)
}
