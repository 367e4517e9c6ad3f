package dynamic

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"toolnorm/tools"
)

// made is a tool as ready returned it last.
type made struct {
	of     Tool // as it was read
	tool   tools.Tool
	tokens int
	key    string // of its statement
	why    string // it cannot be offered; empty: it can
}

// refresh reads the tools and offers the active ones. If nothing changed, no listener is notified.
// Reading all tools is cheaper than keeping track of what others do: a thousand tools are read in
// milliseconds, changes are rare, and a reading cannot be out of step with the store.
func (s *Set) refresh(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reread(ctx)
}

// reread does the same as refresh. The caller holds s.mu.
func (s *Set) reread(ctx context.Context) error {
	seen := s.counter(ctx) // before the tools, so that no change is taken for one that was read
	all, err := readTools(ctx, s.config.DB, 0)
	if err != nil {
		return err
	}
	if s.last == nil || !reflect.DeepEqual(s.read, all) {
		if err := s.become(ctx, all, 0); err != nil {
			return err
		}
	}
	s.seen = seen
	return s.Groups.offer(ctx)
}

// refreshOne refreshes the tools after a change of one tool by this program. n is the number of the
// change: if that was the only change, refreshOne reads and rebuilds only that tool. With a
// thousand tools a save would otherwise take the time of all of them.
func (s *Set) refreshOne(ctx context.Context, id, n int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil || n < 1 || n != s.seen+1 || n != s.counter(ctx) {
		return s.reread(ctx)
	}
	one, err := readTools(ctx, s.config.DB, id)
	if err != nil || len(one) > 1 {
		return s.reread(ctx)
	}
	is := func(t Tool) bool { return t.ID == id }
	all := slices.Clone(s.read)
	switch at := slices.IndexFunc(all, is); {
	case len(one) == 0:
		all = slices.DeleteFunc(all, is)
	case at >= 0:
		all[at] = one[0]
	default:
		all = append(all, one[0]) // its id is the highest
	}
	if err := s.become(ctx, all, id); err != nil {
		return err
	}
	s.seen = n
	return nil
}

// become offers tools as they were read. changed is the id of the only tool that may differ from
// before; if it is 0, any may. The caller holds s.mu.
func (s *Set) become(ctx context.Context, read []Tool, changed int) (err error) {
	all := slices.Clone(read)
	for range 3 { // another source may take a name between the look and the change
		if err = s.offer(ctx, all, changed); err == nil {
			break
		}
	}
	if err != nil {
		return err
	}
	s.read, s.last = read, append([]Tool{}, all...) // not nil, which is a set that was not read yet
	s.tell()
	return nil
}

// offer puts the active tools into the registry, and notes in each tool whether it is there. A tool
// that cannot be offered does not affect the others. Names of other sources win: a custom tool that
// took the name of a remote server's or a built-in tool would get the calls meant for that tool.
func (s *Set) offer(ctx context.Context, all []Tool, changed int) error {
	taken := map[string]bool{}
	for _, t := range s.config.Registry.Snapshot().Tools {
		taken[t.Name] = !s.own[t.Name]
	}
	var offered []tools.Tool
	gone, own, keys, ready := map[string]string{}, map[string]bool{}, map[string]bool{},
		map[int]made{}
	for i := range all {
		t := &all[i]
		m := s.ready(ctx, t, changed)
		ready[t.ID] = m
		t.Tokens, t.Offered = m.tokens, false
		switch {
		case !t.Active:
			gone[t.Name] = fmt.Sprintf("tool %s is not active", t.Name)
			continue
		case m.why == "" && (taken[t.Name] || s.config.Reserved[t.Name]):
			m.why = "a built-in or remote tool has that name"
		case m.why == "" && own[t.Name]:
			t.Problem = "another custom tool has that name"
			continue // the name can be called
		}
		if m.why != "" {
			t.Problem = m.why
			gone[t.Name] = fmt.Sprintf("tool %s cannot be called: %s", t.Name, m.why)
			continue
		}
		t.Offered = true
		own[t.Name] = true
		keys[m.key] = true
		offered = append(offered, m.tool)
	}
	if err := s.config.Registry.Replace(source, gone, offered...); err != nil {
		return err
	}
	s.own, s.made = own, ready
	s.promises.known.keep(keys)
	return nil
}

// ready returns the tool of the registry, or why there is none, and rebuilds it only if it is
// different from before. It does not ask the databases: a start must not wait for a database that
// is down, and a statement that a database refuses fails when it is called.
func (s *Set) ready(ctx context.Context, t *Tool, changed int) made {
	if m, ok := s.made[t.ID]; ok && m.of.Name == t.Name && m.of.Definition == t.Definition &&
		(changed != 0 && changed != t.ID || reflect.DeepEqual(m.of, *t)) {
		return m
	}
	m := made{of: *t, why: t.Problem}
	if _, n, err := t.offered(unknownChoices); err == nil {
		m.tokens = n
	}
	if m.why != "" || !t.Active {
		return m
	}
	c, p := s.compile(ctx, t.Draft, false)
	if c == nil {
		m.why = (&Refused{p}).Error()
		return m
	}
	m.tool, m.key = c.tool(s.config.Audit), c.key()
	return m
}
