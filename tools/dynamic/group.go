package dynamic

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"toolnorm/internal/fault"
	"toolnorm/internal/store"
	"toolnorm/tools"
)

// The bounds of sets: how many there may be, and how many tools each may have.
const (
	mostGroups     = 200
	mostGroupTools = 2000
)

// GroupDraft is a set of tools (tools.Toolset) as an administrator writes it. It may contain any
// tool: custom tools, those that come with the program, and those of other servers.
type GroupDraft struct {
	Name        string `json:"name" yaml:"set"`
	Description string `json:"description" yaml:"description,omitempty"`
	// only tools whose hints say that they only read are offered
	ReadOnly bool `json:"read_only" yaml:"read_only,omitempty"`
	// a person is asked before each call of its tools
	Confirm bool     `json:"confirm,omitempty" yaml:"confirm,omitempty"`
	Tools   []string `json:"tools" yaml:"tools"`
	Version int      `json:"version,omitempty" yaml:"-"` // the version that was edited
}

// Group is a set of tools as it is stored, with what it offers now.
type Group struct {
	GroupDraft
	SavedAt string `json:"saved_at"` // RFC 3339, UTC
	SavedBy string `json:"saved_by"`

	Offered int      `json:"offered"` // how many tools it offers
	Missing []string `json:"missing"` // its tools that do not exist or are not offered now
	// its tools that are not offered because the set is ReadOnly
	KeptOut     []string `json:"kept_out"`
	OnlyReads   bool     `json:"only_reads"`  // all offered tools say that they only read
	Destructive bool     `json:"destructive"` // an offered tool may destroy what it changes
}

// normalize brings a set into its stored form: trimmed, with its tools sorted and each once.
func (g *GroupDraft) normalize() {
	g.Name, g.Description = strings.TrimSpace(g.Name), lines(g.Description)
	names := []string{}
	for _, name := range g.Tools {
		names = append(names, strings.TrimSpace(name))
	}
	slices.Sort(names)
	g.Tools = slices.Compact(names)
}

// check returns a *Refused error if the set is not valid.
func (g *GroupDraft) check() error {
	var p problems
	if err := tools.CheckSetName(g.Name); err != nil {
		p.wrong("name", "name", "%v", err)
	}
	readable(&p, "description", g.Description, longestDescription)
	if len(g.Tools) > mostGroupTools {
		p.wrong("tools", "limit", "%d tools are more than %d", len(g.Tools), mostGroupTools)
	}
	for _, name := range g.Tools {
		if !tools.ValidName(name) {
			p.wrong("tools", "name", "%.80q is no name of a tool", name)
			break
		}
	}
	if p.errors() {
		return &Refused{p}
	}
	return nil
}

// Groups manages the sets of tools of a Set.
type Groups struct {
	set *Set
	now []Group // the sets in the registry; nil: not read yet. Guarded by the mu of set
}

// readGroups returns the sets sorted by name. A set that is not valid is left out, and odd is
// called with the reason. readGroups returns an error if the table cannot be read.
func readGroups(ctx context.Context, in asker, odd func(error)) ([]Group, error) {
	rows, err := in.QueryContext(ctx,
		"SELECT name, description, read_only, confirm, tools, version, saved_at, saved_by FROM h_custom_toolset ORDER BY name")
	if err != nil {
		return nil, fmt.Errorf("read the sets of tools: %w", err)
	}
	defer rows.Close()
	all := []Group{}
	for rows.Next() {
		var g Group
		var list, only, confirm string
		if err := rows.Scan(&g.Name, &g.Description, &only, &confirm, &list, &g.Version, &g.SavedAt,
			&g.SavedBy); err != nil {
			return nil, fmt.Errorf("read the sets of tools: %w", err)
		}
		g.ReadOnly, g.Confirm = truth(only), truth(confirm)
		err := json.Unmarshal([]byte(list), &g.Tools)
		g.normalize()
		if err = errors.Join(err, g.check()); err != nil {
			odd(fmt.Errorf("the set %.64q is left out: %w", g.Name, err))
			continue
		}
		all = append(all, g)
	}
	return all, rows.Err()
}

