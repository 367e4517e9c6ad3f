package main

import (
	"maps"
	"net"
	"net/http"
	"net/netip"
	"os/exec"
	"slices"
	"strings"

	"toolnorm/internal/auth"
	"toolnorm/proxy/form"
	"toolnorm/runner"
)

// withRunner is a face beside which calls are run for those who type a command. Who bears the token of the address file,
// which only the user can read, needs no key.
// The guard's look at Host and Origin stays in both ways, since a web page could ask without a key, too.
func (m *Main) withRunner(guard *auth.Guard, face http.Handler) http.Handler {
	m.door.Token = runner.NewToken()
	run := runner.NewServer(m.toolbox.Registry, &m.pending, m.log)
	keyless := *guard
	keyless.Keys, keyless.Tokens = nil, nil
	open, keyed := keyless.Wrap(run), guard.Wrap(run)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !strings.HasPrefix(r.URL.Path, runner.Paths):
			face.ServeHTTP(w, r)
		case m.door.Admits(r.Header.Get("Authorization")):
			open.ServeHTTP(w, r)
		default:
			keyed.ServeHTTP(w, r)
		}
	})
}

// announceDoor writes where runners of this machine find the server, and says when the user's terminal will not find the
// runner: at once to those whose settings ask for client form shell, and to others when a client first does.
// The file is readable by the user alone, as the token in it opens the tools.
func (m *Main) announceDoor() {
	m.door.URL = "http://" + reachable(m.listener.Addr())
	if err := m.door.Announce(m.Config.Data); err != nil {
		m.log.WithLevel(m.unkept).Err(err).Msg("cannot write runner.json: toolrun will run tools by itself")
	}
	if slices.Contains(slices.Collect(maps.Values(m.Config.ClientForm)), form.Shell) {
		m.seekRunner()
	}
}

// seekRunner says, once, that the runner is not on the path.
// Without it a user pastes a command and reads "command not found", with no hint of where it comes from.
func (m *Main) seekRunner() {
	m.sought.Do(func() {
		program, _, _ := strings.Cut(strings.TrimSpace(m.Config.Runner), " ")
		if _, err := exec.LookPath(program); err != nil && len(m.toolbox.Registry.Snapshot().Tools) > 0 {
			m.log.Warn().Str("runner", program).Msg("the runner is not on PATH; client form shell (NAME@shell) needs it. make install puts toolrun there")
		}
	})
}

// withdrawDoor takes the address back.
// A file that stays behind costs each toolrun a failed connection, no more.
func (m *Main) withdrawDoor() {
	if err := m.door.Withdraw(m.Config.Data); err != nil {
		m.log.Warn().Err(err).Msg("cannot remove runner.json: toolrun may look for this server in vain")
	}
}

// reachable is an address at which this machine reaches a listener.
// 0.0.0.0 and :: are addresses to listen at and not to ask.
func reachable(addr net.Addr) string {
	at, err := netip.ParseAddrPort(addr.String())
	if err != nil || !at.Addr().IsUnspecified() {
		return addr.String()
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port()).String()
}
