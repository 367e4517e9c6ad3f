package remote

import (
	"os/exec"
	"path/filepath"

	"toolnorm/internal/fault"
)

// State is the state of a server as /mcp/list?state=1 shows it. URL and Error contain no secrets.
type State struct {
	Name  string `json:"name"`
	URL   string `json:"url"`
	State string `json:"state"` // ready, waiting, down, disabled or invalid
	// how many tools it listed last; kept while it is down
	Tools int    `json:"tools"`
	Kind  string `json:"transport,omitempty"` // the transport that worked last; empty: none has
	Error string `json:"error,omitempty"`     // why it is down or invalid; otherwise empty

	Needs    bool `json:"needs_sign_in,omitempty"` // it demands a sign-in, or one with more rights
	SignedIn bool `json:"signed_in,omitempty"`     // the file of sign-ins has tokens for it

	// the first mostTold of its tools that cannot be used
	Odd []LeftOut `json:"left_out,omitempty"`
}

// stateInvalid is the state of an entry in mcp.json that cannot be used as it is.
const stateInvalid = "invalid"

// state returns the state of the server. It is "waiting" while there is neither a connection nor an
// error: at the start, and between a loss and the end of the next attempt.
func (l *link) state() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := State{Name: l.entry.Name, URL: l.entry.shown(), State: "waiting", Tools: len(l.tools),
		Kind: l.kind, Odd: l.odd[:min(len(l.odd), mostTold)]}
	switch {
	case l.conn != nil && !l.conn.over():
		s.State = "ready"
	case l.err != nil:
		s.State, s.Error = "down", reason(l.err)
		s.Needs = l.entry.signs() && wantsSignIn(l.err)
	}
	return s
}

// LeftOut is a tool of a server that is not offered, with the reason. A tool without a name is
// named by its place in the list.
type LeftOut struct {
	Tool string `json:"tool"`
	Why  string `json:"why"`
}

// mostTold is how many left-out tools are reported for one server.
const mostTold = 50

// List returns the states of all servers in the order of the file, including those that are
// disabled or left out. If the file cannot be read, its own state comes first, under the file's
// name. List asks no server and never waits.
func (s *Set) List() []State {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := []State{}
	accounts, _ := readAccounts(s.cfg.Accounts) // if it cannot be read, no request is signed either
	if s.broken != nil {
		out = append(out, State{Name: filepath.Base(s.cfg.Path), State: stateInvalid,
			Error: s.broken.Error()})
	}
	for i, w := range s.file.servers {
		l := s.links[w.entry.Name]
		switch {
		case w.err != nil:
			out = append(out, State{Name: w.shown(i), State: stateInvalid, Error: w.err.Error()})
		case l == nil:
			out = append(out, State{Name: w.entry.Name, URL: w.entry.shown(), State: "disabled"})
		default:
			out = append(out, l.state())
		}
		if is := &out[len(out)-1]; w.err == nil {
			a := accounts[w.entry.Name]
			e, err := w.entry.filled()
			is.SignedIn = err == nil && a.Token != nil && a.URL == e.URL
			is.Needs = is.Needs || is.SignedIn && l != nil && a.Wants != ""
		}
	}
	return out
}

// Check returns the number of servers in an mcp.json, and the states of those that cannot work as
// the file is written: entries that are left out, variables that are not set, and commands that do
// not exist. Nothing is started or asked. A missing file counts as one without servers. For a
// broken file, Check returns one state, about the file itself.
func Check(path string) (servers int, wrong []State) {
	if stampOf(path) == (stamp{}) {
		return 0, nil
	}
	f, err := load(path)
	if err != nil {
		return 0, []State{{Name: filepath.Base(path), State: stateInvalid, Error: err.Error()}}
	}
	for i, w := range f.servers {
		err := w.err
		if err == nil && !w.entry.Disabled {
			var e Entry
			if e, err = w.entry.filled(); err == nil && e.Command != "" {
				if _, err = exec.LookPath(e.Command); err != nil {
					err = explain(e, err, "")
				}
			}
		}
		if err != nil {
			wrong = append(wrong, State{Name: w.shown(i), State: stateInvalid, Error: err.Error()})
		}
	}
	return len(f.servers), wrong
}

// Switch enables or disables a server. Enabling a server that is in use reconnects it. It returns
// an error if there is no such server, if its entry cannot be used, or if the file cannot be
// changed. A command that mcp.json disables can only be enabled in that file, since a request must
// not start programs.
func (s *Set) Switch(name string, on bool) error {
	return s.change(func(f *file) error {
		at := f.find(name)
		if at < 0 {
			return noServer(name)
		}
		switch w := f.servers[at]; {
		case w.err != nil:
			return fault.New(fault.Invalid, "server %q cannot be used: %s", name, w.err)
		case on && w.entry.Disabled && w.entry.Command != "":
			return fault.New(fault.Invalid,
				"server %q is a command; remove \"disabled\" from its entry in mcp.json", name)
		case on && s.links[w.entry.Name] != nil:
			s.forget(s.links[w.entry.Name])
		}
		return f.disable(at, !on)
	})
}
