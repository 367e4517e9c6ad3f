package admin

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolnorm/internal/auth"
	"toolnorm/internal/test/must"
	"toolnorm/tools/kb"
	"toolnorm/tools/kb/chunk"
)

// knowledgeServer is a server with an empty store of knowledge bases.
func knowledgeServer(t *testing.T) *Server {
	t.Helper()
	return knowledgeAt(t, filepath.Join(t.TempDir(), "k.db"))
}

// knowledgeAt is a server on a store.
func knowledgeAt(t *testing.T, where string) *Server {
	t.Helper()
	k := must.Have(kb.Open(t.Context(), kb.Config{}, where, nil, true))(t)
	t.Cleanup(func() { k.Close() })
	return New(Config{KB: k})
}

// What the command line or another replica imports is told to the pages of this one.
func TestPagesHearOfKnowledgeThatOthersChange(t *testing.T) {
	where := filepath.Join(t.TempDir(), "k.db")
	here, there := knowledgeAt(t, where), knowledgeAt(t, where)
	page := here.events.join()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { here.Watch(ctx); close(ended) }()
	// A change in front of the listening is not heard of, so another is made.
	for name, told := "x", false; !told; name += "x" {
		if status, body := asked(t, there, "POST", API+"knowledge-bases", `{"name":"`+name+`"}`); status != 201 {
			t.Fatal(status, body)
		}
		select {
		case <-page.wake:
			told = true
		case <-time.After(time.Second):
		}
	}
	if kinds := page.take(); !slices.Equal(kinds, []string{"knowledge"}) {
		t.Errorf("told of %q", kinds)
	}
	cancel()
	<-ended
}

func TestKnowledgeBasesAreManaged(t *testing.T) {
	s := knowledgeServer(t)
	const id = "cf23c222-b024-4533-81aa-52e4f673281e"
	data := base64.StdEncoding.EncodeToString([]byte("<title>Page</title><p>text"))
	for _, row := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "", "", 200, `{"knowledge_bases":[]}`},
		{"POST", "", `{"name":" "}`, 400, `"param":"name"`},
		{"POST", "", `{"name":"x","id":"1"}`, 400, `"param":"id"`},
		{"POST", "", `{"name":"x","owner":"1"}`, 400, `"param":"owner"`},
		{"POST", "", `{"name":"Handbook","id":"` + id + `","tenant":"acme"}`, 201, `"name":"Handbook"`},
		{"POST", "", `{"name":"Handbook","id":"` + id + `"}`, 409, `"code":"name_taken"`},
		{"POST", "", `{"name":"Handbook","tenant":"acme"}`, 409, `with this name or id already`},
		{"GET", "/" + id, "", 200, `"statistics":{"total_collections":0,"total_documents":0,"total_chunks":0},"collections":[],"documents":[]}`},
		{"POST", "/" + id + "/documents", `{"name":"leave.md","text":"# Leave\n\nTwenty days.","departments":["hr"],"clearance":1}`, 200, `"status":"imported"`},
		{"POST", "/" + id + "/documents", `{"name":"leave.md","text":"# Leave\n\nTwenty days.","departments":["hr"],"clearance":1}`, 200, `"status":"unchanged"`},
		{"POST", "/" + id + "/documents", `{"name":"page.html","data":"` + data + `"}`, 200, `"chunks":1`},
		{"POST", "/" + id + "/documents", `{"name":"../x.md","text":"x"}`, 200, `"status":"failed"`},
		{"POST", "/" + id + "/documents", `{"name":"a.pdf","text":"x"}`, 200, `not a PDF`},
		{"GET", "", "", 200, `"total_documents":2,"total_chunks":2}`},
		{"GET", "/" + id, "", 200, `"title":"Leave","source":"leave.md","summary":"Leave\nTwenty days.","chunk_count":1,"tenant":"acme","public":false,"departments":["hr"],"clearance":1`},
		{"DELETE", "/" + id + "/documents/" + id, "", 404, "no such document"},
		{"DELETE", "/" + id, "", 204, ""},
		{"GET", "/" + id, "", 404, "Knowledge base not found"},
	} {
		answers(t, s, row.method, API+"knowledge-bases"+row.path, row.body, row.status, row.want)
	}
}

