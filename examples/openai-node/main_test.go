// Package openainode holds the example for Node to what its first comment says that it prints.
package openainode

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"toolnorm/engine"
	"toolnorm/engine/demo"
	"toolnorm/internal/test/must"
	"toolnorm/internal/test/transcript"
	"toolnorm/proxy"
)

// library is where OpenAI's library for Node is: beside the example, or where the end-to-end lane
// has put it.
func library(t *testing.T) string {
	t.Helper()
	if dir, err := filepath.Abs("node_modules/openai"); err == nil && exists(dir) {
		return dir
	}
	cache := os.Getenv("TOOLNORM_E2E_CACHE")
	if user, err := os.UserCacheDir(); cache == "" && err == nil {
		cache = filepath.Join(user, "toolnorm-e2e")
	}
	found, _ := filepath.Glob(filepath.Join(cache, "clients-*", "node_modules", "openai-current")) // the pattern is a good one
	_, err := exec.LookPath("node")
	switch required := os.Getenv("TOOLNORM_E2E") == "required"; {
	case len(found) > 0 && err == nil:
		return found[len(found)-1]
	case required:
		t.Fatalf("node or its module openai is required and not installed: %v", err)
	}
	t.Skip("needs node and npm's openai: npm install in examples/openai-node, or e2e/install.sh")
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func TestTheProgramPrintsItsTranscript(t *testing.T) {
	module := library(t)
	eng := engine.New(engine.Config{Ollama: "http://127.0.0.1:1", Demo: demo.Server{Delay: -1}})
	srv := httptest.NewServer(proxy.New(proxy.Config{Model: eng, Catalog: eng}))
	defer srv.Close()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "node_modules"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(module, filepath.Join(dir, "node_modules", "openai")); err != nil {
		t.Fatal(err)
	}
	src := must.Read(t, "main.mjs")
	must.Write(t, filepath.Join(dir, "main.mjs"), src)
	cmd := exec.Command("node", "main.mjs")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TOOLNORM_URL="+srv.URL+"/v1")
	got, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	transcript.Match(t, "main.mjs", "node main.mjs", string(got))
}