// offer puts the sets of the store into the registry, if they have changed. It returns an error if
// the store cannot be read or the registry refuses them. The caller holds the mu of the Set.
func (o *Groups) offer(ctx context.Context) error {
	s := o.set
	all, err := readGroups(ctx, s.config.DB, s.config.Failed)
	if err != nil || o.now != nil && reflect.DeepEqual(o.now, all) {
		return err
	}
	var sets []tools.Toolset
	for _, g := range all {
		sets = append(sets, tools.Toolset{Name: g.Name, Description: g.Description, Tools: g.Tools,
			ReadOnly: g.ReadOnly, Confirm: g.Confirm})
	}
	if err := s.config.Registry.Group(sets...); err != nil {
		return err
	}
	o.now = all
	s.tell()
	return nil
}

// List returns the sets sorted by name, each with what it offers now. It returns an error if the
// store cannot be read.
func (o *Groups) List(ctx context.Context) ([]Group, error) {
	s := o.set
	if err := s.refresh(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	all := slices.Clone(o.now)
	s.mu.Unlock()
	now := s.config.Registry.Snapshot()
	for i := range all {
		all[i].look(now)
	}
	return all, nil
}

// look sets those fields of g that change with the registry, such as Offered and Missing. The
// parameter now is the current content of the registry.
func (g *Group) look(now *tools.Snapshot) {
	here := now.Within(g.Name)
	g.Offered, g.Missing, g.KeptOut = len(here.Tools), []string{}, []string{}
	g.OnlyReads, g.Destructive = here.Effects()
	for _, name := range g.Tools {
		switch {
		case here.Source(name) != "":
		case now.Source(name) != "":
			g.KeptOut = append(g.KeptOut, name)
		default:
			g.Missing = append(g.Missing, name)
		}
	}
}

// Get returns the set with the given name, or a not-found fault if there is none.
func (o *Groups) Get(ctx context.Context, name string) (Group, error) {
	all, err := o.List(ctx)
	if err != nil {
		return Group{}, err
	}
	for _, g := range all {
		if g.Name == name {
			return g, nil
		}
	}
	return Group{}, fault.New(fault.NotFound, "there is no set of tools %.64q", name)
}

// Save saves a set in the name of who. It creates a new set if g.Version is 0, and otherwise
// replaces the version that was edited. If somebody else has saved it meanwhile, or a new set's
// name exists, nothing is changed and the error is a conflict. A set that is not valid is a
// *Refused error.
func (o *Groups) Save(ctx context.Context, who string, g GroupDraft) (Group, error) {
	g.normalize()
	if err := g.check(); err != nil {
		return Group{}, err
	}
	return o.keep(ctx, who, g, func(was int) error {
		switch {
		case g.Version == 0 && was > 0:
			return &fault.Error{Kind: fault.Conflict, Message: fmt.Sprintf(
				"there is a set %s already", g.Name), Param: "name", Code: "name_taken"}
		case g.Version > 0 && was == 0:
			return fault.New(fault.NotFound, "there is no set of tools %s", g.Name)
		case was != g.Version:
			return &fault.Error{Kind: fault.Conflict, Message: fmt.Sprintf(
				"somebody else saved %s meanwhile: it is at version %d, and this was made from %d",
				g.Name, was, g.Version), Param: "version", Code: "version_conflict"}
		}
		return nil
	})
}

// keep writes a set to the store and returns it. It first calls the function may with the stored
// version of the set, or 0 if there is none. If that returns an error, keep returns the error and
// writes nothing.
func (o *Groups) keep(ctx context.Context, who string, g GroupDraft, may func(was int) error) (
	Group, error) {
	list, err := json.Marshal(g.Tools)
	if err != nil {
		return Group{}, err
	}
	err = o.set.config.DB.Alone(ctx, func(tx *store.Tx) error {
		was, err := groupVersion(ctx, tx, g.Name)
		if err == nil {
			err = may(was)
		}
		if err != nil {
			return err
		}
		action, statement := updated,
			"UPDATE h_custom_toolset SET description = $2, read_only = $3, tools = $4, version = $5, saved_at = $6, saved_by = $7, confirm = $8 WHERE name = $1"
		if was == 0 {
			var n int
			if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM h_custom_toolset").Scan(
				&n); err != nil {
				return err
			}
			if n >= mostGroups {
				return fault.New(fault.Invalid, "there are %d sets already, which is the most",
					mostGroups)
			}
			action, statement = created,
				"INSERT INTO h_custom_toolset (name, description, read_only, tools, version, saved_at, saved_by, confirm) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"
		}
		if _, err := tx.ExecContext(ctx, statement, g.Name, g.Description, yes(g.ReadOnly),
			string(list), was+1, now(), who, yes(g.Confirm)); err != nil {
			return err
		}
		return o.changed(ctx, tx, who, action, g.Name, was+1)
	})
	if err != nil {
		return Group{}, err
	}
	return o.Get(ctx, g.Name)
}

