package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

// commandOf runs a command and returns what it prints.
func commandOf(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, _, err := ran(t, "", args...)
	return out, err
}

// TestKnowledgeBasesFromTheCommandLine makes, fills, shows and deletes one.
func TestKnowledgeBasesFromTheCommandLine(t *testing.T) {
	clean(t, "")
	t.Setenv("TOOLNORM_DATA", t.TempDir())
	dir := t.TempDir()
	for name, text := range map[string]string{"leave.md": "# Leave\n\nTwenty days.\n", "b.html": "<title>Page</title><p>x"} {
		must.Write(t, filepath.Join(dir, name), text)
	}
	const id = "cf23c222-b024-4533-81aa-52e4f673281e"
	for _, step := range []struct {
		args string
		want string // a pattern of what is printed
		err  string
	}{
		{"kb list", `^$`, ""},
		{"kb create Handbook --description Rules --tenant acme --id " + id, `^` + id + `\n$`, ""},
		{"kb create Other", `^[0-9a-f-]{36}\n$`, ""},
		{"kb create Other", ``, "there is a knowledge base with this name or id already: "},
		{"kb list", `^` + id + `  Handbook: Rules \(tenant acme\)\n.*Other\n$`, ""},
		{"kb import Handbook " + dir + " --department hr --clearance 1", `b.html: imported, 1 passages\nleave.md: imported, 1 passages\n2 imported, 0 unchanged, 0 removed, 0 failed; 2 passages, 0 embedded\n$`, ""},
		{"kb import " + id + " " + dir + " --department hr --clearance 1", `^0 imported, 2 unchanged, 0 removed, 0 failed; 0 passages, 0 embedded\n$`, ""},
		{"kb import Handbook " + dir + "/leave.md --prune", ``, "--prune takes a folder"},
		{"kb import Nothing " + dir, ``, "no knowledge base"},
		{"kb show Handbook", `documents/b.html: Page, 1 passages, hr with clearance 1\n  documents/leave.md: Leave, 1 passages, hr with clearance 1\n$`, ""},
		{"kb delete Handbook --document nothing.md", ``, "no document nothing.md"},
		{"kb delete Handbook --document leave.md", `^$`, ""},
		{"kb show Handbook", `Rules \(tenant acme\)\n  documents/b.html.*\n$`, ""},
		{"kb delete Handbook", `^$`, ""},
		{"kb show " + id, ``, "Knowledge base not found"},
		{"kb sample", `^` + id + `\n$`, ""},
		{"kb sample", `^` + id + `\n$`, ""},
		{"kb show " + id, `Employee handbook: Rules.*\n(.*\n)*  ja/remote-work.md: `, ""},
	} {
		got, err := commandOf(t, strings.Fields(step.args)...)
		if (err == nil) != (step.err == "") || err != nil && !strings.Contains(err.Error(), step.err) {
			t.Errorf("%s: %v, want %q", step.args, err, step.err)
		}
		if !regexp.MustCompile(step.want).MatchString(got) {
			t.Errorf("%s prints\n%swant %s", step.args, got, step.want)
		}
	}
	must.Write(t, filepath.Join(dir, "bad.pdf"), "x")
	got, err := commandOf(t, "kb", "import", "Other", dir)
	if err == nil || !strings.Contains(err.Error(), "1 of 3 files") || !strings.Contains(got, "2 imported") {
		t.Errorf("a bad file: %v\n%s", err, got)
	}
}

// TestAnEmbeddingModelOfOllamaIsOffered makes and fills a knowledge base where Ollama has an
// embedding model.
func TestAnEmbeddingModelOfOllamaIsOffered(t *testing.T) {
	clean(t, "")
	t.Setenv("TOOLNORM_DATA", t.TempDir())
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, _ := io.ReadAll(r.Body)
		switch {
		case r.URL.Path == "/api/tags":
			io.WriteString(w, `{"models":[{"name":"qwen3:4b"},{"name":"bge-m3:latest"}]}`)
		case strings.Contains(string(asked), "bge-m3"):
			io.WriteString(w, `{"capabilities":["embedding"]}`)
		default:
			io.WriteString(w, `{"capabilities":["completion","tools"]}`)
		}
	}))
	defer up.Close()
	file := filepath.Join(t.TempDir(), "a.md")
	must.Write(t, file, "# Leave\n\nTwenty days.\n")
	offer := "text-embedding-model-url: " + up.URL + "/api/embed\n  text-embedding-model-name: bge-m3:latest\n"
	settings := filepath.Join(t.TempDir(), "toolnorm.yaml")
	for _, tt := range []struct {
		host, flag, file, model string
		offered                 bool
	}{
		{up.URL, "", "", "", true}, {"127.0.0.1:1", "", "", "", false}, {up.URL, "", "", "nomic", false},
		{"127.0.0.1:1", up.URL, "", "", true}, {up.URL, "127.0.0.1:1", "", "", false},
		{"", "", "[" + up.URL + ", 127.0.0.1:1]", "", true}, {"127.0.0.1:1", "", up.URL, "", false},
	} {
		t.Setenv("OLLAMA_HOST", tt.host)
		if tt.host == "" {
			os.Unsetenv("OLLAMA_HOST") // t.Setenv restores it
		}
		for _, args := range [][]string{{"kb", "create", "base"}, {"kb", "import", "base", file}, {"kb", "delete", "base"}} {
			if tt.model != "" {
				args = append(args, "--text-embedding-model-url", up.URL+"/none", "--text-embedding-model-name", tt.model)
			}
			if tt.flag != "" && args[1] != "delete" {
				args = append(args, "--ollama", tt.flag)
			}
			if tt.file != "" {
				must.Write(t, settings, "ollama: "+tt.file+"\n")
				args = append(args, "--config", settings)
			}
			_, told, _ := ran(t, "", args...)
			if got := strings.Contains(told, offer); got != (tt.offered && args[1] != "delete") {
				t.Errorf("%+v %q: %s", tt, args, told)
			}
		}
	}
}

// TestNamesDoNotReachTheTerminalAsTheyAre imports a file whose name would colour the line, begin
// another and turn a third round.
func TestNamesDoNotReachTheTerminalAsTheyAre(t *testing.T) {
	clean(t, "")
	t.Setenv("TOOLNORM_DATA", t.TempDir())
	dir := t.TempDir()
	name := "a\x1b[31m\nb\u202ec"
	if err := os.WriteFile(filepath.Join(dir, name+".md"), []byte("# Leave\n\nTwenty days.\n"), 0o600); err != nil {
		t.Skip("no such names here")
	}
	for _, args := range [][]string{
		{"kb", "create", name, "--tenant", name}, {"kb", "list"}, {"kb", "import", name, dir, "--department", name, "--collection", name}, {"kb", "show", name},
	} {
		got, err := commandOf(t, args...)
		if err != nil || strings.ContainsAny(got, "\x1b\u202e") || args[1] != "create" && !strings.Contains(got, "a·[31m⏎b·c") {
			t.Errorf("%q prints %q, %v", args, got, err)
		}
	}
}
