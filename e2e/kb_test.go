package e2e

import (
	"net"
	"os"
	"os/exec"
	"testing"
	"time"

	"toolnorm/tools/kb/kbstore"
	"toolnorm/tools/kb/kbstore/kbstoretest"
)

// startPGlite starts PostgreSQL in WebAssembly, which has pgvector, and gives its URL.
func startPGlite(t *testing.T) string {
	t.Helper()
	cache, err := cacheFolder()
	if err != nil {
		t.Fatal(err)
	}
	folder, err := npmFolder(cache, "pglite")
	if err == nil {
		_, err = os.Stat(folder)
	}
	demand(t, err, nil)
	addr, err := freeAddr()
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "pglite/serve.mjs", folder, port)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for begun := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		conn, err := net.Dial("tcp", addr)
		if err == nil {
			conn.Close()
			return "postgres://postgres@" + addr + "/postgres?sslmode=disable&default_query_exec_mode=exec" // its one backend keeps the statements that a connection prepared
		}
		if time.Since(begun) > time.Minute {
			t.Fatal(err)
		}
	}
}

// TestKnowledgeBasesInPgvector holds the store to what every other is held to, where pgvector compares: nobody sees a foreign
// document, and what its graph finds is what comparing all vectors does.
func TestKnowledgeBasesInPgvector(t *testing.T) {
	// Of so few passages PostgreSQL would sort all, and never look at the graph.
	s, err := kbstore.OpenStore(t.Context(), startPGlite(t)+"&enable_sort=off")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if !s.Compares() {
		t.Fatal("pgvector was not found")
	}
	kbstoretest.Isolation(t, s, 200)
	if got := kbstoretest.Overlap(t, s, 600, 40, 20); got < .95 {
		t.Errorf("%.3f of the nearest were found", got)
	}
}
