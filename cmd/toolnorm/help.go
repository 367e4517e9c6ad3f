package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// first lists the settings that toolnorm -h shows. They are the ones at the beginning of the
// README.
var first = []string{"listen", "api-keys-file", "upstream", "trace-bodies"}

// Settings that the help of a command shows in addition to its own options. They say which servers
// it asks, or where its data is.
var (
	asking  = []string{"config", "data", "ollama", "upstream"}
	keeping = []string{"data", "store", "text-embedding-model-url", "text-embedding-model-name"}
)

// helper prints help. If the field all is true, it shows every setting that a command takes.
type helper struct{ all bool }

// print prints kong's help without the hundreds of settings of serve. The help of a command shows
// only its own options, and the help of the program ends with the settings that most people need.
// It returns an error if the help cannot be printed.
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

// hideSettings removes the settings from the options in the help of a command, and returns how many
// it hid. A setting is an option that has an environment variable. A few settings stay, with one
// sentence of help: the list asking for commands that ask model servers, and keeping for others.
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

// flag returns args with the command help replaced by the flag --help, since people try either:
// "help formats test" becomes "formats test --help". It removes --all, which makes the help show
// every setting, as in "help --all models". Other args are returned unchanged.
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
