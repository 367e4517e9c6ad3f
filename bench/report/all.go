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

// All measures everything and writes it to w, unless a figure is impossible: then something is
// broken, and nothing is written. Program is the toolnorm to start. The page is written at the end,
// so that a run that fails leaves the old page as it is.
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

// figure is a cell, or a part of one, that no measurement can give: less than nothing, nothing
// where there was something, and no number.
var figure = regexp.MustCompile(
	`(^|[\s(|])-[0-9]|(^|[^0-9.])0(\.0+)? (%|ns|µs|ms|KiB)(\s|$)|\b(NaN|Inf)\b`)

// impossible returns the lines of tables that hold such a figure. What direct access adds to itself
// is nothing. A broken measurement looks like a very good one, so such a page is not written.
func impossible(page string) (bad []string) {
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "| direct |") &&
			figure.MatchString(line) {
			bad = append(bad, line)
		}
	}
	return bad
}

// all measures everything.
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

// breaches lists the limits that are broken.
func breaches(w io.Writer, all []string) {
	if len(all) > 0 {
		fmt.Fprintf(w, "\nOver the limit:\n\n- %s\n", strings.Join(all, "\n- "))
	}
}

// head writes what was measured, where and how. Without the machine and the revision a reader could
// not tell which figures may be compared.
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

// revision returns the commit that is measured, with a mark when files have been changed since.
// A page of a tree with changes says so ("-dirty"), since nobody could measure it again.
func revision() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}
