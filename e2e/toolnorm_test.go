package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"toolnorm/e2e/script"
)

// build makes the program.
func (l *lane) build() error {
	l.binary = filepath.Join(l.dir, "toolnorm")
	if out, err := exec.Command("go", "build", "-o", l.binary, "toolnorm/cmd/toolnorm").CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	return nil
}

// proxied is the address of a toolnorm in front of the server, started with further flags when a
// test first asks for it.
func (l *lane) proxied(t *testing.T, s *server, flags ...string) string {
	t.Helper()
	key := strings.Join(flags, " ")
	if s.proxies[key] != "" {
		return s.proxies[key]
	}
	base := l.toolnorm(t, append(flags, s.flags...)...)
	if s.proxies == nil {
		s.proxies = map[string]string{}
	}
	s.proxies[key] = base
	return base
}

// toolnorm is the address of one that is started with these flags.
func (l *lane) toolnorm(t *testing.T, flags ...string) string {
	t.Helper()
	base, err := l.startToolnorm(flags...)
	if err != nil {
		t.Fatalf("start toolnorm: %v", err)
	}
	return base
}

// startToolnorm serves toolnorm until the lane ends.
func (l *lane) startToolnorm(flags ...string) (base string, err error) {
	addr, err := freeAddr()
	if err != nil {
		return "", err
	}
	_, err = l.startToolnormAt(addr, flags...)
	return "http://" + addr, err
}

// startToolnormAt serves it at an address, with the data of the one that was there before.
func (l *lane) startToolnormAt(addr string, flags ...string) (*exec.Cmd, error) {
	name := logName(addr)
	cmd := exec.Command(l.binary, append([]string{"serve", "--listen", addr, "--data", filepath.Join(l.dir, name), "--sample=always", "--ask-before-tools", "*=never"}, flags...)...)
	cmd.Env = l.env()
	return cmd, l.run(name, cmd, "http://"+addr+"/healthz")
}

// env is the environment of programs that must not see the user's own settings.
func (l *lane) env() []string {
	return append(os.Environ(), "HOME="+l.dir, "XDG_CONFIG_HOME="+filepath.Join(l.dir, "config"))
}

// logName is the name of the log of the toolnorm at an address.
func logName(base string) string { return "toolnorm-" + base[strings.LastIndexByte(base, ':')+1:] }

func loadTools(file string) (tools []json.RawMessage, err error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return tools, json.Unmarshal(b, &tools)
}

// ask is the request that brings up a script. The anchor is asked with the two tools that its known
// scores belong to.
func (l *lane) ask(model string, sc script.Script, stream bool) request {
	tools := l.tools
	if sc.Family == "anchor" {
		tools = tools[:2]
	}
	r := request{
		Model: model, Tools: tools, Stream: stream, MaxTokens: 2000,
		Messages: []message{{Role: "user", Content: sc.Model.Selector() + " please"}},
	}
	if stream {
		r.Options = &streamOptions{IncludeUsage: true}
	}
	return r
}
