package e2e

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// demoFamilies are the demo models that the clients ask: one of each kind of dialect. Llama 3.1 writes as llama3, gpt-oss as
// harmony.
var demoFamilies = []string{"demo/hermes", "demo/mistral", "demo/gemma4", "demo/qwen3-coder", "demo/harmony", "demo/llama3"}

// sdkTime is how long one client may take for all of its checks, on a busy machine.
const sdkTime = 3 * time.Minute

// TestStockClientsAgainstDemoModels runs the scripts of folder sdks: text, streams, calls with their results, forced calls, and
// structured output with numbers, each as the client does it by itself.
func TestStockClientsAgainstDemoModels(t *testing.T) {
	_, missing := sdkPython("clients")
	demand(t, missing, nil)
	l := &lane{}
	demand(t, nil, l.scratch())
	t.Cleanup(l.stop)
	demand(t, nil, l.build())
	base := l.toolnorm(t, "--ollama", "127.0.0.1:1")
	for client, environment := range map[string]string{"openai": "clients", "responses": "clients", "instructor": "clients", "pydantic_ai": "clients", "langchain": "clients", "llama_index": "llama-index", "anthropic": "anthropic"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			python, err := sdkPython(environment)
			demand(t, err, nil)
			runSDK(t, python, append([]string{filepath.Join("sdks", client+"_client.py"), base}, demoFamilies...))
		})
	}
	t.Run("anthropic-sdk", func(t *testing.T) {
		t.Parallel()
		cache, err := cacheFolder()
		demand(t, nil, err)
		packages, err := npmFolder(cache, "anthropic")
		demand(t, nil, err)
		_, missing := os.Stat(packages)
		demand(t, missing, nil)
		runSDK(t, "node", append([]string{filepath.Join("anthropic", "client.mjs"), packages, base}, demoFamilies...))
	})
	t.Run("langchaingo", func(t *testing.T) {
		t.Parallel()
		binary := filepath.Join(l.dir, "langchaingo")
		build := exec.Command("go", "build", "-C", filepath.Join("sdks", "langchaingo"), "-o", binary, ".")
		build.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly") // install.sh has fetched its modules
		var missing error
		if out, err := build.CombinedOutput(); err != nil {
			missing = fmt.Errorf("%w: %s", err, out)
		}
		demand(t, missing, nil)
		runSDK(t, binary, append([]string{base}, demoFamilies...))
	})
}

// sdkPython is the Python of an environment that install.sh makes of a file of requirements.
func sdkPython(name string) (string, error) {
	list, err := os.ReadFile(filepath.Join("sdks", name+".txt"))
	if err != nil {
		return "", err
	}
	cache, err := cacheFolder()
	if err != nil {
		return "", err
	}
	python := filepath.Join(cache, fmt.Sprintf("sdk-%s-%.6x", name, sha256.Sum256(list)), "bin", "python")
	_, err = os.Stat(python)
	return python, err
}

// runSDK runs one client to its end and shows what failed.
func runSDK(t *testing.T, program string, args []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), sdkTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "NO_PROXY=127.0.0.1", "LANGSMITH_TRACING=false")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), " 0 failed") {
		t.Errorf("%v\n%s", err, out)
	}
}
