package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// settingsFolder is where the settings of editors and agents are, as docs/editors.md shows them.
const settingsFolder = "../examples/editors"

// TestEditorsReadTheirSettings has the schemas and programs of the clients read the files of
// examples/editors. Those of Claude Code and Codex, which takes nothing that it does not know, are
// read when TestAgents runs them, and so are Cline's, pi's and Qwen Code's by make e2e-agents; Zed
// and Void have no package, so examples/editors holds them to their sources.
func TestEditorsReadTheirSettings(t *testing.T) {
	packages := npmPart(t, "editors")
	python, missing := sdkPython("aider")
	demand(t, missing, nil)
	t.Run("Continue and Roo", func(t *testing.T) {
		read := readsSettings(t, "node", "editors/check.mjs", packages, settingsFolder)
		for _, want := range []string{
			"continue/config.yaml http://127.0.0.1:11435/v1 qwen3-coder:30b http://127.0.0.1:11435/mcp\n",
			"roo/roo-code-settings.json http://127.0.0.1:11435/v1 qwen3-coder:30b\n",
		} {
			if !strings.Contains(read, want) {
				t.Errorf("read %s, want %s", read, want)
			}
		}
	})
	t.Run("Aider", func(t *testing.T) {
		read := readsSettings(t, python, "editors/check_aider.py", filepath.Join(settingsFolder, "aider", ".aider.conf.yml"))
		if read != "http://127.0.0.1:11435/v1 openai/qwen3-coder:30b any\n" {
			t.Errorf("read %s", read)
		}
	})
	t.Run("opencode", readByOpencode)
}

// readsSettings runs a program that reads settings, and gives what it says of them.
func readsSettings(t *testing.T, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// readByOpencode has opencode show the settings that it came to: what it does not know is missing
// there.
func readByOpencode(t *testing.T) {
	if os.Getenv("TOOLNORM_E2E_AGENTS") != "all" {
		t.Skip("make e2e-agents installs it")
	}
	packages := npmPart(t, "opencode")
	file, err := os.ReadFile(filepath.Join(settingsFolder, "opencode/opencode.json"))
	demand(t, nil, err)
	home := t.TempDir()
	demand(t, nil, os.MkdirAll(filepath.Join(home, ".config/opencode"), 0o755))
	demand(t, nil, os.WriteFile(filepath.Join(home, ".config/opencode/opencode.json"), file, 0o600))
	cmd := exec.CommandContext(t.Context(), filepath.Join(packages, "node_modules/opencode-linux-x64/bin/opencode"), "debug", "config")
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "OPENCODE_DISABLE_MODELS_FETCH=1"}
	out, err := cmd.Output()
	demand(t, nil, err)
	var wrote, read map[string]any
	demand(t, nil, json.Unmarshal([]byte(strings.ReplaceAll(string(file), `"any"`, `"***"`)), &wrote)) // it does not show keys
	demand(t, nil, json.Unmarshal(out, &read))
	for name, value := range wrote {
		if !reflect.DeepEqual(read[name], value) {
			t.Errorf("opencode read %s as %v, want %v", name, read[name], value)
		}
	}
}