// renamed replaces the name of a tool in all sets. The parameter from is its old name, and to is
// its new one. It returns an error if the store fails.
func (o *Groups) renamed(ctx context.Context, tx *store.Tx, who, from, to string) error {
	all, err := readGroups(ctx, tx, func(error) {})
	if err != nil {
		return err
	}
	for _, g := range all {
		at := slices.Index(g.Tools, from)
		if at < 0 {
			continue
		}
		g.Tools[at] = to
		g.normalize()
		list, err := json.Marshal(g.Tools)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx,
			"UPDATE h_custom_toolset SET tools = $2, version = $3, saved_at = $4, saved_by = $5 WHERE name = $1", g.Name, string(list), g.Version+1, now(), who); err != nil {
			return err
		}
		if err := o.changed(ctx, tx, who, updated, g.Name, g.Version+1); err != nil {
			return err
		}
	}
	return nil
}

// groupVersion returns the version of a set, or 0 if there is no such set. It returns an error if
// the store fails.
func groupVersion(ctx context.Context, in asker, name string) (version int, err error) {
	err = in.QueryRowContext(ctx, "SELECT version FROM h_custom_toolset WHERE name = $1",
		name).Scan(&version)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return version, err
}

// changed writes a change of a set into the audit log, with the tool id 0, and notifies the
// replicas. It returns an error if the store fails.
func (o *Groups) changed(ctx context.Context, tx *store.Tx, who, action, name string,
	version int) error {
	if _, err := tx.ExecContext(ctx,
		"INSERT INTO h_custom_tool_audit (at, who, action, tool_id, name, version) VALUES ($1, $2, $3, 0, $4, $5)", now(), who, action, "set "+name, version); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "UPDATE h_custom_tool_change SET n = n + 1"); err != nil {
		return err
	}
	return o.set.config.DB.Notify(ctx, tx, topic)
}

// Delete removes a set. It returns a not-found fault if there is none. If version is not 0 and not
// the set's current version, the error is a conflict. A caller that was restricted to the set can
// then use no tools, rather than all.
func (o *Groups) Delete(ctx context.Context, who, name string, version int) error {
	err := o.set.config.DB.Alone(ctx, func(tx *store.Tx) error {
		was, err := groupVersion(ctx, tx, name)
		switch {
		case err != nil:
			return err
		case was == 0:
			return fault.New(fault.NotFound, "there is no set of tools %.64q", name)
		case version != 0 && version != was:
			return &fault.Error{Kind: fault.Conflict, Message: fmt.Sprintf(
				"somebody else saved %s meanwhile: it is at version %d", name, was),
				Param: "version", Code: "version_conflict"}
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM h_custom_toolset WHERE name = $1",
			name); err != nil {
			return err
		}
		return o.changed(ctx, tx, who, deleted, name, was)
	})
	if err != nil {
		return err
	}
	return o.set.refresh(ctx)
}
