package kb

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"toolnorm/internal/auth"
	"toolnorm/internal/embedding"
	"toolnorm/internal/test/must"
	"toolnorm/internal/test/storetest"
	"toolnorm/tools"
	"toolnorm/tools/kb/kbstore"
)

// databases are those that the tests of this package use.
var databases storetest.Databases

func TestMain(m *testing.M) { os.Exit(databases.Main(m)) }

// embedder is a server that makes vectors of texts' lengths. It fails with texts that hold
// "explode", and counts the others.
func embedder(t *testing.T, asked *int) *embedding.Client {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		var out struct {
			Embeddings [][]float32 `json:"embeddings"`
		}
		for _, text := range body.Input {
			if strings.Contains(text, "explode") {
				http.Error(w, "out of memory", http.StatusInternalServerError)
				return
			}
			*asked++
			out.Embeddings = append(out.Embeddings, []float32{1, float32(len(text))})
		}
		_ = json.NewEncoder(w).Encode(out)
	}))
	t.Cleanup(srv.Close)
	return &embedding.Client{URL: srv.URL + "/api/embed", Model: "m"}
}

// opened is an open store with one knowledge base.
func opened(t *testing.T, where string, e *embedding.Client) (*KB, kbstore.Base) {
	t.Helper()
	k := must.Have(Open(t.Context(), Config{}, where, e, true))(t)
	t.Cleanup(func() { k.Close() })
	b := must.Have(k.Store.Create(t.Context(), kbstore.Base{Name: "Handbook", Tenant: "acme"}))(t)
	return k, b
}

// write puts files into a folder.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.OK(t, os.WriteFile(path, []byte(text), 0o600))
	}
}

// imported imports a folder, and says in words what became of each file.
func imported(t *testing.T, k *KB, in Import, dir string) (string, error) {
	t.Helper()
	var err error
	if in.Files, in.Sources, _, err = SourcesOf(dir); err != nil {
		t.Fatal(err)
	}
	var said []string
	in.Each = func(i Imported) {
		said = append(said, fmt.Sprintf("%s %s %d/%d %s", i.Source, i.Status, i.Embedded, i.Chunks, i.Error))
	}
	_, err = k.Import(t.Context(), in)
	return strings.Join(said, "\n"), err
}

// expect compares what an import said.
func expect(t *testing.T, got string, want ...string) {
	t.Helper()
	lines := strings.Split(got, "\n")
	if len(lines) != len(want) {
		t.Fatalf("said\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
	for i, line := range lines {
		if !strings.HasPrefix(strings.TrimSpace(line), want[i]) {
			t.Errorf("said %q, want %q", line, want[i])
		}
	}
}

func TestAnImportChangesWhatIsNew(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		asked := 0
		k, b := opened(t, where, embedder(t, &asked))
		dir := t.TempDir()
		write(t, dir, map[string]string{
			"a.md": "# A\n\n## One\n\nfirst\n\n## Two\n\nsecond\n", "ko/b.txt": "수당은 매달 지급됩니다.", "bad.pdf": "no pdf", "c.xyz": "not looked at", ".git/x.md": "hidden", ".hidden.md": "x",
		})
		in := Import{Base: b}
		got := must.Have(imported(t, k, in, dir))(t)
		expect(t, got, "a.md imported 2/2", "bad.pdf failed 0/0 it is not a PDF", "ko/b.txt imported 1/1")
		if asked != 2+1+1+1 { // passages, summaries (that of b.txt is its passage), the collection's
			t.Errorf("%d vectors were asked for", asked)
		}
		got, err := imported(t, k, in, dir)
		expect(t, got, "a.md unchanged 0/2", "bad.pdf failed", "ko/b.txt unchanged 0/1")
		if err != nil || asked != 5 {
			t.Errorf("a second import: %v, %d vectors", err, asked)
		}
		// One passage changes, and one file goes.
		write(t, dir, map[string]string{"a.md": "# A\n\n## One\n\nfirst\n\n## Two\n\nanother\n"})
		must.OK(t, os.Remove(filepath.Join(dir, "ko/b.txt")))
		got, _ = imported(t, k, in, dir)
		expect(t, got, "a.md imported 1/2", "bad.pdf failed")
		in.Prune = true
		got, _ = imported(t, k, in, dir)
		expect(t, got, "a.md unchanged 0/2", "bad.pdf failed", "ko/b.txt removed")
		in.Access.Departments, in.Access.Clearance = []string{"hr", "hr"}, 2
		got, _ = imported(t, k, in, dir)
		expect(t, got, "a.md imported 0/2", "bad.pdf failed")

		all, err := k.Store.Changes(t.Context(), b.ID, 0)
		if err != nil || len(all.Documents) != 1 || len(all.Chunks) != 2 {
			t.Fatalf("%+v, %v", all, err)
		}
		d := all.Documents[0]
		if d.Title != "A" || d.Summary != "A\nfirst\nOne\nTwo" || d.Tenant != "acme" || d.Public || !slices.Equal(d.Departments, []string{"hr"}) || d.Clearance != 2 || d.Model != "m" || len(d.Vector) != 2 {
			t.Errorf("the document is %+v", d)
		}
		if c := all.Collections[0]; c.Name != "documents" || c.Summary != "documents\nA" || c.Model != "m" {
			t.Errorf("the collection is %+v", c)
		}
		if all.Chunks[1].Text != "another" || all.Chunks[1].Heading != "Two" || all.Chunks[1].Model != "m" {
			t.Errorf("a passage is %+v", all.Chunks[1])
		}
	})
}

