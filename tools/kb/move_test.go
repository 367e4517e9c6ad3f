package kb

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"toolnorm/internal/auth"
	"toolnorm/internal/embedding"
	"toolnorm/internal/test/must"
	"toolnorm/tools/kb/kbstore"
)

// TestADocumentIsMoved keeps its vectors where they are right for the other base, and makes others
// where they are not.
func TestADocumentIsMoved(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		asked := 0
		k, from := opened(t, where, embedder(t, &asked))
		to := must.Have(k.Store.Create(t.Context(), kbstore.Base{Name: "Archive"}))(t)
		add := func(b kbstore.Base, name, text string) string {
			t.Helper()
			done, err := k.Add(t.Context(), Import{Base: b, Collection: "rules"}, name, []byte(text), nil)
			if err != nil || done.Status != StatusImported {
				t.Fatal(done, err)
			}
			return done.Document
		}
		id := add(from, "leave.md", "# Leave\n\nTwenty days.")
		add(from, "pay.md", "# Pay\n\nMonthly.")
		if made, err := k.Move(t.Context(), from, to, id); err != nil || made != 0 {
			t.Errorf("Move made %d vectors: %v", made, err)
		}
		summaries := func(b kbstore.Base) string {
			t.Helper()
			all, err := k.Store.Collections(t.Context(), b.ID)
			if err != nil || len(all) != 1 || all[0].Name != "rules" {
				t.Fatal(all, err)
			}
			return all[0].Summary
		}
		if got := summaries(from); got != "rules\nPay" {
			t.Errorf("the old collection is %q", got)
		}
		if got := summaries(to); got != "rules\nLeave" {
			t.Errorf("the new collection is %q", got)
		}
		// Another model makes the vectors anew; one that fails leaves the document where it is.
		k.Embedder = embedder(t, &asked)
		k.Embedder.Model = "n"
		if made, err := k.Move(t.Context(), to, from, id); err != nil || made != 1 {
			t.Errorf("Move made %d vectors: %v", made, err)
		}
		chunks, err := k.Store.DocumentChunks(t.Context(), from.ID, id, kbstore.FilterOf(auth.Local()))
		if err != nil || len(chunks) != 1 || chunks[0].Model != k.Embedder.Name() || chunks[0].Vector == nil {
			t.Errorf("%+v, %v", chunks, err)
		}
		if _, err := k.Move(t.Context(), from, to, "no such"); !errors.Is(err, kbstore.ErrNoDocument) {
			t.Errorf("no document: %v", err)
		}
		k.Embedder = &embedding.Client{URL: "http://127.0.0.1:1", Model: "o"}
		if _, err := k.Move(t.Context(), from, to, id); err == nil {
			t.Error("moved without vectors that fit")
		}
		if all, err := k.Store.Documents(t.Context(), from.ID, kbstore.FilterOf(auth.Local())); err != nil || len(all) != 2 {
			t.Errorf("%v, %v", all, err)
		}
	})
}

// TestVectorsOfAnotherLengthAreNotMixed: by one name, without the model that could make them anew.
func TestVectorsOfAnotherLengthAreNotMixed(t *testing.T) {
	k, from := opened(t, filepath.Join(t.TempDir(), "k.db"), nil)
	to := must.Have(k.Store.Create(t.Context(), kbstore.Base{Name: "Archive"}))(t)
	put := func(b kbstore.Base, source string, vector ...float32) string {
		t.Helper()
		collection := must.Have(k.Store.Collect(t.Context(), b.ID, "files"))(t)
		e := kbstore.Embedding{Model: "m", Vector: vector}
		d := kbstore.Document{Collection: collection, Source: source, Embedding: e}
		must.OK(t, k.Store.Put(t.Context(), b.ID, &d, []kbstore.Chunk{{Text: source, Embedding: e}}))
		return d.ID
	}
	two, three := put(from, "a", 1, 2), put(from, "b", 1, 2, 3)
	put(to, "c", 1, 2, 3)
	if _, err := k.Move(t.Context(), from, to, two); err == nil || !strings.Contains(err.Error(), "embedding model") {
		t.Errorf("%v", err)
	}
	must.Have(k.Move(t.Context(), from, to, three))(t)
}
