package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"toolnorm/internal/test/must"
)

// rewrite gives the settings file another text, and has it read again.
func rewrite(t *testing.T, m *Main, path, text string) error {
	t.Helper()
	must.Write(t, path, text)
	return m.Reload()
}

// status is that of a GET with a key.
func status(t *testing.T, url, key string) int {
	t.Helper()
	got, _ := withToken(t, "GET", url, key, "")
	return got
}

const oneKey, twoKey = "sk-one-0123456789", "sk-two-0123456789"

func TestSettingsAreReadAgain(t *testing.T) {
	path := clean(t, "aliases: {old: demo/hermes}\nmodel: x\n")
	out, dir := new(log), t.TempDir()
	m := serving(t, out, "--config", path, "--data", dir, "--model", "y")
	must.OK(t, rewrite(t, m, path, "aliases: {new: demo/hermes}\napi-keys: ["+oneKey+"]\nlog-level: debug\nlisten: 127.0.0.1:1\nstore: "+dir+"/other.db\nmodel: z\n"))
	if got := status(t, m.URL()+"/v1/models/new", ""); got != http.StatusUnauthorized {
		t.Errorf("without the new key: %d", got)
	}
	for id, want := range map[string]int{"new": 200, "old": 404} {
		if got := status(t, m.URL()+"/v1/models/"+id, oneKey); got != want {
			t.Errorf("%s: %d, want %d", id, got, want)
		}
	}
	for _, want := range []string{`"changed":["alias","api-keys","log-level"]`, `"needs_restart":["store"]`, `"level":"debug"`} { // the flags --listen and --model win
		if want != `"level":"debug"` && !strings.Contains(out.String(), want) {
			t.Errorf("the log lacks %s:\n%s", want, out)
		}
	}
	if err := m.Reload(); err != nil || !strings.Contains(out.String(), "nothing else has changed") || strings.Count(out.String(), `"needs_restart":["store"]`) != 2 {
		t.Errorf("%v; read twice:\n%s", err, out)
	}
	m.log.Debug().Msg("said at level debug")
	if !strings.Contains(out.String(), "said at level debug") {
		t.Error("the level of the log is still the old one")
	}
}

func TestAFamilyIsReadWithoutARestart(t *testing.T) {
	clean(t, "")
	dir, out := t.TempDir(), new(log)
	must.OK(t, os.Mkdir(filepath.Join(dir, "families"), 0o700))
	m := serving(t, out, "--data", dir)
	before := m.now.Load().engine
	if err := m.Reload(); err != nil || m.now.Load().engine != before {
		t.Errorf("%v; what is known of models is lost although nothing has changed", err)
	}
	family := filepath.Join(dir, "families", "mine.txt")
	must.OK(t, rewrite(t, m, family, "format  mine\nmodels  mine*\ncall    <mine>{call}</mine>\n"))
	if got := m.now.Load().engine.Plan("mine:1b").Format; got != "mine" || !strings.Contains(out.String(), `"changed":["families"]`) {
		t.Errorf("mine:1b is read as %s\n%s", got, out)
	}
	if err := rewrite(t, m, family, "nonsense\n"); err != nil || m.now.Load().engine.Plan("mine:1b").Format != "mine" || !strings.Contains(out.String(), "mine.txt: line 1") {
		t.Errorf("a wrong family: %v\n%s", err, out)
	}
}

func TestWrongSettingsChangeNothing(t *testing.T) {
	path := clean(t, "api-keys: ["+oneKey+"]\n")
	out := new(log)
	m := serving(t, out, "--config", path)
	for text, want := range map[string]string{
		"api-keys: [" + twoKey + "]\nlog-levl: debug": `settings.yaml, line 2: there is no setting \"log-levl\"; did you mean \"log-level\"?`,
		"api-keys: [short]":                           "settings.yaml, line 1: api-keys: key 1",
		"api-keys: [" + twoKey + "]\ngrace: 10":       "settings.yaml, line 2: grace:",
		"a: [":                                        "settings.yaml, line",
	} {
		if err := rewrite(t, m, path, text); err == nil || !strings.Contains(out.String(), want) {
			t.Errorf("%q: %v, the log lacks %s:\n%s", text, err, want, out)
		}
		if one, two := status(t, m.URL()+"/v1/models", oneKey), status(t, m.URL()+"/v1/models", twoKey); one != 200 || two != 401 {
			t.Errorf("%q: the old key %d, the new one %d", text, one, two)
		}
	}
	must.OK(t, os.Remove(path))
	if err := m.Reload(); err == nil || status(t, m.URL()+"/v1/models", "") != 401 {
		t.Errorf("without its file the server is open: %v", err)
	}
}

