package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// first lists the settings that toolnorm -h shows, which are those at the beginning of the README.
var first = []string{"listen", "api-keys-file", "upstream", "trace-bodies"}

// Settings that the help of a command shows beside its own options: which servers it asks, or where
// its data is.
var (
	asking  = []string{"config", "data", "ollama", "upstream"}
	keeping = []string{"data", "store", "text-embedding-model-url", "text-embedding-model-name"}
)

// helper prints help. If all is set, it shows every setting that a command takes.
type helper struct{ all bool }

// print prints kong's help without the settings of serve, of which there are hundreds: a command
// shows its own options. The settings that most people need follow the help of the program itself.
func (h *helper) print(o kong.HelpOptions, ctx *kong.Context) error {
	hidden := 0
	o.NoExpandSubcommands = ctx.Selected() == nil // "toolnorm kb -h" lists those of kb
	if at := ctx.Selected(); at != nil && at.Name != "serve" && !h.all {
		hidden = hideSettings(at)
	}
	if err := kong.DefaultHelpPrinter(o, ctx); err != nil {
		return err
	}
	switch {
	case hidden > 0:
		fmt.Fprintf(ctx.Stdout,
			"\nSettings of toolnorm serve that it also takes (%d): toolnorm help --all %s\n",
			hidden, ctx.Selected().Path())
		return nil
	case ctx.Selected() != nil:
		return nil
	}
	fmt.Fprintln(ctx.Stdout, "\nSettings to begin with (toolnorm serve -h lists all):")
	for _, command := range ctx.Model.Children {
		for _, flag := range command.Flags {
			if command.Name == "serve" && slices.Contains(first, flag.Name) {
				sentence, _, _ := strings.Cut(flag.Help, ". ")
				fmt.Fprintf(ctx.Stdout, "  --%-26s %s.\n", flag.Name+"="+flag.FormatPlaceHolder(),
					strings.TrimSuffix(sentence, "."))
			}
		}
	}
	return nil
}

// hideSettings hides the settings among the options of a command and of those above it, and counts
// them. The help then mentions the hidden settings in one sentence. A setting has an environment
// variable, an option of a command does not.
func hideSettings(n *kong.Node) (hidden int) {
	shown := keeping
	if slices.ContainsFunc(n.Flags, func(f *kong.Flag) bool { return f.Name == "ollama" }) {
		shown = asking
	}
	for ; n != nil; n = n.Parent {
		for _, flag := range n.Flags {
			switch {
			case len(flag.Envs) == 0 || flag.Hidden:
			case slices.Contains(shown, flag.Name):
				sentence, _, _ := strings.Cut(strings.ReplaceAll(flag.Help, "e.g. ", "e.g.\u00a0"),
					". ")
				flag.Help = strings.TrimSuffix(sentence, ".") + "."
			default:
				flag.Hidden = true
				hidden++
			}
		}
	}
	return hidden
}

// flag turns the command help into the flag, which people expect beside it: "help formats test" is
// "formats test -h", and "help --all models" shows every setting that models takes.
func (h *helper) flag(args []string) []string {
	if len(args) == 0 || args[0] != "help" {
		return args
	}
	rest := slices.DeleteFunc(slices.Clone(args[1:]), func(arg string) bool {
		return arg == "--all"
	})
	h.all = len(rest) < len(args)-1
	return append(rest, "--help")
}
