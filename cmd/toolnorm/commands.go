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

// folders say where the user's own things are, for commands that read families.
// The names are those of serve, so that a settings file serves both.
type folders struct {
	Data   string `placeholder:"DIR" help:"Data folder: database, keys, your own families/*.txt. Default: toolnorm in the user's data folder."`
	Config string `placeholder:"FILE" help:"YAML file with settings. Default: toolnorm.yaml in the user's configuration folder, if present."`
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
	if !errors.As(err, &wrong) || strings.HasPrefix(err.Error(), "unexpected argument ") {
		return ""
	}
	if wrong.Context.Selected() == nil || wrong.Context.Command() == "serve" {
		return "; toolnorm serve -h lists the settings"
	}
	words, _, _ := strings.Cut(wrong.Context.Command(), " <")
	return "; toolnorm " + words + " -h says how it is used"
}
