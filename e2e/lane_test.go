package e2e

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"toolnorm/e2e/script"
)

// lane is everything that the tests share: servers, clients, scripts.
type lane struct {
	dir     string // scratch, removed at the end
	scripts []script.Script
	tools   []json.RawMessage
	ollama  string            // base address
	proxies map[string]string // base addresses of toolnorm by the format it was told to read; see proxied
	current *client
	old     *client
	stops   []func() // in order of starting
}

var (
	theLane   lane
	startOnce sync.Once
	startErr  error
	missing   error // the part that is not installed
)

func TestMain(m *testing.M) {
	code := m.Run()
	for i := len(theLane.stops) - 1; i >= 0; i-- {
		theLane.stops[i]()
	}
	os.Exit(code)
}

// open gives the running lane, started by the first test that asks. Without the installed parts it skips the test, or
// fails it when TOOLNORM_E2E=required.
func open(t *testing.T) *lane {
	t.Helper()
	startOnce.Do(func() {
		if missing = theLane.locate(); missing == nil {
			startErr = theLane.start()
		}
	})
	if missing != nil && os.Getenv("TOOLNORM_E2E") != "required" {
		t.Skipf("the end-to-end lane is not installed (run e2e/install.sh): %v", missing)
	}
	if missing != nil {
		t.Fatalf("the end-to-end lane is required and not installed: %v", missing)
	}
	if startErr != nil {
		t.Fatalf("start the lane: %v", startErr)
	}
	return &theLane
}

// installed are the folders that install.sh makes.
var installed struct{ server, clients string }

func (l *lane) locate() error {
	b, err := os.ReadFile("versions")
	if err != nil {
		return err
	}
	version := map[string]string{}
	for line := range strings.Lines(string(b)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		version[key] = value
	}
	cache := os.Getenv("TOOLNORM_E2E_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return err
		}
		cache = filepath.Join(user, "toolnorm-e2e")
	}
	installed.server = filepath.Join(cache, "ollama-"+version["OLLAMA"]+"-llama-"+version["LLAMA_SERVER"]+"-ggml-"+version["GGML"])
	installed.clients = filepath.Join(cache, "openai-"+version["OPENAI"]+"-"+version["OPENAI_OLD"])
	for _, dir := range []string{installed.server, installed.clients} {
		if _, err := os.Stat(dir); err != nil {
			return err
		}
	}
	_, err = exec.LookPath("node")
	return err
}

func (l *lane) start() (err error) {
	if l.dir, err = os.MkdirTemp("", "toolnorm-e2e-"); err != nil {
		return err
	}
	l.stops = append(l.stops, func() { os.RemoveAll(l.dir) })
	if l.scripts, err = script.Load(os.DirFS("scripts")); err != nil {
		return err
	}
	if l.tools, err = loadTools(); err != nil {
		return err
	}
	if err := l.startOllama(); err != nil {
		return fmt.Errorf("ollama: %w", err)
	}
	if l.current, err = l.startClient("openai-current"); err != nil {
		return err
	}
	l.old, err = l.startClient("openai-4.96")
	return err
}

// run starts a server with its output in a log file of the scratch folder, and waits until url answers.
func (l *lane) run(cmd *exec.Cmd, url string) error {
	log, err := os.Create(filepath.Join(l.dir, filepath.Base(cmd.Path)+".log"))
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	l.stops = append(l.stops, func() {
		cmd.Process.Signal(os.Interrupt)
		time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
		cmd.Wait()
		log.Close()
	})
	for range 200 {
		if resp, err := http.Get(url); err == nil {
			resp.Body.Close()
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	text, _ := os.ReadFile(log.Name())
	return fmt.Errorf("no answer at %s; its log:\n%s", url, text)
}

// freeAddr is a loopback address that nobody listens on just now.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
