package dynamic

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"toolnorm/internal/fault"
	"toolnorm/internal/store"
)

// The actions, as versions and the audit log name them.
const (
	created  = "create"
	updated  = "update"
	toggled  = "toggle"
	restored = "restore"
	imported = "import"
	deleted  = "delete"
)

// List returns all tools, in the order of their ids. It returns an error if the store cannot be
// read.
func (s *Set) List(ctx context.Context) ([]Tool, error) {
	if err := s.refresh(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.last), nil
}

// Get returns the tool with the given id. It returns a not-found fault if there is none, or another
// error if the store cannot be read.
func (s *Set) Get(ctx context.Context, id int) (Tool, error) {
	all, err := s.List(ctx)
	if err != nil {
		return Tool{}, err
	}
	return toolByID(all, id)
}

// toolByID returns the tool with the given id, or a not-found fault.
func toolByID(all []Tool, id int) (Tool, error) {
	for _, t := range all {
		if t.ID == id {
			return t, nil
		}
	}
	return Tool{}, fault.New(fault.NotFound, "there is no tool number %d", id)
}

// Create saves a new tool in the name of who, and offers it. A draft that is not valid is a
// *Refused error. Other errors mean that the name is taken, that there are too many tools, or that
// the store fails.
func (s *Set) Create(ctx context.Context, who string, d Draft) (Tool, error) {
	return s.create(ctx, who, created, d)
}

// create saves a new tool in the name of who, and offers it. The parameter action is what the
// history records. The draft is compiled before the transaction begins, because a slow database
// must not delay the changes of others.
func (s *Set) create(ctx context.Context, who, action string, d Draft) (Tool, error) {
	ready, err := s.savable(ctx, d)
	if err != nil {
		return Tool{}, err
	}
	var id int
	return s.saved(ctx, &id, func(tx *store.Tx) (err error) {
		var n int
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM h_custom_tool").Scan(
			&n); err != nil {
			return err
		}
		if n >= maxTools {
			return fault.New(fault.Invalid, "there are %d custom tools already, which is the most",
				maxTools)
		}
		if err := free(ctx, tx, ready.Name, 0); err != nil {
			return err
		}
		if id, err = insert(ctx, tx, ready, who); err != nil {
			return err
		}
		return remember(ctx, s.config.DB, tx, id, 0, ready, who, action)
	})
}

// Update replaces the tool with the given id by a draft. The draft's Version is the version that
// was edited. If somebody else has saved the tool meanwhile, nothing is changed and the error is a
// conflict. A draft that is not valid is a *Refused error.
func (s *Set) Update(ctx context.Context, who string, id int, d Draft) (Tool, error) {
	if d.Version <= 0 {
		return Tool{}, fault.Wrong("version", "version has to be that of the tool that was edited")
	}
	return s.update(ctx, who, updated, id, d)
}

// update replaces the tool with the given id by a draft. The parameter action is what the history
// records. If the draft's Version is 0, any current version is replaced; otherwise it must be the
// current one, so that no update by others is lost. Only imports, which are meant to win, leave the
// version out.
func (s *Set) update(ctx context.Context, who, action string, id int, d Draft) (Tool, error) {
	ready, err := s.savable(ctx, d)
	if err != nil {
		return Tool{}, err
	}
	return s.saved(ctx, &id, func(tx *store.Tx) error {
		was, err := current(ctx, tx, id, d.Version)
		if err != nil {
			return err
		}
		// not checked otherwise: old names may differ by case alone
		if ready.Name != was.Name {
			if err := free(ctx, tx, ready.Name, id); err != nil {
				return err
			}
			if err := s.Groups.renamed(ctx, tx, who, was.Name, ready.Name); err != nil {
				return err
			}
		}
		if err := update(ctx, tx, id, ready); err != nil {
			return err
		}
		return remember(ctx, s.config.DB, tx, id, was.Version, ready, who, action)
	})
}

// Toggle switches a tool on or off and returns it. If version is not 0 and not the tool's current
// version, the error is a conflict. A tool that could not be saved today can still be switched off.
// If the tool is in that state already, as after a double click, no version is made and no listener
// is notified.
func (s *Set) Toggle(ctx context.Context, who string, id, version int, active bool) (Tool, error) {
	return s.saved(ctx, &id, func(tx *store.Tx) error {
		was, err := current(ctx, tx, id, version)
		if err != nil || was.Active == active {
			return err
		}
		was.Active = active
		if _, err := tx.ExecContext(ctx, "UPDATE h_custom_tool SET is_active = $2 WHERE id = $1",
			id, yes(active)); err != nil {
			return err
		}
		return remember(ctx, s.config.DB, tx, id, was.Version, &was.Draft, who, toggled)
	})
}

// Delete removes a tool; its history stays. It returns a not-found fault if there is no such tool.
// If version is not 0 and not the tool's current version, the error is a conflict.
func (s *Set) Delete(ctx context.Context, who string, id, version int) error {
	n, err := alone(ctx, s.config.DB, func(tx *store.Tx) error {
		was, err := current(ctx, tx, id, version)
		if err != nil {
			return err
		}
		// a table that another program made may not cascade
		if _, err := tx.ExecContext(ctx, "DELETE FROM h_custom_tool_param WHERE tool_id = $1",
			id); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM h_custom_tool WHERE id = $1",
			id); err != nil {
			return err
		}
		if err := removeContract(ctx, tx, id); err != nil {
			return err
		}
		return remember(ctx, s.config.DB, tx, id, was.Version, &was.Draft, who, deleted)
	})
	if err != nil {
		return err
	}
	return s.refreshOne(ctx, id, n)
}

