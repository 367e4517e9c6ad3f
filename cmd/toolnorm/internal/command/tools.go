package command

import (
	"context"
	"errors"
	"fmt"
	"os/user"
	"time"

	"toolnorm/internal/toolbox"
	"toolnorm/tools/dynamic"
)

// Tools are the commands for custom tools, which administrators make, as files for version control.
type Tools struct {
	List   toolsList   `cmd:"" help:"List the custom tools: number, name, type, and whether each is offered."`
	Export toolsExport `cmd:"" help:"Write each custom tool into a file of its own, NAME.yaml."`
	Import toolsImport `cmd:"" help:"Create or update tools from files. Running it again changes nothing. A running server offers them within a second."`
	Check  toolsCheck  `cmd:"" help:"Run the examples of the custom tools, and compare the tables that they ask with what those were when each tool was saved. One line for each problem, and exit status 1."`
}

// toolStore has the settings that say where the custom tools are. They are settings of serve as
// well, so that both work on the same tools.
type toolStore struct {
	Stores  `embed:""`
	Sources `embed:""`
}

// with passes the custom tools to the function do. It returns an error if they cannot be opened, or
// the error of that function.
func (c toolStore) with(m *Console, do func(ctx context.Context, s *dynamic.Set) error) error {
	config := toolbox.Config{
		Store: c.Store, Connections: c.Connection,
		Warn: m.warn,
	}
	hasTools := func(box *toolbox.Box) bool { return box.Custom != nil }
	return withToolbox(c.Data, config, hasTools, func(ctx context.Context, box *toolbox.Box) error {
		return do(ctx, box.Custom)
	})
}

// toolsList is the command "toolnorm tools list", which prints the custom tools.
type toolsList struct {
	toolStore `embed:""`
}

// Run prints a line for each tool, with tabs between the columns for scripts. It returns an error
// if the tools cannot be read.
func (c *toolsList) Run(m *Console) error {
	if err := c.there(); err != nil {
		return err
	}
	return c.with(m, func(ctx context.Context, s *dynamic.Set) error {
		all, err := s.List(ctx)
		for _, t := range all {
			state := "offered"
			switch {
			case !t.Active:
				state = "not active"
			case t.Problem != "":
				state = "not offered: " + t.Problem
			}
			fmt.Fprintf(m.Out, "%d\t%s\t%s\t%s\n", t.ID, t.Name, t.Type, state)
		}
		return err
	})
}

// toolsExport is the command "toolnorm tools export", which writes custom tools into files.
type toolsExport struct {
	Dir       string `arg:"" help:"The folder; it is made if need be."`
	Prune     bool   `help:"Also remove the files of tools that are gone."`
	toolStore `embed:""`
}

// Run writes the files and prints their names. It returns an error if a tool cannot be read or a
// file cannot be written.
func (c *toolsExport) Run(m *Console) error {
	if err := c.there(); err != nil {
		return err
	}
	return c.with(m, func(ctx context.Context, s *dynamic.Set) error {
		files, err := s.Export(ctx, c.Dir, c.Prune)
		for _, file := range files {
			fmt.Fprintln(m.Out, file)
		}
		return err
	})
}

// toolsImport is the command "toolnorm tools import", which saves custom tools from files.
type toolsImport struct {
	Paths     []string `arg:"" help:"Files, or folders of .yaml, .yml and .json files."`
	DryRun    bool     `help:"Only say what would be done."`
	Prune     bool     `help:"Also delete the tools that are in none of the files. If a file is refused, none is deleted."`
	toolStore `embed:""`
}

// Run imports the files and prints a line for each. If a file was refused, or if examples of its
// tool fail, Run returns an error after the other files are done, so that a script does not go on
// as if all tools were there.
func (c *toolsImport) Run(m *Console) error {
	return c.with(m, func(ctx context.Context, s *dynamic.Set) error {
		all, err := s.Import(ctx, whoami(), c.DryRun, c.Paths...)
		refused, failing := 0, 0
		for _, one := range all {
			fmt.Fprintf(m.Out, "%s: %s %s\n", printable(one.File), one.Action, kindOf(one))
			if one.Err != nil {
				refused++
				fmt.Fprintf(m.Err, "toolnorm: %s: %s\n", printable(one.File),
					printable(one.Err.Error()))
			}
			for _, v := range one.Verdicts {
				if !v.OK {
					failing++
					fmt.Fprintf(m.Err, "toolnorm: %s: %s\n", printable(one.File),
						printable(v.Sentence()))
				}
			}
		}
		if refused > 0 {
			err = errors.Join(err, fmt.Errorf("%d of %d files were refused", refused, len(all)))
		}
		if failing > 0 {
			err = errors.Join(err, fmt.Errorf(
				"examples that do not hold: %d; their tools were imported all the same", failing))
		}
		if !c.Prune || all == nil {
			return err
		}
		gone, wrong := s.Prune(ctx, whoami(), c.DryRun, all)
		for _, one := range gone {
			fmt.Fprintf(m.Out, "%s %s\n", one.Action, kindOf(one))
		}
		return errors.Join(err, wrong)
	})
}

// kindOf returns the name of what was imported, with "set" before the name of a set of tools.
func kindOf(one dynamic.Imported) string {
	if one.Set {
		return "set " + printable(one.Name)
	}
	return printable(one.Name)
}

// toolsCheck is the command "toolnorm tools check", which finds custom tools that no longer work.
type toolsCheck struct {
	Names     []string      `arg:"" optional:"" help:"The tools. Default: all, and the sets of tools."`
	Timeout   time.Duration `default:"2m" help:"How long the check may take in all."`
	toolStore `embed:""`
}

// Run prints a line for each problem. It returns an error if there are any, or if the tools cannot
// be checked.
func (c *toolsCheck) Run(m *Console) error {
	if err := c.there(); err != nil {
		return err
	}
	return c.with(m, func(ctx context.Context, s *dynamic.Set) error {
		ctx, cancel := context.WithTimeout(ctx, c.Timeout)
		defer cancel()
		found, err := s.Check(ctx, c.Names...)
		for _, one := range found.Findings {
			fmt.Fprintf(m.Out, "%s: %s\n", printable(one.Name), printable(one.What))
		}
		if err != nil {
			return err
		}
		looked := fmt.Sprintf("%d tools with %d examples, and %d sets", found.Tools, found.Examples,
			found.Sets)
		if len(found.Findings) > 0 {
			return fmt.Errorf("problems: %d, in %s", len(found.Findings), looked)
		}
		fmt.Fprintf(m.Out, "no problem in %s\n", looked)
		return nil
	})
}

// whoami returns the name of the current user for the history of a tool. It returns "command line"
// if there is none, as in a container.
func whoami() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "command line"
}
