// Command bench measures toolnorm beside its peers. run.sh calls it.
//
//	bench gate                     the decoder's allocations and growth, the MCP server's sessions and calls; fails on a breach
//	bench hostile PROGRAM [NAME]   hostile requests, each to a fresh toolnorm (PROGRAM); fails when one costs too much. Only those with NAME in theirs
//	bench mcp                      the MCP server alone, as Markdown on standard output
//	bench all PROGRAM              everything, as Markdown on standard output; PROGRAM is toolnorm
//	bench cost PROGRAM [ROUNDS]    what toolnorm costs beside ReverseProxy and the translator, as Markdown on standard output
//	bench live PROGRAM [ROUNDS]    what looking at requests that run costs, and how late pages are; fails on a breach
//	bench reverse ADDRESS TARGET   serves httputil.ReverseProxy; started by "bench all"
//	bench translate ADDRESS TARGET serves the least that makes OpenAI's events of Ollama's records; started by "bench all"
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"toolnorm/bench/decoder"
	"toolnorm/bench/drive"
	"toolnorm/bench/hostile"
	"toolnorm/bench/mcp"
	"toolnorm/bench/report"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run runs the command that the arguments name. It returns an error if the command fails or the
// arguments are wrong.
func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "gate":
		return gate()
	case (len(args) == 2 || len(args) == 3) && args[0] == "hostile":
		return attack(args[1], strings.Join(args[2:], ""))
	case len(args) == 1 && args[0] == "mcp":
		return report.MCP(os.Stdout)
	case len(args) == 2 && args[0] == "all":
		return report.All(os.Stdout, args[1])
	case len(args) >= 2 && args[0] == "cost":
		rounds, _ := strconv.Atoi(strings.Join(args[2:], "")) // 0: as many as the page has
		return report.Cost(os.Stdout, args[1], rounds)
	case len(args) >= 2 && args[0] == "live":
		rounds, _ := strconv.Atoi(strings.Join(args[2:], ""))
		return report.Live(os.Stdout, args[1], max(rounds, 1))
	case len(args) == 3 && args[0] == "translate":
		return drive.Translate(args[1], args[2])
	case len(args) == 3 && args[0] == "reverse":
		return drive.Reverse(args[1], args[2])
	}
	return errors.New(
		"usage: bench gate | hostile PROGRAM [NAME] | mcp | all PROGRAM | cost PROGRAM [ROUNDS] | live PROGRAM [ROUNDS] | reverse ADDRESS TARGET | translate ADDRESS TARGET")
}

// gate measures the decoder and the MCP server. It returns an error if they break a limit.
func gate() error {
	rows, err := decoder.Measure(true)
	if err != nil {
		return err
	}
	hostile, err := decoder.MeasureHostile()
	if err != nil {
		return err
	}
	rows = append(rows, hostile...)
	report.Ours(os.Stdout, rows)
	b, err := mcp.Breaches()
	if err != nil {
		return err
	}
	if b = append(decoder.Breaches(rows), b...); len(b) > 0 {
		return errors.New("\n  " + strings.Join(b, "\n  "))
	}
	fmt.Println("every limit is kept")
	return nil
}

// unrelated is the name of the measurement hostile.MeasureUnrelated.
const unrelated = "MCP servers that hang, die and write garbage"

// ms returns a duration in milliseconds.
func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// attack sends hostile requests, each to a program started for it alone, and prints their costs. It
// returns an error that lists all requests that cost too much. If the parameter only is not empty,
// attack sends only requests whose name contains it.
func attack(program, only string) error {
	var breaches []string
	if only == "" || strings.Contains(unrelated, only) {
		u, err := hostile.MeasureUnrelated(program)
		if err != nil {
			return err
		}
		fmt.Printf("%-46s p99 of the first token %.2f ms, without them %.2f: %.2f times\n",
			unrelated, ms(u.With), ms(u.Without), u.Ratio)
		if u.Ratio > hostile.MaxUnrelated {
			breaches = append(breaches, fmt.Sprintf("%s: %.2f times as late, the limit is %.2f",
				unrelated, u.Ratio, hostile.MaxUnrelated))
		}
	}
	err := hostile.Measure(program, only, func(c hostile.Cost) {
		fmt.Printf("%-46s %6.2f s %5d MB  %s\n", c.Name, c.CPU.Seconds(), c.Peak>>20,
			strings.Join(c.Breaches, "; "))
		for _, b := range c.Breaches {
			breaches = append(breaches, c.Name+": "+b)
		}
	})
	if err == nil && len(breaches) > 0 {
		err = errors.New("\n  " + strings.Join(breaches, "\n  "))
	}
	return err
}
