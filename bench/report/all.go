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
	"toolnorm/bench/drive"
	"toolnorm/bench/fake"
)

// cpuRounds is how often each load is sent to each proxy, after one round that does not count.
const cpuRounds = 5

// All measures everything and writes it to w, unless a figure is impossible: then something is broken, and nothing is written.
// Program is the toolnorm to start.
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

// figure is a cell, or a part of one, that no measurement can give: less than nothing, nothing where there was something, and no
// number.
var figure = regexp.MustCompile(`(^|[\s(|])-[0-9]|(^|[^0-9.])0(\.0+)? (%|ns|µs|ms|KiB)(\s|$)|\b(NaN|Inf)\b`)

// impossible are the lines of tables that hold such a figure. What direct access adds to itself is nothing.
func impossible(page string) (bad []string) {
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "| direct |") && figure.MatchString(line) {
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
	fmt.Fprint(w, "## The decoder\n\nNanoseconds of processor time a token of four bytes, over a whole reply, the best of at least nine rounds; growth is 1 MiB over 10 KiB.\n")
	fmt.Fprintf(w, "Pulling a token from a source and yielding it as it is takes %.0f ns of each. The aim is at most %.1f allocations a token and a growth of %.1f; CI fails beyond %.1f allocations or a growth of %.1f.\n\n", decoder.Floor(), decoder.MaxAllocs, decoder.AimGrowth, decoder.MaxAllocs, decoder.MaxGrowth)
	Ours(w, rows)
	fmt.Fprint(w, "\nText made to slow the decoder down, every format live; growth is 1 MiB over 100 KiB, since a short text fits into what may be held:\n\n")
	Ours(w, hostile)
	breaches(w, decoder.Breaches(append(slices.Clone(rows), hostile...)))
	fmt.Fprint(w, "\n### Beside Ollama's own parsers\n\nTheir cost a token on the same tokens, as a multiple of ours (in brackets: nanoseconds). A reply that would take more than ten seconds is skipped.\nTheir first event of a call is its last; ours leaves at the commit point.\n\n")
	beside(w, rows)
	if err := proxies(w, program); err != nil {
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

// head says what was measured, where and how.
func head(w io.Writer) {
	fmt.Fprintf(w, "# Benchmarks\n\nWritten by `bench/run.sh`; do not edit. Compare figures within one run only: ratios hold on any machine, times do not.\n\n")
	fmt.Fprintf(w, "Machine: %s, %d cores, %s/%s. Go: %s. Revision: %s. Date: %s.\n\n",
		processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), revision(), time.Now().UTC().Format(time.DateOnly))
}

// processor is the name of the processor.
func processor() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(b)) {
		if name, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(v)
		}
	}
	return "unknown processor"
}

// revision is the commit that is measured, with a mark when files have been changed since.
func revision() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// proxies measures toolnorm and ReverseProxy in front of the same scripted server.
func proxies(w io.Writer, program string) error {
	up, err := fake.Start()
	if err != nil {
		return err
	}
	defer up.Close()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	reverse, err := drive.Launch("ReverseProxy", os.Stderr, func(addr string) []string {
		return []string{self, "reverse", addr, up.URL}
	})
	if err != nil {
		return err
	}
	defer reverse.Close()
	data, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(data)
	log, err := os.Create(data + "/toolnorm.log")
	if err != nil {
		return err
	}
	defer log.Close()
	ours, err := drive.Launch("toolnorm", log, func(addr string) []string {
		return []string{program, "serve", "--listen", addr, "--ollama", up.URL, "--data", data}
	})
	if err != nil {
		return err
	}
	defer ours.Close()
	if err := cpu(w, reverse, ours); err != nil {
		return err
	}
	if err := first(w, up, reverse, ours); err != nil {
		return err
	}
	return early(w, up, ours)
}

// cpu writes what a token costs in each proxy.
func cpu(w io.Writer, reverse, ours *drive.Proxy) error {
	all, err := drive.Spend([]*drive.Proxy{reverse, ours}, cpuRounds)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\n## The proxy\n\nBoth stand in front of one scripted server on the loopback interface. toolnorm reads Ollama's raw text and converts it, calls included; `httputil.ReverseProxy` (request body read first) passes OpenAI's chunks of the same tokens on and converts nothing.\n\n")
	fmt.Fprintf(w, "### CPU a token\n\nUser and system time of the proxy's process, from /proc; medians of %d rounds, the two in turn.\n\n", cpuRounds)
	fmt.Fprint(w, "| load | ReverseProxy | toolnorm | ratio |\n|---|--:|--:|--:|\n")
	for _, s := range all {
		fmt.Fprintf(w, "| %s | %.1f µs | %.1f µs | %.2f |\n", s.Load.Name, micro(s.Token[0]), micro(s.Token[1]), float64(s.Token[1])/float64(s.Token[0]))
	}
	return nil
}

// first writes the time to the first token.
func first(w io.Writer, up *fake.Server, reverse, ours *drive.Proxy) error {
	t, err := drive.First([]string{up.URL, reverse.URL, ours.URL})
	if err != nil {
		return err
	}
	fmt.Fprint(w, "\n### Time to the first token\n\nOne stream at a time, medians. toolnorm asks the server twice: once to render the prompt, once to continue it.\n\n")
	fmt.Fprint(w, "| way | time | added | ratio to direct |\n|---|--:|--:|--:|\n")
	for i, name := range []string{"direct", "ReverseProxy", "toolnorm"} {
		fmt.Fprintf(w, "| %s | %.2f ms | %.2f ms | %.1f |\n", name, micro(t[i])/1000, micro(t[i]-t[0])/1000, float64(t[i])/float64(t[0]))
	}
	return nil
}

// early writes how much of a long call comes while the server is still writing it.
func early(w io.Writer, up *fake.Server, ours *drive.Proxy) error {
	fmt.Fprint(w, "\n### A call while it is written\n\nOne call in the Hermes form with one long string argument, raw strategy. Early: the share of the argument's bytes that reached the client before the server had finished the call.\n\n")
	fmt.Fprint(w, "| argument | tokens/s | early | first piece | whole call | longest silence | pieces |\n|---|--:|--:|--:|--:|--:|--:|\n")
	for _, c := range []struct{ bytes, rate int }{{10 << 10, 500}, {100 << 10, 2000}} {
		e, err := drive.LongCall(up, ours.URL, c.bytes, c.rate)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "| %s | %d | %.2f %% | %.0f ms | %.0f ms | %.0f ms | %d |\n", decoder.Size(c.bytes), c.rate, 100*e.Share,
			micro(e.First)/1000, micro(e.Took)/1000, micro(e.Silence)/1000, e.Pieces)
	}
	return nil
}

// micro is d in microseconds.
func micro(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