func TestKeysAreNotTakenFromAServerThatOthersReach(t *testing.T) {
	path := clean(t, "api-keys: ["+oneKey+"]\n")
	m := must.Have(started(t, new(log), "--listen", "0.0.0.0:0", "--config", path))(t)
	if err := rewrite(t, m, path, "# none\n"); err == nil || !strings.Contains(err.Error(), "no API key is set") {
		t.Errorf("the last key was taken away: %v", err)
	}
}

// TestAReplyKeepsItsSettings reads the settings again in the middle of a stream.
func TestAReplyKeepsItsSettings(t *testing.T) {
	more := make(chan struct{})
	url := writing(t, "the beginning is a long one\n\n", func(w http.ResponseWriter, _ *http.Request) {
		<-more
		fmt.Fprintln(w, `{"model":"m","message":{"role":"assistant","content":"the end"},"done":true,"done_reason":"stop"}`)
	})
	path := clean(t, "upstream: {box: ollama+"+url+"}\n")
	m := serving(t, new(log), "--config", path)
	resp := must.Open(t, "POST", m.URL()+"/v1/chat/completions", `{"model":"box/m","stream":true,"messages":[{"role":"user","content":"hi"}]}`, "Content-Type: application/json")
	defer resp.Body.Close()
	stream := bufio.NewReader(resp.Body)
	for line := ""; !strings.Contains(line, "beginning"); {
		var err error
		if line, err = stream.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	must.OK(t, rewrite(t, m, path, "api-keys: ["+oneKey+"]\n"))
	if got := status(t, m.URL()+"/v1/models/box%2Fm", oneKey); got != 404 {
		t.Errorf("the server that the settings no longer name: %d", got)
	}
	close(more)
	if rest, err := io.ReadAll(stream); err != nil || !strings.Contains(string(rest), "the end") || !strings.Contains(string(rest), "[DONE]") {
		t.Errorf("%v; the stream ends with %s", err, rest)
	}
}

// TestRequestsMeetOneSetOfSettings has clients ask while the settings change: each request is
// answered by the old or the new ones. It is for the race detector.
func TestRequestsMeetOneSetOfSettings(t *testing.T) {
	path := clean(t, "")
	m := serving(t, io.Discard, "--config", path)
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for range 2 {
		clients.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				resp, err := http.Post(m.URL()+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"hi"}]}`))
				if err != nil {
					t.Error(err)
					return
				}
				text, _ := io.ReadAll(resp.Body)
				resp.Body.Close()
				if got := resp.StatusCode; got != 200 && got != 401 && got != 502 { // 502: without the alias the model is at an Ollama that is away
					t.Errorf("%d %s", got, text)
				}
			}
		})
	}
	for n := range 6 {
		if err := rewrite(t, m, path, []string{"alias: {m: demo/hermes}\nlog-level: debug\n", "api-keys: [" + oneKey + "]\n", "num-ctx: 2048\nhosts: [a]\n"}[n%3]); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	clients.Wait()
}

// TestASignalOrAChangeReadsTheSettingsAgain is of a process without a terminal.
func TestASignalOrAChangeReadsTheSettingsAgain(t *testing.T) {
	keys := filepath.Join(t.TempDir(), "keys")
	path := clean(t, "api-keys-file: "+keys+"\n")
	write := func(path, text string) {
		t.Helper()
		must.Write(t, path, text)
	}
	write(keys, oneKey+"\n")
	p := startProcess(t, "--config="+path, "--data="+t.TempDir())
	must.OK(t, p.cmd.Process.Signal(syscall.SIGHUP))
	p.says(t, "nothing else has changed")
	write(keys, oneKey+"\n"+twoKey+"\n")
	p.says(t, `"changed":["api-keys-file"]`)
	if got := status(t, p.url+"/v1/models", twoKey); got != 200 {
		t.Errorf("the key that was added: %d", got)
	}
	write(path, "api-keys-file: "+keys+"\naliases: {a: demo/hermes}\n")
	p.says(t, `"changed":["alias"]`)
	write(path, "api-keys-file: "+keys+"\naliases: a\n")
	p.says(t, "settings.yaml, line 2: alias must be a mapping")
	must.OK(t, p.cmd.Process.Signal(syscall.SIGTERM))
	if status := p.ends(t); status != 0 {
		t.Errorf("status %d", status)
	}
}
