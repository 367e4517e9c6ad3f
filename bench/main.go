// Command bench measures toolnorm beside its peers. run.sh calls it.
//
//	bench gate                     the decoder's allocations and growth, the MCP server's sessions and calls; fails on a breach
//	bench mcp                      the MCP server alone, as Markdown on standard output
//	bench all PROGRAM              everything, as Markdown on standard output; PROGRAM is toolnorm
//	bench reverse ADDRESS TARGET   serves httputil.ReverseProxy; started by "bench all"
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"toolnorm/bench/decoder"
	"toolnorm/bench/drive"
	"toolnorm/bench/mcp"
	"toolnorm/bench/report"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run does what the arguments say.
func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "gate":
		return gate()
	case len(args) == 1 && args[0] == "mcp":
		return report.MCP(os.Stdout)
	case len(args) == 2 && args[0] == "all":
		return report.All(os.Stdout, args[1])
	case len(args) == 3 && args[0] == "reverse":
		return drive.Reverse(args[1], args[2])
	}
	return errors.New("usage: bench gate | mcp | all PROGRAM | reverse ADDRESS TARGET")
}

// gate measures the decoder and the MCP server, and fails when they break a limit.
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
