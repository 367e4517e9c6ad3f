package e2e

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolnorm/internal/auth"
	"toolnorm/internal/test/kbstoretest"
	"toolnorm/internal/test/must"
	"toolnorm/tools/kb/kbstore"
	"toolnorm/tools/kb/retrieval"
)

// startPGlite starts PostgreSQL in WebAssembly, which has pgvector, and gives its URL.
func startPGlite(t *testing.T) string {
	t.Helper()
	folder := npmPart(t, "pglite")
	addr := must.Have(freeAddr())(t)
	_, port, err := net.SplitHostPort(addr)
	must.OK(t, err)
	cmd := exec.Command("node", "pglite/serve.mjs", folder, port)
	cmd.Stderr = os.Stderr
	must.OK(t, cmd.Start())
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

// TestKnowledgeBasesInPgvector holds the store to what every other is held to, where pgvector
// compares: nobody sees a foreign document, and what its graph finds is what comparing all vectors
// does.
func TestKnowledgeBasesInPgvector(t *testing.T) {
	// Of so few passages PostgreSQL would sort all, and never look at the graph.
	s := must.Have(kbstore.OpenStore(t.Context(), startPGlite(t)+"&enable_sort=off"))(t)
	defer s.Close()
	if !s.Compares() {
		t.Fatal("pgvector was not found")
	}
	kbstoretest.Isolation(t, s, 200)
	if got := kbstoretest.Overlap(t, s, 600, 40, 20); got < .95 {
		t.Errorf("%.3f of the nearest were found", got)
	}
	searchesAlike(t, s)
	movesVectors(t, s)
}

// movesVectors holds that pgvector finds a document that was moved in its new base alone, by the
// vectors that were made anew.
func movesVectors(t *testing.T, s *kbstore.Store) {
	t.Helper()
	var bases []kbstore.Base
	for _, name := range []string{"from", "to"} {
		b := must.Have(s.Create(t.Context(), kbstore.Base{Name: name}))(t)
		bases = append(bases, b)
	}
	collection := must.Have(s.Collect(t.Context(), bases[0].ID, "files"))(t)
	all := kbstore.FilterOf(auth.Local())
	old, anew := kbstore.Embedding{Model: "old", Vector: []float32{1, 2}}, kbstore.Embedding{Model: "anew", Vector: []float32{3, 4, 5}}
	d := kbstore.Document{Collection: collection, Source: "a.md", Embedding: old}
	must.OK(t, s.Put(t.Context(), bases[0].ID, &d, []kbstore.Chunk{{Text: "one", Embedding: old}, {Text: "two", Embedding: old}}))
	for _, step := range []struct {
		from, to kbstore.Base
		e        kbstore.Embedding
		anew     bool
	}{{bases[0], bases[1], old, false}, {bases[1], bases[0], anew, true}} {
		var chunks []kbstore.Chunk
		if step.anew {
			var err error
			if chunks, err = s.DocumentChunks(t.Context(), step.from.ID, d.ID, all); err != nil || len(chunks) != 2 {
				t.Fatal(chunks, err)
			}
			d.Embedding, chunks[0].Embedding, chunks[1].Embedding = step.e, step.e, kbstore.Embedding{} // the model has none for one
		}
		must.OK(t, s.Move(t.Context(), step.from, step.to, &d, chunks))
		for _, b := range bases {
			for _, e := range []kbstore.Embedding{old, anew} {
				want := 0
				if b.ID == step.to.ID && e.Model == step.e.Model {
					want = 2 - len(chunks)/2
				}
				if found, err := s.Dense(t.Context(), b.ID, all, e, 5); err != nil || len(found) != want {
					t.Errorf("by %s: %d passages and not %d, %v", e.Model, len(found), want, err)
				}
			}
		}
	}
}

// threeWords is a model of three dimensions: how often a text has each of three words.
type threeWords struct{}

// Embed counts, and gives no text a vector of zeros.
func (threeWords) Embed(_ context.Context, texts []string) ([][]float32, error) {
	var all [][]float32
	for _, text := range texts {
		v := []float32{.1, .1, .1}
		for i, word := range []string{"apple", "pear", "plum"} {
			v[i] += float32(strings.Count(text, word))
		}
		all = append(all, v)
	}
	return all, nil
}

// searchesAlike holds that pgvector and memory find the same passages, with the same scores.
func searchesAlike(t *testing.T, pgvector *kbstore.Store) {
	t.Helper()
	file := must.Have(kbstore.OpenStore(t.Context(), filepath.Join(t.TempDir(), "k.db")))(t)
	defer file.Close()
	var said []string
	for _, s := range []*kbstore.Store{pgvector, file} {
		b := must.Have(s.Create(t.Context(), kbstore.Base{Name: "Fruit", Tenant: "a"}))(t)
		collection := must.Have(s.Collect(t.Context(), b.ID, "files"))(t)
		for i, text := range []string{"an apple and a pear", "a plum", "pear pear", "apple apple plum", "secret apple"} {
			vectors, _ := threeWords{}.Embed(t.Context(), []string{text})
			d := kbstore.Document{Collection: collection, Source: fmt.Sprint(i), Title: "T", Access: kbstore.Access{Tenant: "a", Public: true, Clearance: i / 4}}
			must.OK(t, s.Put(t.Context(), b.ID, &d, []kbstore.Chunk{{Text: text, Embedding: kbstore.Embedding{Model: "words", Vector: vectors[0]}}}))
		}
		local := &retrieval.Local{Store: s, Embedder: threeWords{}, Model: "words"}
		res := must.Have(local.Search(t.Context(), retrieval.Query{Text: "apple pear", Base: b.ID, Max: 10, Principal: &auth.Principal{Tenant: "a"}}))(t)
		var lines strings.Builder
		for _, f := range res.Results {
			fmt.Fprintf(&lines, "%.3f %s\n", f.Score, f.Content)
		}
		said = append(said, lines.String())
	}
	if said[0] != said[1] || strings.Contains(said[0], "secret") || strings.Count(said[0], "\n") != 4 {
		t.Errorf("pgvector finds\n%smemory finds\n%s", said[0], said[1])
	}
}
