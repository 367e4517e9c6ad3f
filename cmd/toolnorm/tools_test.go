package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"toolnorm/internal/auth"
	"toolnorm/internal/test/must"
	"toolnorm/tools/dynamic"
)

func TestTheToolsHaveTheirDataInTheDataFolder(t *testing.T) {
	clean(t, "")
	dir := filepath.Join(t.TempDir(), "data")
	m := serving(t, io.Discard, "--data", dir)
	if n := len(m.toolbox.Registry.Snapshot().Tools); n != 4 {
		t.Errorf("%d tools", n)
	}
	must.Have(os.Stat(filepath.Join(dir, "db", "mcp_data.db")))(t)
}

func TestWithoutToolsNoDataIsMade(t *testing.T) {
	clean(t, "")
	dir := filepath.Join(t.TempDir(), "data")
	m := serving(t, io.Discard, "--data", dir, "--no-tools")
	if n := len(m.toolbox.Registry.Snapshot().Tools); n != 0 {
		t.Errorf("%d tools", n)
	}
	if _, err := os.Stat(filepath.Join(dir, "db")); err == nil {
		t.Error("there is a database")
	}
}

func TestDataThatCannotBeOpenedLeavesTheToolsOut(t *testing.T) {
	clean(t, "")
	file := filepath.Join(t.TempDir(), "file")
	must.Write(t, file, "")
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, "db"), nil, 0o600); err != nil { // where the store's folder would be
		t.Fatal(err)
	}
	out := new(log)
	m := serving(t, out, "--data", data)
	if n := len(m.toolbox.Registry.Snapshot().Tools); n != 0 || !strings.Contains(out.String(), "sample tools are off") {
		t.Errorf("%d tools, log %s", n, out)
	}
	if _, err := started(t, io.Discard, "--listen", "127.0.0.1:0", "--store", filepath.Join(file, "own.db")); err == nil || !strings.HasPrefix(err.Error(), "tools: store:") {
		t.Errorf("a store that was named: %v", err)
	}
}

func TestALineForACallNamesWhoAsked(t *testing.T) {
	var log bytes.Buffer
	m := NewMain(io.Discard, io.Discard)
	m.log = zerolog.New(&log)
	for want, who := range map[string]*auth.Principal{"local": auth.Local(), "kim": {Subject: "kim"}} {
		log.Reset()
		callLog{m.log}.called(auth.WithPrincipal(t.Context(), who), dynamic.Run{Tool: "multiply_numbers"})
		if !strings.Contains(log.String(), `"principal":"`+want+`"`) {
			t.Errorf("%s", log.String())
		}
	}
}
