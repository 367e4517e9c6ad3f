package main

import (
	"context"
	"maps"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"toolnorm/internal/sleep"
	"toolnorm/proxy/form"
	"toolnorm/runner"
)

// doorLook is how often it is looked whether runners find a server in the data folder, and doorWait how long another one may take to
// say that it lives.
const (
	doorLook = 5 * time.Second
	doorWait = 2 * time.Second
)

// announceDoor lets runners of this machine find the server until ctx ends, and says when the user's terminal will not find the
// runner: at once to those whose settings ask for client form shell, and to others when a client first does.
// The folder is looked at again and again: the toolnorm whose address stood there may end before this one.
func (m *Main) announceDoor(ctx context.Context) {
	m.door.URL = "http://" + reachable(m.listener.Addr())
	m.takeDoor(ctx, true)
	m.beside.Go(ctx, func(ctx context.Context) {
		for sleep.For(ctx, doorLook) {
			m.takeDoor(ctx, false)
		}
	})
	if slices.Contains(slices.Collect(maps.Values(m.Config.ClientForm)), form.Shell) {
		m.seekRunner(m.Config.Runner)
	}
}

// takeDoor writes the address file, unless another toolnorm that lives has its own there: calls that are kept for its clients' commands
// are known to it alone. The file is readable by the user alone, as the token in it opens the tools.
// What is wrong is said the first time only. A folder that was removed while the server runs is not made again.
func (m *Main) takeDoor(ctx context.Context, first bool) {
	other, err := runner.FindAddress(m.Config.Data)
	if err == nil && other == m.door {
		return
	}
	wait, cancel := context.WithTimeout(ctx, doorWait)
	defer cancel()
	// After a crash the file may name this very port, at which nobody answers yet.
	if err == nil && other.URL != m.door.URL && other.Answers(wait) {
		if first {
			m.log.Info().Str("at", other.URL).Str("data", m.Config.Data).Msg("another toolnorm uses this data folder; toolrun asks that one as long as it runs")
		}
		return
	}
	if _, gone := os.Stat(m.Config.Data); !first && gone != nil || ctx.Err() != nil {
		return
	}
	if err := m.door.Announce(m.Config.Data); err != nil && first {
		m.log.WithLevel(m.unkept).Err(err).Msg("cannot write runner.json: toolrun will run tools by itself")
	}
}

// seekRunner says, once, that the runner is not on the path.
// Without it a user pastes a command and reads "command not found", with no hint of where it comes from.
func (m *Main) seekRunner(command string) {
	m.sought.Do(func() {
		program, _, _ := strings.Cut(strings.TrimSpace(command), " ")
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
