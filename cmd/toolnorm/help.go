package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// first are the settings that toolnorm -h shows: those that a first hour needs.
var first = []string{"listen", "ollama", "upstream", "model", "num-ctx", "api-keys-file", "config"}

// printHelp is kong's help, and behind that of the program itself the settings that most people need.
func printHelp(o kong.HelpOptions, ctx *kong.Context) error {
	if err := kong.DefaultHelpPrinter(o, ctx); err != nil || ctx.Selected() != nil {
		return err
	}
	fmt.Fprintln(ctx.Stdout, "\nSettings to begin with (toolnorm serve -h lists all):")
	for _, command := range ctx.Model.Children {
		for _, flag := range command.Flags {
			if command.Name == "serve" && slices.Contains(first, flag.Name) {
				sentence, _, _ := strings.Cut(flag.Help, ". ")
				fmt.Fprintf(ctx.Stdout, "  --%-22s %s.\n", flag.Name+"="+flag.FormatPlaceHolder(), strings.TrimSuffix(sentence, "."))
			}
		}
	}
	return nil
}

// helpFlag turns the command help into the flag, which people expect beside it: "help formats test" is "formats test -h".
func helpFlag(args []string) []string {
	if len(args) == 0 || args[0] != "help" {
		return args
	}
	return append(slices.Clone(args[1:]), "--help")
}