func TestAnImportGoesOnWhereItStopped(t *testing.T) {
	asked := 0
	k, b := opened(t, filepath.Join(t.TempDir(), "k.db"), embedder(t, &asked))
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.md": "fine", "b.md": "explode", "c.md": "later"})
	got, err := imported(t, k, Import{Base: b}, dir)
	if err == nil || !strings.Contains(err.Error(), "b.md: embed with m") {
		t.Errorf("the model failed, and the import said %v", err)
	}
	expect(t, got, "a.md imported 1/1")
	write(t, dir, map[string]string{"b.md": "no more"})
	got, err = imported(t, k, Import{Base: b}, dir)
	must.OK(t, err)
	expect(t, got, "a.md unchanged 0/1", "b.md imported 1/1", "c.md imported 1/1")
}

func TestWithoutAModelThereAreNoVectors(t *testing.T) {
	k, b := opened(t, filepath.Join(t.TempDir(), "k.db"), nil)
	dir := t.TempDir()
	write(t, dir, map[string]string{"a.md": "text"})
	got := must.Have(imported(t, k, Import{Base: b}, dir))(t)
	expect(t, got, "a.md imported 0/1")
	all, err := k.Store.Documents(t.Context(), b.ID, kbstore.FilterOf(&auth.Principal{Tenant: "acme"}))
	if err != nil || len(all) != 1 || all[0].Model != "" || len(all[0].Vector) > 0 {
		t.Errorf("%+v, %v", all, err)
	}
	// When a model comes, they are made.
	asked := 0
	k.Embedder = embedder(t, &asked)
	got, _ = imported(t, k, Import{Base: b}, dir)
	expect(t, got, "a.md imported 1/1")
}

func TestWhatCannotBeImported(t *testing.T) {
	dir := t.TempDir()
	if _, _, _, err := SourcesOf(filepath.Join(dir, "nothing")); err == nil {
		t.Error("a path that is not there was taken")
	}
	write(t, dir, map[string]string{"a.xyz": "x"})
	if _, _, _, err := SourcesOf(dir); err == nil || !strings.Contains(err.Error(), ".md") {
		t.Errorf("a folder without any: %v", err)
	}
	k, b := opened(t, filepath.Join(t.TempDir(), "k.db"), nil)
	got := must.Have(imported(t, k, Import{Base: b}, filepath.Join(dir, "a.xyz")))(t) // named, so it is said
	expect(t, got, "a.xyz failed 0/0 files of this ending cannot be read")
	if _, err := k.Import(t.Context(), Import{Base: kbstore.Base{ID: "cf23c222-b024-4533-81aa-52e4f673281e"}}); err == nil {
		t.Error("a base that is not there was filled")
	}
	if _, err := new(KB).Import(t.Context(), Import{}); err == nil {
		t.Error("an import without a store")
	}
}

// TestEveryFileThatIsLeftOutIsNamed holds that no file of a folder is passed over without a reason.
func TestEveryFileThatIsLeftOutIsNamed(t *testing.T) {
	dir := t.TempDir()
	all := map[string]string{"a.md": "x", "b/c.docx": "x", "old.doc": "x", "pic.PNG": "x", "data.json": "x", "README": "x", ".hidden.md": "x", ".git/config": "x", "b/z.hwp": "x", "b/~$c.docx": "x"}
	write(t, dir, all)
	if os.WriteFile(filepath.Join(dir, "caf\xe9.md"), []byte("x"), 0o600) == nil {
		all["caf\xe9.md"] = "a name that some systems refuse"
	}
	_ = os.Symlink(dir, filepath.Join(dir, "round"))
	all["round"] = "a link"
	_, sources, left, err := SourcesOf(dir)
	if err != nil || !slices.Equal(sources, []string{"a.md", "b/c.docx"}) {
		t.Fatalf("%v, %v", sources, err)
	}
	for _, l := range left {
		sources = append(sources, l.Source)
		if l.Why == "" || l.Kind == "" {
			t.Errorf("%+v", l)
		}
	}
	for name := range all {
		if !slices.ContainsFunc(sources, func(s string) bool { return s == name || strings.HasPrefix(name, s+"/") }) {
			t.Errorf("%s is not mentioned in %v", name, left)
		}
	}
}

