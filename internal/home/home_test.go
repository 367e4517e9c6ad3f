package home

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

func TestTheDataFolder(t *testing.T) {
	t.Setenv("HOME", "/home/ann")
	here, err := os.Getwd()
	must.OK(t, err)
	for _, tt := range []struct{ dir, xdg, want string }{
		{"", "", "/home/ann/.local/share/toolnorm"},
		{"", "/var/data", "/var/data/toolnorm"},
		{"", "relative", "/home/ann/.local/share/toolnorm"},
		{"/srv/x/", "/var/data", "/srv/x"},
		{"x", "", filepath.Join(here, "x")},
	} {
		t.Setenv("XDG_DATA_HOME", tt.xdg)
		if got, err := Data(tt.dir); err != nil || got != tt.want {
			t.Errorf("Data(%q) with %q = %q, %v; want %q", tt.dir, tt.xdg, got, err, tt.want)
		}
	}
}

func TestSettingsOfTheProxyAreRead(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	if s, err := ReadSettings(""); err != nil || s.Data != "" || s.Store != "" {
		t.Errorf("without a file: %+v, %v", s, err)
	}
	must.OK(t, os.MkdirAll(filepath.Join(dir, "toolnorm"), 0o700))
	for text, want := range map[string]Settings{
		"listen: 127.0.0.1:1\ndata: /srv/x\nstore: postgres://a@b/c\nhosts: [a]\n": {Data: "/srv/x", Store: "postgres://a@b/c"},
		"# nothing\n": {},
	} {
		must.Write(t, File(), text)
		if s, err := ReadSettings(""); err != nil || s.Data != want.Data || s.Store != want.Store {
			t.Errorf("%q: %+v, %v", text, s, err)
		}
	}
	if _, err := ReadSettings(filepath.Join(dir, "none.yaml")); err == nil || !strings.Contains(err.Error(), "none.yaml") {
		t.Errorf("a named file that is not there: %v", err)
	}
}
