package dynamic

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"toolnorm/tools"
)

// made is a stored tool made ready for the registry by Set.ready, or the reason why it is not
// offered.
type made struct {
	of     Tool // the tool as it was read from the store
	tool   tools.Tool
	tokens int
	key    string // identifies its statement; see compiled.key
	why    string // why it cannot be offered; empty: it can
}

// refresh reads the tools from the store and offers the active ones. If nothing has changed, no
// listener is notified. It reads all tools each time, so that what is offered cannot differ from
// the store. That takes milliseconds for a thousand tools, and changes are rare. refresh returns an
// error if the store cannot be read or the registry refuses the tools.
func (s *Set) refresh(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reread(ctx)
}

// reread reads all tools and sets from the store, and offers them if they have changed. It returns
// an error if they cannot be read or the registry refuses them. The caller holds s.mu.
func (s *Set) reread(ctx context.Context) error {
	seen := s.counter(ctx) // read before the tools, so that a change in between is noticed later
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

// refreshOne offers the tools after this program has changed the tool with the given id. The
// parameter n is the value of the counter of changes after that change, or 0 if it is not known. If
// there was no other change, only this tool is read and rebuilt, since a save would otherwise take
// the time of a thousand tools. Otherwise all tools are read again. refreshOne returns an error if
// the store cannot be read or the registry refuses the tools.
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

// become offers tools that were just read from the store; the parameter read is their list. The
// parameter changed is the id of the only tool that may differ from before, or 0 if any tool may.
// It returns an error if the registry refuses the tools. The caller holds s.mu.
func (s *Set) become(ctx context.Context, read []Tool, changed int) (err error) {
	all := slices.Clone(read)
	for range 3 { // another source may take a name between the check and the change
		if err = s.offer(ctx, all, changed); err == nil {
			break
		}
	}
	if err != nil {
		return err
	}
	s.read, s.last = read, append([]Tool{}, all...) // nil would mean: not read yet
	s.tell()
	return nil
}

// offer puts the active tools into the registry, and sets in each tool whether it is offered. The
// parameter changed is the id of the only tool that may differ from before, or 0 if any may. A tool
// that cannot be offered does not affect the others. If another source has a tool of the same name,
// that tool is offered, because a custom tool could otherwise get the calls that are meant for a
// remote or built-in tool. offer returns an error if the registry refuses the tools.
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
			continue // not in gone, since the name can be called
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

// ready returns a stored tool in the form for the registry, or in made.why the reason why it cannot
// be offered. It compiles the tool only if it is new or differs; changed is the id of the only tool
// that may differ, or 0. It queries no databases, since a start must not wait for a database that
// is down. A statement that a database refuses fails when it is called.
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
