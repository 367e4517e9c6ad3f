package e2e

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolnorm/internal/test/must"
)

// demoFamilies are the demo models that the clients ask: one of each kind of dialect. Llama 3.1
// writes as llama3, gpt-oss as harmony.
var demoFamilies = []string{"demo/hermes", "demo/mistral", "demo/gemma4", "demo/qwen3-coder", "demo/harmony", "demo/llama3"}

// pythonSDK is a script of folder sdks and the packages that it tries.
type pythonSDK struct {
	script, environment string
	packages            []string
	api                 string
}

var pythonSDKs = []pythonSDK{
	{"openai", "clients", []string{"openai"}, "chat completions"},
	{"responses", "clients", []string{"openai", "langchain-openai", "pydantic-ai-slim", "instructor"}, "Responses"},
	{"agents", "agents", []string{"openai-agents"}, "Responses"},
	{"instructor", "clients", []string{"instructor"}, "chat completions"},
	{"pydantic_ai", "clients", []string{"pydantic-ai-slim"}, "chat completions"},
	{"langchain", "clients", []string{"langchain-openai"}, "chat completions"},
	{"anthropic", "anthropic", []string{"anthropic"}, "Messages"},
	{"llama_index", "llama-index", []string{"llama-index-llms-openai-like", "llama-index-llms-ollama"}, "chat completions, Ollama's"},
	{"litellm", "litellm", []string{"litellm"}, "chat completions, Responses, Messages"},
}

// largeSDKs are installed by "install.sh agents" only, and so run with the large agents: litellm
// takes 340 MB.
var largeSDKs = []string{"litellm"}

// versions are those of its packages, as the file of its environment names them.
func (c pythonSDK) versions(t *testing.T) string {
	t.Helper()
	list := must.Read(t, filepath.Join("sdks", c.environment+".txt"))
	var all []string
	for _, name := range c.packages {
		_, rest, ok := strings.Cut(string(list), "\n"+name+"==")
		if !ok {
			t.Fatalf("%s.txt does not name %s", c.environment, name)
		}
		version, _, _ := strings.Cut(rest, "\n")
		all = append(all, version)
	}
	return strings.Join(all, ", ")
}

// sdkTime is how long one client may take for all of its checks, on a busy machine.
const sdkTime = 3 * time.Minute

// TestStockClientsAgainstDemoModels runs the scripts of folder sdks: text, streams, calls with
// their results, forced calls, and structured output with numbers, each as the client does it by
// itself.
func TestStockClientsAgainstDemoModels(t *testing.T) {
	_, missing := sdkPython("clients")
	demand(t, missing, nil)
	l := &lane{}
	demand(t, nil, l.scratch())
	t.Cleanup(l.stop)
	demand(t, nil, l.build())
	base := l.witness(t, l.toolnorm(t, "--ollama", "127.0.0.1:1"))
	for _, c := range pythonSDKs {
		t.Run(c.script, func(t *testing.T) {
			if slices.Contains(largeSDKs, c.script) && os.Getenv("TOOLNORM_E2E_AGENTS") != "all" {
				t.Skip("make clients runs it")
			}
			t.Parallel()
			python, err := sdkPython(c.environment)
			demand(t, err, nil)
			checks := runSDK(t, python, append([]string{filepath.Join("sdks", c.script+"_client.py"), base}, demoFamilies...))
			if !t.Failed() {
				clientRow(t, "sdks", strings.Join(c.packages, ", "), c.versions(t), c.api, checks)
			}
		})
	}
	t.Run("anthropic-sdk", func(t *testing.T) {
		t.Parallel()
		packages := npmPart(t, "anthropic")
		checks := runSDK(t, "node", append([]string{filepath.Join("anthropic", "client.mjs"), packages, base}, demoFamilies...))
		sdk := &agent{folder: "anthropic", pkg: "@anthropic-ai/sdk"}
		version, err := sdk.version()
		demand(t, nil, err)
		if !t.Failed() {
			clientRow(t, "sdks", sdk.pkg, version, "Messages", checks)
		}
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

// runSDK runs one client to its end, shows what failed, and gives the names of its checks, where it
// says them.
func runSDK(t *testing.T, program string, args []string) (checks string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), sdkTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1", "NO_PROXY=127.0.0.1", "LANGSMITH_TRACING=false")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), " 0 failed") {
		t.Errorf("%v\n%s", err, out)
	}
	_, checks, _ = strings.Cut(string(out), " 0 failed: ")
	return strings.TrimSpace(checks)
}
