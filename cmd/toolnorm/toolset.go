package main

import (
	"context"
	"fmt"

	"toolnorm/internal/auth"
	"toolnorm/tools"
)

// reaches has the settings that say which sets of tools each caller may use, and what else a caller
// may do. The command toolnorm mcp has these settings, too: its caller is the local user, or the
// subject of a token in its environment.
type reaches struct {
	ToolSets map[string]string `name:"tool-sets" placeholder:"WHO=SET,SET" help:"Callers who may use only the tools of some sets, on every path: the label of an API key, the sub of a JWT, role:NAME for a JWT's role, local for whoever needs no key, or * for all others. A JWT's claim tool_sets adds its own. Sets are made on the page Tools of /admin. Default: everybody may use all tools."`
	Rights   map[string]string `name:"rights" placeholder:"WHO=RIGHT,RIGHT" help:"What callers may do, by the same names as in tool-sets: models, models=PATTERN (* stands for any text), tools, mcp-servers, manage-models, administration, or none. Who is not named, nor covered by *, has models and tools. Admin keys, the role of jwt-admin-role and, unless local is named, the user of this machine keep all rights. Default: holders of API keys are administrators unless there are admin keys; others have models and tools."`
}

// sets returns the parsed setting tool-sets, or an error that names it.
func (c *reaches) sets() (auth.Sets, error) {
	all, err := auth.ReadSets(c.ToolSets, tools.CheckSetName)
	if err != nil {
		return nil, fmt.Errorf("tool-sets: %w", err)
	}
	return all, nil
}

// reach returns the sets of tools that the caller of a context may use; bounded is false if the
// caller may use all tools. A context without a caller would be a mistake in the program, so it may
// use no tools.
func reach(ctx context.Context) (sets []string, bounded bool) {
	p := auth.PrincipalOf(ctx)
	if p == nil {
		return nil, true
	}
	return p.Sets, p.Sets != nil
}

// warnOfSets logs a warning for each set of tools that the settings name but that does not exist. A
// caller who may use only such sets may use no tool.
func (m *Main) warnOfSets(s settings) {
	now := m.toolbox.Registry.Snapshot()
	told := map[string]bool{}
	for who, sets := range s.sets {
		for _, name := range sets {
			if _, ok := now.Set(name); !ok && !told[name] {
				told[name] = true
				m.log.Warn().Str("set", name).Str("who", who).Msg(
					"the setting tool-sets names a set of tools that is not there: nobody gets a tool by it")
			}
		}
	}
}
