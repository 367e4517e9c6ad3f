package e2e

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"toolnorm/e2e/script"
)

// lane is everything that the tests share: servers, clients, scripts.
type lane struct {
	dir         string // scratch, removed at the end
	scripts     []script.Script
	defects     []script.Script // replies with defects, asked for with tools of their own
	tools       []json.RawMessage
	defectTools []json.RawMessage
	binary      string  // toolnorm, built for this run
	newest      *server // Ollama with a llama-server beneath it
	former      *server // the last Ollama with an engine of its own
	llama       llama   // without Ollama
	clients     map[string]*client
	current     *client  // OpenAI's
	old         *client  // the same, as editors still ship it
	stops       []func() // in order of starting
}

var (
	theLane   lane
	startOnce sync.Once
	startErr  error
	missing   error // the part that is not installed
)

func TestMain(m *testing.M) {
	code := databases.Main(m)
	theFleet.stop()
	theMCP.stop()
	theLane.stop()
	os.Exit(code)
}

// stop ends what was started, the last first.
func (l *lane) stop() {
	for _, stop := range slices.Backward(l.stops) {
		stop()
	}
}

// open gives the running lane, started by the first test that asks. Without the installed parts it
// skips the test, or fails it when TOOLNORM_E2E=required.
func open(t *testing.T) *lane {
	t.Helper()
	startOnce.Do(func() {
		if missing = theLane.locate(); missing == nil {
			startErr = theLane.start()
		}
	})
	demand(t, missing, startErr)
	return &theLane
}

// demand ends a test whose lane misses a part, or did not start. A missing part skips it, or fails
// it when TOOLNORM_E2E=required.
func demand(t *testing.T, missing, startErr error) {
	t.Helper()
	if missing != nil && os.Getenv("TOOLNORM_E2E") != "required" {
		t.Skipf("the end-to-end lane is not installed (run e2e/install.sh): %v", missing)
	}
	if missing != nil {
		t.Fatalf("the end-to-end lane is required and not installed: %v", missing)
	}
	if startErr != nil {
		t.Fatalf("start the lane: %v", startErr)
	}
}

// installed are the folders that install.sh makes.
var installed struct {
	newest, former string // Ollama
	clients        string
	version        map[string]string // of each part, by its name in the file
}

func (l *lane) locate() error {
	if err := locateFolders(); err != nil {
		return err
	}
	for _, dir := range []string{installed.newest, installed.former, installed.clients} {
		if _, err := os.Stat(dir); err != nil {
			return err
		}
	}
	_, err := exec.LookPath("node")
	return err
}

// locateFolders finds out where install.sh puts what the lane needs, whether it is there or not.
func locateFolders() error {
	b, err := os.ReadFile("versions")
	if err != nil {
		return err
	}
	version := map[string]string{}
	installed.version = version
	for line := range strings.Lines(string(b)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		version[key] = value
	}
	cache, err := cacheFolder()
	if err != nil {
		return err
	}
	installed.newest = filepath.Join(cache, "ollama-"+version["OLLAMA"]+"-llama-"+version["LLAMA_SERVER"]+"-ggml-"+version["GGML"])
	installed.former = filepath.Join(cache, "ollama-"+version["OLLAMA_OLD"])
	installed.clients, err = npmFolder("clients")
	return err
}

// cacheFolder is where install.sh installs.
func cacheFolder() (string, error) {
	if cache := os.Getenv("TOOLNORM_E2E_CACHE"); cache != "" {
		return cache, nil
	}
	user, err := os.UserCacheDir()
	return filepath.Join(user, "toolnorm-e2e"), err
}

// npmFolder is where install.sh puts the packages of a folder's lock file.
func npmFolder(dir string) (string, error) {
	cache, err := cacheFolder()
	if err != nil {
		return "", err
	}
	lock, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
	return filepath.Join(cache, fmt.Sprintf("%s-%.6x", dir, sha256.Sum256(lock))), err
}

// scratch makes the folder that is removed at the end.
func (l *lane) scratch() (err error) {
	if l.dir, err = os.MkdirTemp("", "toolnorm-e2e-"); err == nil {
		l.stops = append(l.stops, func() { os.RemoveAll(l.dir) })
	}
	return err
}

func (l *lane) start() (err error) {
	if err = l.scratch(); err != nil {
		return err
	}
	if l.scripts, err = script.Load(os.DirFS("scripts")); err != nil {
		return err
	}
	if l.defects, err = script.Load(os.DirFS("defects")); err != nil {
		return err
	}
	if l.tools, err = loadTools("setups/tools.json"); err != nil {
		return err
	}
	if l.defectTools, err = loadTools("defects/tools.json"); err != nil {
		return err
	}
	if err := l.writeModels(); err != nil {
		return err
	}
	if err := l.build(); err != nil {
		return err
	}
	if l.newest, err = l.startOllama(installed.newest, installed.version["OLLAMA"], 1, setups); err != nil {
		return err
	}
	withTemplate := slices.DeleteFunc(slices.Clone(setups), func(s setup) bool { return s.template == "" })
	if l.former, err = l.startOllama(installed.former, installed.version["OLLAMA_OLD"], 1, withTemplate); err != nil {
		return err
	}
	l.former.wedges = true
	for _, s := range []*server{l.newest, l.former} { // a reply that one test leaves must not hold up the others; see places
		s.flags = append(s.flags, "--unload-stuck", "--first-byte-timeout", patience.String())
	}
	if err := l.startLlama(); err != nil {
		return err
	}
	l.clients = map[string]*client{}
	for _, name := range []string{"openai-current", "openai-4.96", "ollama", "vercel", "langchain"} {
		if l.clients[name], err = l.startClient(name); err != nil {
			return err
		}
	}
	l.current, l.old = l.clients["openai-current"], l.clients["openai-4.96"]
	return nil
}

// run starts a server with its output in a log file of the scratch folder, and waits until url
// answers with 200.
func (l *lane) run(name string, cmd *exec.Cmd, url string) error {
	log, err := os.Create(l.log(name))
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
	if comesUp(url, 10*time.Second) {
		return nil
	}
	text, _ := os.ReadFile(log.Name())
	return fmt.Errorf("no answer at %s; its log:\n%s", url, text)
}

// comesUp reports whether an address answers with a 200 within a time.
func comesUp(url string, within time.Duration) bool {
	for began := time.Now(); time.Since(began) < within; time.Sleep(50 * time.Millisecond) {
		if resp, err := http.Get(url); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return true
			}
		}
	}
	return false
}

// log is where a server writes its log.
func (l *lane) log(name string) string { return filepath.Join(l.dir, name+".log") }

// freeAddr is a loopback address that nobody listens on just now.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