func TestAnImportTellsHowFarItIs(t *testing.T) {
	s := knowledgeServer(t)
	_, body := asked(t, s, "POST", API+"knowledge-bases", `{"name":"x"}`)
	var made struct{ ID string }
	must.OK(t, json.Unmarshal([]byte(body), &made))
	path := API + "knowledge-bases/" + made.ID + "/documents"
	w := ask(s, auth.Local(), "POST", path, `{"name":"a.md","text":"text"}`, "Accept", "text/event-stream")
	if got := w.Body.String(); !strings.HasPrefix(got, "event: progress\ndata: {\"all\":1,\"done\":0}\n\nevent: imported\ndata: {\"source\":\"a.md\",\"status\":\"imported\"") {
		t.Errorf("the stream is %q", got)
	}
	// The document can be taken out by its id.
	_, shown := asked(t, s, "GET", API+"knowledge-bases/"+made.ID, "")
	var all struct {
		Documents []struct{ ID string }
	}
	if err := json.Unmarshal([]byte(shown), &all); err != nil || len(all.Documents) != 1 {
		t.Fatalf("%s: %v", shown, err)
	}
	answers(t, s, "DELETE", path+"/"+all.Documents[0].ID, "", 204, "")
}

func TestADocumentIsMovedToAnotherBase(t *testing.T) {
	s := knowledgeServer(t)
	const from, to = "cf23c222-b024-4533-81aa-52e4f673281e", "0b7a2c11-5a0e-4a52-9d0f-0d5a5c1b7f10"
	for id, name := range map[string]string{from: "Handbook", to: "Archive"} {
		if status, body := asked(t, s, "POST", API+"knowledge-bases", `{"name":"`+name+`","id":"`+id+`"}`); status != 201 {
			t.Fatal(status, body)
		}
	}
	add := func(base string) string {
		t.Helper()
		_, body := asked(t, s, "POST", API+"knowledge-bases/"+base+"/documents", `{"name":"leave.md","text":"# Leave\n\nTwenty days."}`)
		var done kb.Imported
		if err := json.Unmarshal([]byte(body), &done); err != nil || done.Status != kb.StatusImported {
			t.Fatal(body, err)
		}
		return done.Document
	}
	id := add(from)
	path := "/" + from + "/documents/" + id + "/move"
	page := s.events.join()
	for _, row := range []struct {
		path, body string
		status     int
		want       string
	}{
		{path, `{"to":"` + from + `"}`, 400, `"param":"to"`},
		{path, `{"to":"no such"}`, 400, `"param":"to"`},
		{path, `{"base":"` + to + `"}`, 400, `"param":"base"`},
		{"/" + to + "/documents/" + id + "/move", `{"to":"` + from + `"}`, 404, "no such document"},
		{path, `{"to":"` + to + `"}`, 200, `{"embedded":0}`},
		{path, `{"to":"` + to + `"}`, 404, "no such document"},
	} {
		answers(t, s, "POST", API+"knowledge-bases"+row.path, row.body, row.status, row.want)
	}
	if kinds := page.take(); !slices.Equal(kinds, []string{"knowledge"}) {
		t.Errorf("pages were told of %q", kinds)
	}
	for base, want := range map[string]string{from: `"documents":[]`, to: `"source":"leave.md"`} {
		if _, body := asked(t, s, "GET", API+"knowledge-bases/"+base, ""); !strings.Contains(body, want) {
			t.Errorf("%s lacks %s", body, want)
		}
	}
	again := add(from)
	answers(t, s, "POST", API+"knowledge-bases/"+from+"/documents/"+again+"/move", `{"to":"`+to+`"}`, 409, `"name_taken"`)
}

func TestWithoutAStoreThereAreNoKnowledgeBases(t *testing.T) {
	for _, s := range []*Server{New(Config{}), New(Config{KB: new(kb.KB)})} {
		if status, body := asked(t, s, "GET", API+"knowledge-bases", ""); status == 200 || !strings.Contains(body, "no store is open") {
			t.Errorf("%d %s", status, body)
		}
	}
}

// TestThePageOffersAllFilesThatAreRead compares what the page lets one choose with what is read.
func TestThePageOffersAllFilesThatAreRead(t *testing.T) {
	page := must.Read(t, "web/src/pages/knowledge.tsx")
	if want := "'" + strings.Join(chunk.Endings(), ",") + "'"; !strings.Contains(string(page), want) {
		t.Errorf("knowledge.tsx lacks %s", want)
	}
}
