package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"toolnorm/e2e/script"
)

// proxied is the address of a toolnorm in front of the lane's Ollama, built and started when a test first asks for it.
// It reads every model in the given format; "" lets it choose by the model's name.
func (l *lane) proxied(t *testing.T, format string) string {
	t.Helper()
	if l.proxies[format] != "" {
		return l.proxies[format]
	}
	args := []string{"--ollama", l.ollama}
	if format != "" {
		args = append(args, "--format", "*="+format)
	}
	base, err := l.startToolnorm("toolnorm"+format, args...)
	if err != nil {
		t.Fatalf("start toolnorm: %v", err)
	}
	if l.proxies == nil {
		l.proxies = map[string]string{}
	}
	l.proxies[format] = base
	return base
}

// startToolnorm builds the program under a name of its own and serves it until the lane ends.
func (l *lane) startToolnorm(name string, args ...string) (base string, err error) {
	addr, err := freeAddr()
	if err != nil {
		return "", err
	}
	bin := filepath.Join(l.dir, name)
	if out, err := exec.Command("go", "build", "-o", bin, "toolnorm/cmd/toolnorm").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	cmd := exec.Command(bin, append([]string{"serve", "--listen", addr, "--data", filepath.Join(l.dir, "data", name)}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+l.dir, "XDG_CONFIG_HOME="+filepath.Join(l.dir, "config"))
	return "http://" + addr, l.run(cmd, "http://"+addr+"/healthz")
}

func loadTools() (tools []json.RawMessage, err error) {
	b, err := os.ReadFile(filepath.Join("setups", "tools.json"))
	if err != nil {
		return nil, err
	}
	return tools, json.Unmarshal(b, &tools)
}

// ask is the request that brings up a script. The anchor is asked with the two tools that its known scores belong to.
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