func TestWhenTheToolsAreOffered(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.db")
	for _, c := range []struct {
		tools  string
		create bool
		bases  int
		want   bool
	}{
		{"auto", false, 0, false}, {"auto", true, 0, false}, {"auto", true, 1, true}, {"never", true, 0, false}, {"always", false, 0, true},
	} {
		where := missing
		if c.create {
			where = filepath.Join(t.TempDir(), "k.db")
		}
		k := must.Have(Open(t.Context(), Config{Tools: c.tools}, where, nil, c.create))(t)
		for range c.bases {
			must.Have(k.Store.Create(t.Context(), kbstore.Base{Name: "x"}))(t)
		}
		if got, err := k.Wanted(t.Context()); err != nil || got != c.want {
			t.Errorf("%+v: %v, %v", c, got, err)
		}
		must.OK(t, k.Close())
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("a file was made that nobody asked for")
	}
}

// TestAnotherProgramFindsAtOnceWhatWasImported searches with one opening of a store behind an
// import by another: nobody waits for a notice, since each question looks at the version of the
// base.
func TestAnotherProgramFindsAtOnceWhatWasImported(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		k, b := opened(t, where, nil)
		other := must.Have(Open(t.Context(), Config{}, where, nil, true))(t)
		defer other.Close()
		found := func(query string) string {
			args := must.Have(json.Marshal(map[string]any{"query": query, "knowledge_base_id": b.ID, "threshold": 0}))(t)
			list := other.Tools()
			at := slices.IndexFunc(list, func(o tools.Tool) bool { return o.Name == "search_documents" })
			res := must.Have(list[at].Call(auth.WithPrincipal(t.Context(), &auth.Principal{Tenant: "acme"}), args))(t)
			return res.Text()
		}
		for _, text := range []string{"副業は許可が要ります。", "副業は自由です。"} { // the second takes the place of the first
			must.Have(k.Add(t.Context(), Import{Base: b}, "rules.md", []byte(text), nil))(t)
			if got := found("副業"); !strings.Contains(got, text) || !strings.Contains(got, `"count":1`) {
				t.Errorf("behind the import of %s it finds %s", text, got)
			}
		}
		must.Have(k.Add(t.Context(), Import{Base: b, Access: kbstore.Access{Tenant: "other"}}, "rules.md", []byte("副業は秘密です。"), nil))(t)
		if got := found("副業"); strings.Contains(got, "秘密") || strings.Contains(got, "自由") {
			t.Errorf("new rights are not heeded: %s", got)
		}
	})
}

// TestAPassageThatTheModelRefusesStopsNoOther imports files of which some are longer than the
// model's context, and one that it never takes or has zeros for. All are imported; a model that
// refuses everything or gives vectors of another length is an error.
func TestAPassageThatTheModelRefusesStopsNoOther(t *testing.T) {
	most, dimensions := 100, 2
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var ask struct{ Input []string }
		_ = json.NewDecoder(r.Body).Decode(&ask)
		vectors := [][]float32{}
		for _, text := range ask.Input {
			if len(text) > most || strings.Contains(text, "odd") {
				http.Error(w, `{"error":"the input length exceeds the context length"}`, http.StatusBadRequest)
				return
			}
			if strings.Contains(text, "nothing") {
				vectors = append(vectors, make([]float32, dimensions))
				continue
			}
			vectors = append(vectors, append(make([]float32, dimensions-1), float32(len(text))))
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"embeddings": vectors})
	}))
	defer srv.Close()
	k, b := opened(t, filepath.Join(t.TempDir(), "k.db"), &embedding.Client{URL: srv.URL + "/api/embed", Model: "m"})
	files := fstest.MapFS{}
	var sources []string
	for i, text := range []string{"short", strings.Repeat("a long passage. ", 40), "short, too", strings.Repeat("odd ", 30), "the nothing last"} {
		name := fmt.Sprintf("%d.md", i)
		files[name], sources = &fstest.MapFile{Data: []byte(text)}, append(sources, name)
	}
	total, err := k.Import(t.Context(), Import{Base: b, Files: files, Sources: sources})
	if err != nil || total.Imported != 5 || total.Failed != 0 || total.Embedded < 3 || total.Embedded == total.Chunks {
		t.Errorf("%+v, %v", total, err)
	}
	dimensions = 3
	files["5.md"] = &fstest.MapFile{Data: []byte("more of it")}
	if _, err := k.Import(t.Context(), Import{Base: b, Files: files, Sources: append(sources, "5.md")}); err == nil || !strings.Contains(err.Error(), "vectors of 3 dimensions, and the knowledge base has vectors of 2") {
		t.Errorf("vectors of another length: %v", err)
	}
	most = 0
	files["5.md"] = &fstest.MapFile{Data: []byte("more")}
	if _, err := k.Import(t.Context(), Import{Base: b, Files: files, Sources: append(sources, "5.md")}); err == nil || !strings.Contains(err.Error(), "context length") {
		t.Errorf("a model that takes nothing: %v", err)
	}
}
