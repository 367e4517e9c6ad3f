package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
	"toolnorm/internal/test/storetest"
	"toolnorm/tools"
	"toolnorm/tools/data"
)

// npmPart is the folder of the cache in which the packages of a folder of this lane are; the test
// is skipped, or fails in CI, where they are not installed.
func npmPart(t *testing.T, name string) string {
	t.Helper()
	folder, err := npmFolder(name)
	if err == nil {
		_, err = os.Stat(folder)
	}
	demand(t, err, nil)
	return folder
}

// startChroma starts the real Chroma, and gives its port.
func startChroma(t *testing.T) int {
	t.Helper()
	folder := npmPart(t, "chroma")
	addr := must.Have(freeAddr())(t)
	port := addr[strings.LastIndexByte(addr, ':')+1:]
	l := &lane{dir: t.TempDir()}
	t.Cleanup(l.stop)
	cmd := exec.Command("node", "chroma/serve.mjs", folder, filepath.Join(l.dir, "data"), port)
	must.OK(t, l.run("chroma", cmd, "http://"+addr+"/api/v2/heartbeat"))
	return must.Have(strconv.Atoi(port))(t)
}

// TestRealEmbeddingsInTheStoreAndInChroma imports documents with vectors of a real Ollama into the
// store and into a real Chroma: both have to find the same, in the same order.
func TestRealEmbeddingsInTheStoreAndInChroma(t *testing.T) {
	l := open(t)
	port := startChroma(t)
	t.Cleanup(func() { l.newest.unload("embed") }) // doctor's reports say what is loaded
	path := filepath.Join(t.TempDir(), "words.txt")
	words := []string{"a red apple", "the invoice of March", "사용자 이메일 주소", "order date", "a green pear", "주문 번호"}
	must.Write(t, path, strings.Join(words, "\n"))
	embedder := data.Config{EmbeddingURL: l.newest.base + "/api/embed", EmbeddingModel: "embed"}
	inChroma := embedder
	inChroma.ChromaHost, inChroma.ChromaPort, inChroma.ChromaCollection = "127.0.0.1", port, "column_metadata"
	var found []string
	for _, config := range []data.Config{embedder, inChroma} {
		db := storetest.Open(t, filepath.Join(t.TempDir(), "x.db"))
		d := must.Have(data.Open(t.Context(), config, db, nil, nil))(t)
		for _, embedded := range []int{len(words), 0} { // the second time nothing is left to do
			all, err := d.Import(t.Context(), path, nil)
			if err != nil || len(all) != 1 || all[0].Documents != len(words) || all[0].Embedded != embedded {
				t.Fatalf("Import = %+v, %v", all, err)
			}
		}
		offered := must.Have(d.Tools(t.Context()))(t)
		search := offered[slices.IndexFunc(offered, func(o tools.Tool) bool { return o.Name == "search_similar_documents" })]
		res := must.Have(search.Call(t.Context(), []byte(`{"query_list":["사용자 이메일 주소","order date"],"n_results":6}`)))(t)
		text, _, _ := strings.Cut(res.Text(), `,"stages"`)
		if !strings.HasPrefix(text, `{"documents":[["사용자 이메일 주소",`) || !strings.Contains(text, `],["order date",`) {
			t.Errorf("what is the same is not the nearest: %s", text)
		}
		found = append(found, text)
	}
	if found[0] != found[1] {
		t.Errorf("the store finds %s\nChroma finds    %s", found[0], found[1])
	}
}
