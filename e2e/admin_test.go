package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// chromium is the browser that install.sh installs.
func chromium(t *testing.T) string {
	t.Helper()
	cache, err := cacheFolder()
	browser := filepath.Join(cache, "chromium")
	if err == nil {
		_, err = os.Stat(browser)
	}
	demand(t, err, nil)
	return browser
}

// TestTheAdminPage walks the story of the admin page in a real browser: see admin/story.mjs. Two
// defective replies of a real Ollama stand in Live beforehand. The pictures stay in
// TOOLNORM_E2E_SHOTS, if that is set.
func TestTheAdminPage(t *testing.T) {
	l, packages, browser := open(t), npmPart(t, "admin"), chromium(t)
	base := l.proxied(t, l.newest, "--trace-bodies")
	for _, sc := range l.defects {
		if sc.Name == "defect_single_quotes" || sc.Name == "defect_above_maximum" {
			if got := l.current.chat(base, l.askDefect(l.newest.setups[0].model(), sc, true)); got.Error != "" {
				t.Fatalf("%s: %s", sc.Name, got.Error)
			}
		}
	}
	keyed := l.toolnorm(t, "--ollama", "127.0.0.1:1", "--admin-key", "admin-key-of-the-story", "--api-keys", "models-key-of-the-story")
	shots := os.Getenv("TOOLNORM_E2E_SHOTS")
	if shots == "" {
		shots = t.TempDir()
	}
	cmd := exec.Command("node", filepath.Join("admin", "story.mjs"), packages, browser, base, shots, keyed)
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil || strings.Count(string(out), "ok ") < 20 {
		t.Errorf("the story ended: %v", err)
	}
}
