package report

import (
	"fmt"
	"io"
	"os"
	"time"

	"toolnorm/bench/drive"
	"toolnorm/bench/fake"
)

const (
	maxLag  = 250 * time.Millisecond // from a model's token to a page, at the 95th percentile
	maxCost = 1.05                   // of a token in the proxy while an administrator looks on
)

// Live measures the cost of showing requests on pages while they run, and how late the pages are,
// and writes a table to w. The parameter program is the toolnorm to start. Live returns an error if
// a measurement fails, or if a figure is above its limit.
func Live(w io.Writer, program string, rounds int) error {
	up, err := fake.Start()
	if err != nil {
		return err
	}
	defer up.Close()
	log, err := os.CreateTemp("", "live")
	if err != nil {
		return err
	}
	defer os.Remove(log.Name())
	defer log.Close()
	var all []drive.Watched
	for _, p := range []struct {
		name string
		more []string
	}{{"no texts kept", nil}, {"texts kept", []string{"--trace-bodies"}}} {
		data, err := os.MkdirTemp("", "bench")
		if err != nil {
			return err
		}
		defer os.RemoveAll(data)
		running, err := drive.Launch(p.name, log, func(addr string) []string {
			return append([]string{program, "serve", "--listen", addr, "--ollama", up.URL, "--data",
				data, "--ask-before-tools", "*=never"}, p.more...)
		})
		if err != nil {
			return err
		}
		defer running.Close()
		all = append(all, drive.Watched{Name: p.name + ", nobody looks", Proxy: running})
		if p.more != nil {
			all = append(all, drive.Watched{Name: p.name + ", the list and one stream are open",
				Proxy: running, Pages: 1},
				drive.Watched{Name: p.name + ", the list and all 100 streams are open",
					Proxy: running, Pages: 100})
		}
	}
	seen, err := drive.Live(up, all, rounds)
	if err != nil {
		return err
	}
	return table(w, all, seen)
}

// table writes the figures, and returns an error if one is above its limit.
func table(w io.Writer, all []drive.Watched, seen []drive.Seen) error {
	fmt.Fprint(w,
		"100 streams of 50 tokens a second through one toolnorm. Cost is its processor time a token, beside that of the row for the same texts where nobody looks. "+
			"Lag is the time from the moment a token was due at the model to its arrival at a page that shows its stream.\n\n| set-up | cost | times | lag p50 | p95 | p99 |\n|---|--:|--:|--:|--:|--:|\n")
	var over error
	base := seen[0].Token
	for i, s := range seen {
		if all[i].Pages == 0 {
			base = s.Token
		}
		times := float64(s.Token) / float64(base)
		fmt.Fprintf(w, "| %s | %.1f µs | %.2f |", all[i].Name, float64(s.Token.Nanoseconds())/1000,
			times)
		if len(s.Lags) == 0 {
			fmt.Fprint(w, " | | |\n")
			continue
		}
		at := func(share float64) time.Duration {
			return s.Lags[int(share*float64(len(s.Lags)-1))].Round(time.Millisecond)
		}
		fmt.Fprintf(w, " %v | %v | %v |\n", at(0.5), at(0.95), at(0.99))
		if at(0.95) > maxLag || all[i].Pages == 1 && times > maxCost {
			over = fmt.Errorf(
				"%s: lag %v at the 95th percentile, %.2f times the cost; the limits are %v and %.2f", all[i].Name, at(0.95), times, maxLag, maxCost)
		}
	}
	return over
}
