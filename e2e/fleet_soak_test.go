package e2e

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"toolnorm/internal/test/must"
)

// demoModel answers inside of a replica, so that a soak of many streams costs no model server.
const demoModel = "demo/hermes"

// TestSoak has replicas answer as many streams as TOOLNORM_E2E_SOAK says, while one is killed and
// one is restarted again and again. The third one stays: its memory is flat. A stream that is not
// whole was cut by a kill, and none ends wrongly.
func TestSoak(t *testing.T) {
	most := int64(number("TOOLNORM_E2E_SOAK", 0))
	if most == 0 {
		t.Skip("make soak runs it")
	}
	l := openFleet(t)
	f := startFleet(t, l, []*instance{{addr: "127.0.0.1:9"}}, 3)
	base := "http://" + f.at.clients
	_, answer := oneTurn(t, base, demoModel, []message{{Role: "user", Content: soakPrompt}})
	clients := number("SOAK_CLIENTS", 16)
	var kills int
	var done atomic.Int64
	began, first, last := time.Now(), 0, 0
	got := f.under(t, clients, []string{base}, &load{model: demoModel, prompt: soakPrompt, want: answer, count: &done}, func() error {
		for done.Load() < most {
			f.replicas[0].kill()
			kills++
			time.Sleep(3 * time.Second)
			if err := f.replicas[0].start(l); err != nil {
				return err
			}
			if err := f.replicas[1].stop(); err != nil {
				return err
			}
			if err := f.replicas[1].start(l); err != nil {
				return err
			}
			time.Sleep(2 * time.Second)
			if last = resident(t, f.replicas[2]); first == 0 {
				first = last
			}
		}
		return nil
	})
	got.only(t, "soak", kills*clients, cut, refused)
	if last > 2*first {
		t.Errorf("the replica that stayed has %d KiB of memory, after the first round %d", last, first)
	}
	row := fmt.Sprintf("| %d | %d | %s | %d | %d | %d | %d | %d | %d MiB, %d MiB |", done.Load(), clients, time.Since(began).Round(time.Second), kills, kills, got.ends[whole], got.ends[cut]+got.ends[refused], got.ends[wrong]+got.ends[told], first>>10, last>>10)
	t.Log(row)
	if os.Getenv("TOOLNORM_E2E_FLEET") == "write" {
		writeBlock(t, "soak", "| streams | at once | in | kills | restarts | whole | cut or refused by a kill | wrong | memory of the replica that stayed, first and last |\n|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n"+row)
	}
}

// soakPrompt is what each stream asks.
const soakPrompt = "Tell me of this and that, in a few sentences."

// resident returns the memory of a process, in KiB.
func resident(t *testing.T, m *instance) (kib int) {
	t.Helper()
	_, rest, _ := strings.Cut(string(must.Read(t, fmt.Sprintf("/proc/%d/status", m.cmd.Process.Pid))), "VmRSS:")
	must.Have(fmt.Sscan(rest, &kib))(t)
	return kib
}
