package retrieval

import (
	crypto "crypto/rand"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"toolnorm/internal/test/questions"
	"toolnorm/tools/kb/kbstore"
)

// question is one of the evaluation.
type question = questions.Question

// languages are those of the sample.
var languages = questions.Languages

// readQuestions reads testdata/questions.txt.
func readQuestions(t testing.TB) []question {
	t.Helper()
	all, err := questions.OfSample("..")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// openStore is a store in a file of its own.
func openStore(t testing.TB) *kbstore.Store {
	t.Helper()
	s, err := kbstore.OpenStore(t.Context(), filepath.Join(t.TempDir(), "knowledge.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// fill makes a base of documents, each of passages under headings, that everyone of a tenant may
// see.
func fill(t testing.TB, s *kbstore.Store, documents map[string][]kbstore.Chunk) kbstore.Base {
	t.Helper()
	base, err := s.Create(t.Context(), kbstore.Base{Name: "sample " + crypto.Text(), Tenant: "acme"})
	if err != nil {
		t.Fatal(err)
	}
	collection, err := s.Collect(t.Context(), base.ID, "all")
	if err != nil {
		t.Fatal(err)
	}
	for source, chunks := range documents {
		title := source
		if len(chunks) > 0 {
			title, _, _ = strings.Cut(chunks[0].Heading, " > ")
		}
		d := kbstore.Document{Collection: collection, Source: source, Title: title, Access: kbstore.Access{Tenant: "acme", Public: true}}
		if err := s.Put(t.Context(), base.ID, &d, chunks); err != nil {
			t.Fatal(err)
		}
	}
	return base
}

// sample is the sample knowledge base in a language, one passage a section.
func sample(t testing.TB, language string) map[string][]kbstore.Chunk {
	t.Helper()
	documents, err := questions.Sample("..", language)
	if err != nil {
		t.Fatal(err)
	}
	return documents
}

// sources are the names by which questions call passages, by their ids.
func sources(t testing.TB, s *kbstore.Store, base kbstore.Base) map[string]string {
	t.Helper()
	changes, err := s.Changes(t.Context(), base.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	documents, names := map[string]string{}, map[string]string{}
	for _, d := range changes.Documents {
		documents[d.ID] = d.Source
	}
	for _, c := range changes.Chunks {
		names[c.ID] = fmt.Sprintf("%s#%d", documents[c.Document], c.Index)
	}
	return names
}

// embedded gives the passages vectors, when there is a model.
func embedded(t testing.TB, set *Local, documents map[string][]kbstore.Chunk) map[string][]kbstore.Chunk {
	t.Helper()
	if set.Embedder == nil {
		return documents
	}
	for _, chunks := range documents {
		for i := range chunks {
			vectors, err := set.Embedder.Embed(t.Context(), []string{chunks[i].Heading + "\n" + chunks[i].Text})
			if err != nil {
				t.Fatal(err)
			}
			chunks[i].Embedding = kbstore.Embedding{Model: set.Model, Vector: vectors[0]}
		}
	}
	return documents
}
