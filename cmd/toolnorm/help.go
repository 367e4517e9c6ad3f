package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// group is a heading of the settings, and those below it in the order in which they are looked for.
type group struct {
	title    string
	settings []string
}

// groups are the headings of toolnorm serve -h: three hundred lines in the order of a struct were read by nobody. A test finds a
// setting that no group names.
var groups = []group{
	{"Server", []string{"listen", "ollama", "upstream", "key-env", "data", "config", "demo", "max-body", "body-timeout", "client-timeout", "grace"}},
	{"Models", []string{
		"model", "alias", "format", "strategy", "templates", "wording", "probe", "grammar", "calls", "ignore-thinking-calls", "ask-before-tools",
		"client-form", "void-aliases", "reasoning-field", "reasoning-replay",
	}},
	{"Tools", []string{
		"tools", "sample", "store", "connection", "mcp", "mcp-file", "mcp-private", "mcp-timeout", "public-url", "runner", "runner-base64", "shell-fence",
		"agent-time", "agent-tokens", "agent-tool-tokens", "agent-rpm", "agent-at-once", "agent-queue",
		"data-tools", "text-embedding-model-url", "text-embedding-model-name", "text-embedding-model-key",
		"chromadb-host", "chromadb-port", "chromadb-collection-name", "chromadb-header",
		"postgresql-db-host", "postgresql-db-port", "postgresql-db-name", "postgresql-db-user", "postgresql-db-pass",
		"sql-role", "sql-rows", "sql-time", "sql-functions", "kb-tools", "kb-search-url", "kb-small-vectors-from",
		"kb-rerank-url", "kb-rerank-model", "kb-rerank-key", "kb-rerank-form", "kb-rerank-time",
		"ocr-llm-url", "ocr-llm-model", "ocr-without-llm", "ocr-repair",
	}},
	{"Reliability", []string{
		"check", "rewrite", "reask", "call-buffer", "out-of-bounds", "max-same-calls", "loop-guard", "max-repeat",
		"queue", "queue-wait", "load-timeout", "first-byte-timeout", "idle-timeout", "heartbeat", "unload-stuck",
	}},
	{"Context", []string{"num-ctx", "max-ctx", "overflow", "tool-budget"}},
	{"Access", []string{
		"api-keys", "api-keys-file", "insecure-no-keys", "hosts", "origins", "admin-key", "admin-key-file",
		"jwt-secret", "jwt-secret-file", "jwt-keys", "jwt-audience", "jwt-issuer", "jwt-leeway", "jwt-admin-role",
	}},
	{"Debug", []string{"trace", "trace-bodies", "log-level", "log-format"}},
}

// first are the settings that toolnorm -h shows: those that a first hour needs.
var first = []string{"listen", "ollama", "upstream", "model", "num-ctx", "api-keys-file", "config"}

// groupSettings puts the settings of serve, and of the commands that take some of them, under their headings.
func groupSettings(app *kong.Application) {
	for _, command := range app.Children {
		for at, g := range groups {
			// kong prints headings in the order of their keys' first flags.
			heading := &kong.Group{Key: fmt.Sprint(at), Title: g.title + ":"}
			for _, flag := range command.Flags {
				if slices.Contains(g.settings, flag.Name) {
					flag.Group = heading
				}
			}
		}
		slices.SortStableFunc(command.Flags, func(a, b *kong.Flag) int { return rankOf(a.Name) - rankOf(b.Name) })
	}
}

// rankOf is the place of a setting in groups. What is in none, a command's own flags, comes first.
func rankOf(name string) int {
	rank := 0
	for _, g := range groups {
		if i := slices.Index(g.settings, name); i >= 0 {
			return rank + i + 1
		}
		rank += len(g.settings)
	}
	return 0
}

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
