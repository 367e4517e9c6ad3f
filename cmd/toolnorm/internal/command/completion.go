package command

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// Completion is the command completion. It takes commands and settings from the model of kong's
// parser, so a new setting needs no change here.
type Completion struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish: source <(toolnorm completion bash), or toolnorm completion fish | source."`
}

// Run writes the completions for the shell to stdout. It always returns nil.
func (c *Completion) Run(m *Console, app *kong.Kong) error {
	if c.Shell == "fish" {
		fishCompletions(m.Out, app.Model.Node, "")
		return nil
	}
	// #compdef is for a file named _toolnorm in a folder of $fpath
	if c.Shell == "zsh" {
		fmt.Fprint(m.Out, "#compdef toolnorm\nautoload -U +X bashcompinit && bashcompinit\n")
	}
	fmt.Fprint(m.Out, "# Completions of toolnorm for bash and zsh.\n")
	fmt.Fprint(m.Out, "_toolnorm() {\n\tlocal word=${COMP_WORDS[COMP_CWORD]} command=\"\" w\n"+
		"\tfor w in \"${COMP_WORDS[@]:1:$((COMP_CWORD-1))}\"; do case $w in -*) ;; *) command=\"$command $w\" ;; esac; done\n\tcase ${command# } in\n")
	bashCompletions(m.Out, app.Model.Node, "")
	fmt.Fprint(m.Out,
		"\t*) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n\tesac\n}\ncomplete -o default -F _toolnorm toolnorm\n")
	if c.Shell == "zsh" { // zsh reads such a file at the first Tab, which it must complete too
		fmt.Fprint(m.Out,
			"[ \"${funcstack[1]}\" != _toolnorm ] || _bash_complete -o default -F _toolnorm\n")
	}
	return nil
}

// bashCompletions writes one case of a shell script for the command n, and one for each command
// below it. The argument words is what the user types for n.
func bashCompletions(w io.Writer, n *kong.Node, words string) {
	var all []string
	for _, child := range n.Children {
		all = append(all, child.Name)
	}
	fmt.Fprintf(w, "\t%q) COMPREPLY=($(compgen -W %q -- \"$word\")) ;;\n", words,
		strings.Join(append(all, flagsOf(n)...), " "))
	for _, child := range n.Children {
		bashCompletions(w, child, strings.TrimSpace(words+" "+child.Name))
	}
}

// flagsOf returns the flags that may follow a command: its own, and those of its default command.
func flagsOf(n *kong.Node) (all []string) {
	if n.DefaultCmd != nil {
		all = flagsOf(n.DefaultCmd)
	}
	for _, flag := range n.Flags {
		all = append(all, "--"+flag.Name)
		if flag.Tag.Negatable != "" {
			all = append(all, "--no-"+flag.Name)
		}
	}
	return all
}

// fishCompletions writes one line for each command and each flag below n. The argument command is
// what the user types for n.
func fishCompletions(w io.Writer, n *kong.Node, command string) {
	condition := "__fish_use_subcommand"
	if command != "" {
		condition = "__fish_seen_subcommand_from " + command
	}
	for _, child := range n.Children {
		fmt.Fprintf(w, "complete -c toolnorm -n '%s' -a %s -d %s\n", condition, child.Name,
			fishQuote(child.Help))
		fishCompletions(w, child, child.Name)
	}
	for _, flag := range n.Flags {
		fmt.Fprintf(w, "complete -c toolnorm -n '%s' -l %s -d %s\n", condition, flag.Name,
			fishQuote(flag.Help))
	}
}

// fishQuote returns the first sentence of text in single quotes, with \ and ' escaped. Between
// single quotes, fish treats no other character specially.
func fishQuote(text string) string {
	text, _, _ = strings.Cut(text, ". ")
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}