// Versions returns the versions of a tool, newest first, even if the tool was deleted. It returns a
// not-found fault if there never was such a tool.
func (s *Set) Versions(ctx context.Context, id int) ([]Version, error) {
	all, err := readVersions(ctx, s.config.DB, id)
	if err == nil && len(all) == 0 {
		if _, err = s.Get(ctx, id); err == nil {
			return []Version{}, nil // a row that another program wrote
		}
	}
	return all, err
}

// Audit returns who changed which tool, newest first and at most MostEntries. It returns entries
// that are older than the entry with the id before, or the newest entries if before is 0. Deleted
// tools are included. It returns an error if the store cannot be read.
func (s *Set) Audit(ctx context.Context, before int) ([]Entry, error) {
	read := func(r *store.Row) (e Entry, err error) {
		err = r.Scan(store.Whole(&e.ID), store.Named(&e.At), store.Named(&e.Who),
			store.Named(&e.Action), store.Whole(&e.ToolID), store.Named(&e.Name),
			store.Whole(&e.Version))
		return e, err
	}
	return store.Read(ctx, s.config.DB, nil, read, `
		SELECT id, at, who, action, tool_id, name, version FROM h_custom_tool_audit
		WHERE $1 = 0 OR id < $1 ORDER BY id DESC LIMIT $2`, before, MostEntries)
}

// Restore makes the state that a tool had in a version the current one, as a new version. The
// parameter newest is the latest version that the caller has seen; if there is a newer version, the
// error is a conflict. The tool stays switched on or off as it is, since restoring an old version
// should not switch a tool on. The old draft is checked like a new one, and may be refused, for
// example because a connection that it names is gone.
func (s *Set) Restore(ctx context.Context, who string, id, version, newest int) (Tool, error) {
	all, err := s.Versions(ctx, id)
	if err != nil {
		return Tool{}, err
	}
	now, err := s.Get(ctx, id)
	if err != nil {
		return Tool{}, err
	}
	for _, v := range all {
		if v.Version == version {
			// an old version may come back even if its examples fail now
			v.Tool.Version, v.Tool.Active, v.Tool.Force = newest, now.Active, true
			return s.update(ctx, who, restored, id, v.Tool)
		}
	}
	return Tool{}, fault.New(fault.NotFound, "tool number %d has no version %d", id, version)
}

// savable returns the draft in its stored form. If the draft cannot be saved, savable returns a
// *Refused with all problems. Unless Force is set, the examples of the draft must succeed, too.
func (s *Set) savable(ctx context.Context, d Draft) (*Draft, error) {
	c, p := s.compile(ctx, d, true)
	s.nameTaken(&d, &p)
	if c == nil || p.errors() {
		return nil, &Refused{p}
	}
	if !d.Force {
		for _, v := range s.examined(ctx, c, p) {
			if !v.OK && !v.Unknown {
				p.wrong(fmt.Sprintf("examples[%d]", v.Number-1), "example", "%s", v.Sentence())
			}
		}
		if p.errors() {
			return nil, &Refused{p}
		}
	}
	c.draft.shape = s.connections.shaped(ctx, &c.draft)
	return &c.draft, nil
}

// nameTaken adds a problem to p if a tool of another source, such as a built-in one, has the
// draft's name. It ignores custom tools with this name, which the function free checks.
func (s *Set) nameTaken(d *Draft, p *problems) {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := false
	for name, reserved := range s.config.Reserved {
		taken = taken || reserved && strings.EqualFold(name, d.Name)
	}
	for _, t := range s.config.Registry.Snapshot().Tools {
		taken = taken || strings.EqualFold(t.Name, d.Name) && !s.own[t.Name]
	}
	if taken {
		p.wrong("name", "name", "%v", errTaken)
	}
}

// saved calls the function change in a transaction while no one else writes, offers the changed
// tools, and returns the changed tool. The parameter id points to the id of this tool, which change
// sets if the tool is new. saved returns the error of change, or an error of the store.
func (s *Set) saved(ctx context.Context, id *int, change func(tx *store.Tx) error) (Tool, error) {
	n, err := alone(ctx, s.config.DB, change)
	if err == nil {
		err = s.refreshOne(ctx, *id, n)
	}
	if err != nil {
		return Tool{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return toolByID(s.last, *id)
}

// alone calls the function change in a transaction while no one else writes. It returns the new
// value of the counter that every saved change of a tool increases, or 0 if change did not increase
// it by exactly one. It returns the error of change, or an error of the store.
func alone(ctx context.Context, db *store.DB, change func(tx *store.Tx) error) (n int, err error) {
	err = db.Alone(ctx, func(tx *store.Tx) error {
		before, after := 0, 0
		const count = "SELECT n FROM h_custom_tool_change"
		if err := tx.QueryRowContext(ctx, count).Scan(&before); err != nil {
			return err
		}
		if err := change(tx); err != nil {
			return err
		}
		if err := tx.QueryRowContext(ctx, count).Scan(&after); err != nil {
			return err
		}
		if after == before+1 {
			n = after
		}
		return nil
	})
	return n, err
}
