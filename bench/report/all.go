package report

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"toolnorm/bench/decoder"
)

// cpuRounds is how often each load is sent to each proxy, after one round that does not count.
const cpuRounds = 5

// All measures everything and writes the page to w. The parameter program is the toolnorm to start.
// All returns an error if a measurement fails, or if a figure is impossible, because something is
// broken then. The page is written only at the end, so that a run that fails does not change the
// old page.
func All(w io.Writer, program string) error {
	var page bytes.Buffer
	if err := all(&page, program); err != nil {
		return err
	}
	if bad := impossible(page.String()); len(bad) > 0 {
		return fmt.Errorf("impossible figures:\n%s", strings.Join(bad, ""))
	}
	_, err := page.WriteTo(w)
	return err
}

// figure matches a figure in a cell that no measurement can give: a negative number, zero where
// something was measured, and NaN or Inf.
var figure = regexp.MustCompile(
	`(^|[\s(|])-[0-9]|(^|[^0-9.])0(\.0+)? (%|ns|µs|ms|KiB)(\s|$)|\b(NaN|Inf)\b`)

// impossible returns the lines of tables with a figure that no measurement can give, such as 0. A
// broken measurement often looks like a very good one. Only the line for direct access may have
// zeros, because it is compared with itself.
func impossible(page string) (bad []string) {
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "| direct |") &&
			figure.MatchString(line) {
			bad = append(bad, line)
		}
	}
	return bad
}

// all measures everything and writes the page to w. It returns an error if a measurement fails.
func all(w io.Writer, program string) error {
	rows, err := decoder.Measure(false)
	if err != nil {
		return err
	}
	hostile, err := decoder.MeasureHostile()
	if err != nil {
		return err
	}
	head(w)
	fmt.Fprint(w,
		"## The decoder\n\nNanoseconds of processor time a token of four bytes, over a whole reply, the best of at least nine rounds; growth is 1 MiB over 10 KiB.\n")
	fmt.Fprintf(w,
		"Pulling a token from a source and yielding it as it is takes %.0f ns of each. The aim is at most %.1f allocations a token and a growth of %.1f; CI fails beyond %.1f allocations or a growth of %.1f.\n\n", decoder.Floor(), decoder.MaxAllocs, decoder.AimGrowth, decoder.MaxAllocs, decoder.MaxGrowth)
	Ours(w, rows)
	fmt.Fprint(w,
		"\nText made to slow the decoder down, every format live; growth is 1 MiB over 100 KiB, since a short text fits into what may be held:\n\n")
	Ours(w, hostile)
	breaches(w, decoder.Breaches(append(slices.Clone(rows), hostile...)))
	fmt.Fprint(w,
		"\n### Beside Ollama's own parsers\n\nTheir cost a token on the same tokens, as a multiple of ours (in brackets: nanoseconds). A reply that would take more than half a minute is skipped.\nTheir first event of a call is its last; ours leaves at the commit point.\n\n")
	beside(w, rows)
	if err := proxies(w, program, cpuRounds); err != nil {
		return err
	}
	return MCP(w)
}

// breaches writes a list of the limits that are broken, if there are any.
func breaches(w io.Writer, all []string) {
	if len(all) > 0 {
		fmt.Fprintf(w, "\nOver the limit:\n\n- %s\n", strings.Join(all, "\n- "))
	}
}

// head writes the head of the page: what was measured, where and how. Without the machine and the
// revision a reader could not know which figures may be compared.
func head(w io.Writer) {
	fmt.Fprintf(w,
		"# Benchmarks\n\nWritten by `bench/run.sh`; do not edit. Compare figures within one run only: ratios hold on any machine, times do not.\n\n")
	fmt.Fprintf(w, "Machine: %s, %d cores, %s/%s. Go: %s. Revision: %s. Date: %s.\n\n",
		processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), revision(),
		time.Now().UTC().Format(time.DateOnly))
}

// processor returns the name of the processor.
func processor() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(b)) {
		if name, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(v)
		}
	}
	return "unknown processor"
}

// revision returns the commit that is measured, followed by "-dirty" if files have been changed
// since, because such a measurement cannot be repeated.
func revision() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
