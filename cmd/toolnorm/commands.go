package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/home"
	"toolnorm/internal/toolbox"
)

// folders say where the user's own things are. Serve and every command that reads them embed the same fields, so that a setting has one
// name and one sentence wherever it is taken, and a settings file serves all.
type folders struct {
	Data   string `placeholder:"DIR" help:"Data folder: database, keys, your own families/*.txt. Default: ~/.local/share/toolnorm."`
	Config string `placeholder:"FILE" help:"YAML file with settings. Default: ~/.config/toolnorm/toolnorm.yaml, on macOS ~/Library/Application Support/toolnorm/toolnorm.yaml; it need not be there."`
}

// stores say where the data of the tools is, for commands that work on it beside serve.
type stores struct {
	folders `embed:""`
	Store   string `placeholder:"WHERE" help:"Database of the tools: the absolute path of a SQLite file, or postgres://… Default: db/mcp_data.db in the data folder. Knowledge bases are in knowledge.db beside it, or in the same PostgreSQL."`
}

// sources are the databases of custom tools.
type sources struct {
	Connection map[string]string `aliases:"connections" placeholder:"NAME=WHERE" help:"Databases that custom SQL tools may ask, read-only: the absolute path of a SQLite file (#table,table behind it lists those that may be read), postgres://… with a role that may only SELECT, or env:VARIABLE for either. The connection sample is always there."`
}

// samples say whether the sample company's tools are offered.
type samples struct {
	Sample string `default:"auto" enum:"auto,always,never" help:"When to offer the tools of a sample company, which is made up: auto (while there are no tools, knowledge bases or MCP servers of your own), always, or never."`
}

// formats are all formats: those that come with the program, and the user's own.
func (f folders) formats() (*adapters.Set, error) {
	dir, err := home.Data(f.Data)
	if err != nil {
		return nil, err
	}
	return userFormats(filepath.Join(dir, "families"))
}

// formatIn is the format with that name.
func formatIn(set *adapters.Set, name string) (*adapters.Format, error) {
	if f := set.Named(name); f != nil {
		return f, nil
	}
	return nil, &ended{fmt.Errorf("no format %q; toolnorm formats list names them", name), statusUsage}
}

// readTools reads a file of tools; no path is no tools.
// OpenAI's list and a whole request are taken, as people have either at hand.
func readTools(path string) ([]chat.Tool, error) {
	if path == "" {
		return nil, nil
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return nil, &ended{fmt.Errorf("tools: %w", err), statusUsage}
	}
	tools, err := chat.ParseTools(src)
	if err != nil {
		return nil, &ended{fmt.Errorf("%s: %w", path, err), statusUsage}
	}
	return tools, nil
}

// opened runs do with the data of the tools, which serve works on as well, until it is done or a signal comes.
// Unlike serve it fails when the store cannot be opened: there is nothing else that it could do.
func opened(data string, c toolbox.Config, do func(context.Context, *toolbox.Box) error) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	var err error
	if c.Data, err = home.Data(data); err != nil {
		return &ended{err, statusUsage}
	}
	box, err := toolbox.Open(ctx, c)
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, box), box.Close())
}

// whereHelpIs says which help explains what was wrong with the arguments; nothing where the error itself does.
// The help of serve itself is a hundred lines, and would hide the error above it.
func whereHelpIs(err error) string {
	var wrong *kong.ParseError
	if !errors.As(err, &wrong) {
		return ""
	}
	if wrong.Context.Selected() == nil || wrong.Context.Command() == "serve" {
		if strings.HasPrefix(err.Error(), "unexpected argument ") {
			return "; toolnorm help lists the commands"
		}
		return "; toolnorm serve -h lists the settings"
	}
	words, _, _ := strings.Cut(wrong.Context.Command(), " <")
	return "; toolnorm " + words + " -h says how it is used"
}
