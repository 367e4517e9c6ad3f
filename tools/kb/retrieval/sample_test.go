package retrieval

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolnorm/tools/kb/kbstore"
)

// question is one of the evaluation, with the passages that answer it.
type question struct {
	language, kind, text string
	right                map[string]bool // by source#index
}

// languages are those of the sample.
var languages = []string{"ja", "ko", "en"}

// readQuestions reads testdata/questions.txt.
func readQuestions(t testing.TB) (all []question) {
	t.Helper()
	f, err := os.Open("testdata/questions.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "#") || lines.Text() == "" {
			continue
		}
		part := strings.SplitN(lines.Text(), " ", 4)
		document, section, _ := strings.Cut(part[2], ".")
		q := question{part[0], part[1], part[3], map[string]bool{}}
		for i := 1; i <= 5; i++ {
			if section == "*" || section == fmt.Sprint(i) {
				q.right[fmt.Sprintf("%s.md#%d", document, i-1)] = true
			}
		}
		if len(q.right) == 0 && q.kind != "none" {
			t.Fatalf("no such section: %s", lines.Text())
		}
		all = append(all, q)
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
	base, err := s.Create(t.Context(), kbstore.Base{Name: "sample", Tenant: "acme"})
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
	files, err := filepath.Glob("../sample/" + language + "/*.md")
	if err != nil || len(files) == 0 {
		t.Fatal("no sample: ", err)
	}
	documents := map[string][]kbstore.Chunk{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parts := strings.Split(string(text), "\n## ")
		title, _, _ := strings.Cut(strings.TrimPrefix(parts[0], "# "), "\n")
		for _, part := range parts[1:] {
			heading, body, _ := strings.Cut(part, "\n")
			documents[filepath.Base(file)] = append(documents[filepath.Base(file)], kbstore.Chunk{Heading: title + " > " + heading, Text: strings.TrimSpace(body)})
		}
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
