// Command void plays the editor Void's part: it asks as Void asks, finds calls as Void finds them,
// and shows what Void would show and run. So a setup can be tried before the editor is. How to set
// up Void itself is in docs/editors.md.
//
//	$ toolnorm &
//	$ go run ./examples/void
//	== any model: Void's own XML ==
//	shows  I will use read_file for this.
//	runs   read_file uri="main.go"
//	shows  The tool read_file answered: package main. That is all I have to say.
//	== NAME@shell: commands in Void's terminal ==
//	shows  I will use get_employee_info for this.
//	runs   run_command command="toolrun get_employee_info '{\"employee_id\":\"EMP001\"}'"
//	shows  The tool get_employee_info answered: (exit code 0). That is all I have to say.
//	== grok-local-NAME: a model that Void takes for one with calls ==
//	shows  I will use read_file for this.
//	runs   read_file uri="main.go"
//	shows  The tool read_file answered: package main. That is all I have to say.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"toolnorm/internal/voidmodel"
)

func main() {
	url := flag.String("url", "http://127.0.0.1:11435/v1", "where toolnorm serves")
	model := flag.String("model", "demo/hermes",
		"the model to ask; demo models need no model server")
	flag.Parse()
	if err := run(context.Background(), os.Stdout, *url, *model); err != nil {
		fmt.Fprintln(os.Stderr, "void:", err)
		os.Exit(1)
	}
}

// editor are two of Void's own tools. Nothing is really read or run.
var editor = []voidmodel.Tool{
	{
		Name: "read_file", Description: "Returns full contents of a given file.",
		Params: []voidmodel.Param{{Name: "uri", Description: "The FULL path to the file."}},
		Run:    func(map[string]string) string { return "package main" },
	},
	{
		Name: "run_command", Description: "Runs a terminal command and waits for the result.",
		Params: []voidmodel.Param{{Name: "command", Description: "The terminal command to run."}},
		Run:    func(map[string]string) string { return "(exit code 0)" },
	},
}

// run asks a question in each of the three ways in which Void can get calls, and prints the steps
// to w. It returns an error if a request fails.
func run(ctx context.Context, w io.Writer, url, model string) error {
	for _, way := range []struct {
		title, model, question string
		native                 bool
	}{
		{"any model: Void's own XML", model, `Use read_file to read "main.go".`, false},
		{"NAME@shell: commands in Void's terminal", model + "@shell",
			`Use get_employee_info: who is "EMP001"?`, false},
		{"grok-local-NAME: a model that Void takes for one with calls", "grok-local-" + model,
			`Use read_file to read "main.go".`, true},
	} {
		fmt.Fprintf(w, "== %s ==\n", way.title)
		void := voidmodel.Client{Base: url, Model: way.model, Native: way.native, Tools: editor}
		steps, err := void.Ask(ctx, way.question)
		if err != nil {
			return err
		}
		for _, s := range steps {
			fmt.Fprintf(w, "shows  %s\n",
				strings.Join(strings.Fields(strings.ReplaceAll(s.Shown, "\n\nThat", ". That")),
					" "))
			if s.Name != "" {
				fmt.Fprintf(w, "runs   %s%s\n", s.Name, arguments(s.Args))
			}
		}
	}
	return nil
}

// arguments returns the arguments of a call, each as name="value". Their order is random, but no
// tool in this example has more than one.
func arguments(args map[string]string) (all string) {
	for name, value := range args {
		all += fmt.Sprintf(" %s=%q", name, value)
	}
	return all
}
