package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolnorm/internal/test/must"
)

// openWebUIStarts bounds the start of Open WebUI, which imports for a minute.
const openWebUIStarts = 5 * time.Minute

// TestOpenWebUI drives Open WebUI in a real browser (openwebui/story.mjs): a chat, a tool by MCP, a
// model with @agent and a knowledge base, all with a demo model of toolnorm. make openwebui
// installs and runs it.
func TestOpenWebUI(t *testing.T) {
	installed := os.Getenv("TOOLNORM_E2E_OPENWEBUI")
	if installed == "" {
		t.Skip("make openwebui runs it")
	}
	l := openMCP(t)
	packages, browser := npmPart(t, "admin"), chromium(t)
	base := l.toolnorm(t, "--ollama", "127.0.0.1:1", "--list-suffixes", "agent", "--kb-model", "demo/hermes")
	folder := filepath.Join(t.TempDir(), "office")
	must.OK(t, os.MkdirAll(folder, 0o755))
	must.Write(t, filepath.Join(folder, "printer.md"), "# Printer\n\nThe printer needs toner TN-2420.\n")
	data := filepath.Join(l.dir, logName(base))
	for _, args := range [][]string{{"kb", "create", "Office", "--data", data}, {"kb", "import", "Office", folder, "--data", data}} {
		if out, err := exec.CommandContext(t.Context(), l.binary, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	chat := l.openWebUI(t, installed, base)
	shots := os.Getenv("TOOLNORM_E2E_SHOTS")
	if shots == "" {
		shots = t.TempDir()
	}
	cmd := exec.CommandContext(t.Context(), "node", filepath.Join("openwebui", "story.mjs"), packages, browser, chat, base, shots)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil || strings.Count(string(out), "ok ") != 4 {
		t.Errorf("the story ended: %v", err)
	}
}

// openWebUI starts one with an empty data folder and returns its address.
func (l *mcpLane) openWebUI(t *testing.T, installed, base string) string {
	t.Helper()
	addr := must.Have(freeAddr())(t)
	host, port, _ := strings.Cut(addr, ":")
	// Its own script names the folder in which it was installed, which was another one.
	cmd := exec.CommandContext(t.Context(), filepath.Join(installed, "bin", "python"), "-c", "from open_webui import app; app()", "serve", "--host", host, "--port", port)
	home := t.TempDir()
	cmd.Env = []string{"HOME=" + home, "DATA_DIR=" + home, "PATH=" + os.Getenv("PATH"), "WEBUI_AUTH=False", "WEBUI_SECRET_KEY=of-the-lane", "OFFLINE_MODE=true", "HF_HUB_OFFLINE=1",
		"ENABLE_OLLAMA_API=False", "OPENAI_API_BASE_URL=" + base + "/v1", "OPENAI_API_KEY=any", "RAG_EMBEDDING_ENGINE=openai", "DO_NOT_TRACK=true"}
	log := must.Have(os.Create(l.log("open-webui")))(t)
	cmd.Stdout, cmd.Stderr = log, log
	must.OK(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		log.Close()
	})
	if comesUp("http://"+addr+"/health", openWebUIStarts) {
		return "http://" + addr
	}
	text, _ := os.ReadFile(log.Name())
	t.Fatalf("Open WebUI does not answer; its log:\n%s", text)
	return ""
}
