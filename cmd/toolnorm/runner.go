package main

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"toolnorm/internal/sleep"
	"toolnorm/runner"
	"toolnorm/tools"
)

// doorLook is how often the program checks whether runners find a server by the address in the data
// folder. doorWait is how long another server may take to answer that it is running.
const (
	doorLook = 5 * time.Second
	doorWait = 2 * time.Second
)

// door lets runners on this machine find the server. It also stores calls that are too long for the
// runners' command lines.
type door struct {
	runner.Address
	pending runner.Pending
	folder  string          // the folder of the address file
	tools   *tools.Registry // the tools that a runner could run
	log     zerolog.Logger
	unkept  zerolog.Level // the level of messages about a folder that cannot be written
	sought  sync.Once     // whether the runner has been searched for on PATH
}

// announce lets runners find the server until ctx ends. It writes the address file at once, and
// then checks again and again whether the file is still there. It also takes over a file with the
// address of another toolnorm when that has ended. The checks run in a goroutine of the group
// beside.
func (d *door) announce(ctx context.Context, at net.Addr, beside *sleep.Group) {
	d.URL = "http://" + reachable(at)
	d.take(ctx, true)
	beside.Go(ctx, func(ctx context.Context) {
		for sleep.For(ctx, doorLook) {
			d.take(ctx, false)
		}
	})
}

// take writes the address file, which tells the program toolrun where this server is. If the file
// has the address of another toolnorm that answers, take leaves it, because calls that are stored
// there can run only there. Only the user can read the file, since its token opens the tools. If
// writing fails, take logs a warning, but only if first is true. It does not make a folder that was
// removed while the server runs.
func (d *door) take(ctx context.Context, first bool) {
	other, err := runner.FindAddress(d.folder)
	if err == nil && other == d.Address {
		return
	}
	wait, cancel := context.WithTimeout(ctx, doorWait)
	defer cancel()
	// After a crash the file may name this program's own port, which does not answer yet.
	if err == nil && other.URL != d.URL && other.Answers(wait) {
		if first {
			d.log.Info().Str("at", other.URL).Str("data", d.folder).Msg(
				"another toolnorm uses this data folder; toolrun asks that one as long as it runs")
		}
		return
	}
	if _, gone := os.Stat(d.folder); !first && gone != nil || ctx.Err() != nil {
		return
	}
	if err := d.Announce(d.folder); err != nil && first {
		d.log.WithLevel(d.unkept).Err(err).Msg(
			"cannot write runner.json: toolrun will run tools by itself")
	}
}

// seek logs a warning, once, if there are tools but the runner is not on PATH. The parameter
// command names the runner's program. Without the warning a user pastes a command and reads
// "command not found", with no hint of where that command comes from.
func (d *door) seek(command string) {
	d.sought.Do(func() {
		program, _, _ := strings.Cut(strings.TrimSpace(command), " ")
		if _, err := exec.LookPath(program); err != nil && len(d.tools.Snapshot().Tools) > 0 {
			d.log.Warn().Str("runner", program).Msg(
				"the runner is not on PATH; client form shell (NAME@shell) needs it. make install puts toolrun there")
		}
	})
}

// withdraw removes the address file, and logs a warning if that fails. A file that remains only
// costs each toolrun a failed connection.
func (d *door) withdraw() {
	if err := d.Withdraw(d.folder); err != nil {
		d.log.Warn().Err(err).Msg(
			"cannot remove runner.json: toolrun may look for this server in vain")
	}
}

// admits reports whether a request comes from a runner, the program toolrun, of this user. Such a
// request has the token of the address file, which only the user can read.
func (d *door) admits(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, runner.Paths) && d.Admits(r.Header.Get("Authorization"))
}

// reachable returns an address at which this machine can connect to a listener. For 0.0.0.0 and ::,
// which are addresses to listen on but not to connect to, it returns 127.0.0.1.
func reachable(addr net.Addr) string {
	at, err := netip.ParseAddrPort(addr.String())
	if err != nil || !at.Addr().IsUnspecified() {
		return addr.String()
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port()).String()
}
