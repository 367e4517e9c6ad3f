package report

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"time"

	"toolnorm/bench/decoder"
	"toolnorm/bench/drive"
	"toolnorm/bench/fake"
)

// Cost measures the processor time that toolnorm and the other proxies need, and writes it to w.
// The parameter program is the path of the toolnorm program to start. The parameter rounds is how
// often each load is sent to each proxy; 0 stands for cpuRounds. Cost leaves out the rest of the
// report, such as the decoder's tables, so that a change of the proxy can be checked quickly. It
// returns an error if a measurement fails.
func Cost(w io.Writer, program string, rounds int) error {
	head(w)
	return proxies(w, program, cmp.Or(rounds, cpuRounds))
}

// proxies measures ReverseProxy, the translator and toolnorm, each in front of the same scripted
// server, and writes the results to w. ReverseProxy and the translator run in processes of their
// own, started from this program's file, because /proc counts by process. It returns an error if a
// measurement fails.
func proxies(w io.Writer, program string, rounds int) error {
	up, err := fake.Start()
	if err != nil {
		return err
	}
	defer up.Close()
	self, err := os.Executable()
	if err != nil {
		return err
	}
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
	var all []*drive.Proxy
	for _, p := range []struct {
		name string
		args func(addr string) []string
	}{
		{"ReverseProxy", func(addr string) []string {
			return []string{self, "reverse", addr, up.URL}
		}},
		{"translator", func(addr string) []string {
			return []string{self, "translate", addr, up.URL}
		}},
		{"toolnorm", func(addr string) []string {
			return []string{program, "serve", "--listen", addr, "--ollama", up.URL, "--data", data,
				"--ask-before-tools", "*=never"}
		}},
	} {
		running, err := drive.Launch(p.name, log, p.args)
		if err != nil {
			return err
		}
		defer running.Close()
		all = append(all, running)
	}
	if err := cpu(w, all, rounds); err != nil {
		return err
	}
	if err := openings(w, append([]*drive.Proxy{{Name: "direct", URL: up.URL}},
		all...)); err != nil {
		return err
	}
	return early(w, up, all[len(all)-1])
}

// cpu writes a table of the processor time per token in each proxy. The three proxies must come in
// this order: ReverseProxy, the translator, toolnorm. It returns an error if a measurement fails.
func cpu(w io.Writer, proxies []*drive.Proxy, rounds int) error {
	all, err := drive.Spend(proxies, rounds)
	if err != nil {
		return err
	}
	fmt.Fprint(w,
		"\n## The proxy\n\nAll stand in front of one scripted server on the loopback interface. toolnorm reads Ollama's raw text and converts it, calls included; `httputil.ReverseProxy` (request body read first) passes OpenAI's chunks of the same tokens on and converts nothing.\n")
	fmt.Fprint(w,
		"The translator is the least that converts: it copies the text of each of Ollama's records into an event, from quote to quote, decodes nothing and looks for no calls (`bench/drive/translate.go`). [Where the time goes](cost.md) reads the figures.\n\n")
	fmt.Fprintf(w,
		"### CPU a token\n\nUser and system time of the proxy's process, from /proc; medians of %d rounds, the three in turn. The aims are 1.3 times the translator saturated, and 1.15 times ReverseProxy at a pace.\n\n", rounds)
	fmt.Fprint(w,
		"| load | ReverseProxy | translator | toolnorm | toolnorm : ReverseProxy | toolnorm : translator |\n|---|--:|--:|--:|--:|--:|\n")
	for _, s := range all {
		ours := float64(s.Token[2])
		fmt.Fprintf(w, "| %s | %.2f µs | %.2f µs | %.2f µs | %.2f | %.2f |\n", s.Load.Name,
			micro(s.Token[0]), micro(s.Token[1]), micro(s.Token[2]), ours/float64(s.Token[0]),
			ours/float64(s.Token[1]))
	}
	return nil
}

// openings writes tables of what the beginning of a reply costs, for small and large requests. A
// large request is most expensive for toolnorm, which sends each request twice: first to render the
// prompt, and then to continue the prompt. openings returns an error if a measurement fails.
func openings(w io.Writer, proxies []*drive.Proxy) error {
	fmt.Fprint(w,
		"\n### Time to the first token\n\nOne stream at a time, medians; processor time of the proxy for a whole request with a reply of four tokens. toolnorm asks the server twice: once to render the prompt, once to continue it. For a large request the second line is what these two take without any proxy, measured by itself.\n")
	fmt.Fprint(w, "The aim is three times ReverseProxy for the large request.\n")
	for _, size := range []struct {
		name string
		drive.Request
	}{
		{"One tool, one message", drive.Request{Tools: 1}},
		{"12 tools, one message", drive.Request{Tools: 12}},
		{"12 tools, 100 messages, 200 KiB", drive.Request{Tools: 12, History: 200 << 10}},
	} {
		all, err := drive.Open(proxies, size.Request)
		if err != nil {
			return err
		}
		twice, err := drive.Twice(proxies[0].URL, size.Request)
		if err != nil {
			return err
		}
		fmt.Fprintf(w,
			"\n%s:\n\n| way | time | ratio to ReverseProxy | processor time | ratio to ReverseProxy |\n|---|--:|--:|--:|--:|\n", size.name)
		for i, o := range all {
			if proxies[i].Name == "direct" {
				fmt.Fprintf(w, "| direct | %.2f ms | %.2f | | |\n", micro(o.First)/1000,
					ratio(o.First, all[1].First))
				if size.History > 0 { // in a small request that is lost in what a connection costs
					fmt.Fprintf(w, "| direct, rendered and continued | %.2f ms | %.2f | | |\n",
						micro(twice)/1000, ratio(twice, all[1].First))
				}
				continue
			}
			fmt.Fprintf(w, "| %s | %.2f ms | %.2f | %.2f ms | %.2f |\n", proxies[i].Name,
				micro(o.First)/1000, ratio(o.First, all[1].First), micro(o.CPU)/1000,
				ratio(o.CPU, all[1].CPU))
		}
	}
	return nil
}

// ratio returns a divided by b.
func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

// early writes a table that shows how much of a long call reaches the client while the server is
// still writing it. Two calls are measured. The second is written much faster than local models
// write, to show that pieces do not wait for each other. early returns an error if a measurement
// fails.
func early(w io.Writer, up *fake.Server, ours *drive.Proxy) error {
	fmt.Fprint(w,
		"\n### A call while it is written\n\nOne call in the Hermes form with one long string argument, raw strategy. Early: the share of the argument's bytes that reached the client before the server had finished the call.\n\n")
	fmt.Fprint(w,
		"| argument | tokens/s | early | first piece | whole call | longest silence | pieces |\n|---|--:|--:|--:|--:|--:|--:|\n")
	for _, c := range []struct{ bytes, rate int }{{10 << 10, 500}, {100 << 10, 2000}} {
		e, err := drive.LongCall(up, ours.URL, c.bytes, c.rate)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "| %s | %d | %.2f %% | %.0f ms | %.0f ms | %.0f ms | %d |\n",
			decoder.Size(c.bytes), c.rate, 100*e.Share,
			micro(e.First)/1000, micro(e.Took)/1000, micro(e.Silence)/1000, e.Pieces)
	}
	return nil
}

// micro returns d in microseconds.
func micro(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
