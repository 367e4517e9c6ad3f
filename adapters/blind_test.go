package adapters

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/test/must"
)

// blind is a reply of a set by somebody who had not seen the code. A set is a folder with
// calls.jsonl, of which each reply is one call, and texts.jsonl, of which no reply may run.
type blind struct {
	ID, Notation, User, Reply string
	Tools                     []struct {
		Name, Description string
		Parameters        json.RawMessage
	}
	Expect struct {
		Name      string
		Arguments json.RawMessage
	}
}

// readBlind returns the replies of a file.
func readBlind(t *testing.T, path string) (all []blind) {
	t.Helper()
	f, err := os.Open(path)
	must.OK(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var b blind
		if err := json.Unmarshal(lines.Bytes(), &b); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, b)
	}
	return all
}

// calls returns the calls that are read of a reply, whole or byte by byte.
func (b *blind) calls(t *testing.T, cut []string) []chat.Call {
	o := Options{Messages: []chat.Message{{Role: chat.User, Content: b.User}}}
	for _, tool := range b.Tools {
		o.Tools = append(o.Tools, chat.Tool{Name: tool.Name, Description: tool.Description,
			Schema: tool.Parameters})
	}
	return decodeCalls(t, Named("generic"), cut, o)
}

// TestBlindSet counts what becomes of the replies of the set in the folder TOOLNORM_BLIND names:
// how many calls are read, lost and read wrong, and how many texts run. -v names them.
func TestBlindSet(t *testing.T) {
	folder := os.Getenv("TOOLNORM_BLIND")
	if folder == "" {
		t.Skip("TOOLNORM_BLIND names no folder")
	}
	read, lost, wrong, run, torn := 0, 0, 0, 0, 0
	for _, b := range readBlind(t, filepath.Join(folder, "calls.jsonl")) {
		calls := b.calls(t, []string{b.Reply})
		switch {
		case len(calls) == 0:
			lost++
			t.Logf("lost, %s, %s: %q\n%s", b.ID, b.Notation, b.User, b.Reply)
		case len(calls) == 1 && calls[0].Name == b.Expect.Name &&
			sameJSON(t, string(calls[0].Args), string(b.Expect.Arguments)):
			read++
		default:
			wrong++
			t.Logf("wrong, %s, %s: %s %s, want %s\n%s", b.ID, b.Notation, calls[0].Name, calls[0].Args,
				b.Expect.Arguments, b.Reply)
		}
		if !slices.EqualFunc(calls, b.calls(t, strings.Split(b.Reply, "")), func(a, b chat.Call) bool {
			return a.Name == b.Name && string(a.Args) == string(b.Args)
		}) {
			torn++
			t.Errorf("%s: byte by byte it is read otherwise", b.ID)
		}
	}
	texts := readBlind(t, filepath.Join(folder, "texts.jsonl"))
	for _, b := range texts {
		if calls := b.calls(t, []string{b.Reply}); len(calls) > 0 {
			run++
			t.Logf("run, %s, %s: %q\n%s", b.ID, b.Notation, b.User, b.Reply)
		}
	}
	t.Logf("calls: %d read, %d lost, %d wrong; of %d texts %d run; %d torn", read, lost, wrong, len(texts), run, torn)
}
