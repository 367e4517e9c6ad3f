package kb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"toolnorm/internal/auth"
	"toolnorm/internal/test/must"
	"toolnorm/tools"
	"toolnorm/tools/kb/kbstore"
	"toolnorm/tools/kb/retrieval"
)

// fake is a backend that keeps what it was asked.
type fake struct {
	asked *retrieval.Query
	err   error
}

// Search finds nothing.
func (f *fake) Search(_ context.Context, q retrieval.Query) (*retrieval.Result, error) {
	f.asked = &q
	return &retrieval.Result{Query: q.Text, KnowledgeBase: q.Base, Threshold: q.Threshold, Results: []retrieval.Found{}}, f.err
}

// sampleID is the id of the specification's examples.
const sampleID = "cf23c222-b024-4533-81aa-52e4f673281e"

// call runs search_documents in a registry whose validator only says that it was reached.
func call(t *testing.T, b retrieval.Backend, who *auth.Principal, args string) tools.Result {
	t.Helper()
	r := tools.New(tools.Options{Fit: func(_ tools.Tool, args json.RawMessage) (json.RawMessage, error) {
		if strings.Contains(string(args), "unknown") {
			return nil, errors.New("the schema's words")
		}
		return args, nil
	}})
	must.OK(t, r.Set("kb", new(Config).searchDocuments(b, bases{})))
	ctx := t.Context()
	if who != nil {
		ctx = auth.WithPrincipal(ctx, who)
	}
	return r.Call(ctx, "search_documents", json.RawMessage(args))
}

func TestArgumentsAreRefusedInTheSpecificationsWords(t *testing.T) {
	const with = `{"query":"q","knowledge_base_id":"` + sampleID + `"`
	for args, want := range map[string]string{
		with + `,"threshold":1.5}`:                                 `{"status_code":400,"message":"threshold out of range (0.0-1.0)"}`,
		with + `,"threshold":-0.1}`:                                `{"status_code":400,"message":"threshold out of range (0.0-1.0)"}`,
		with + `,"threshold":"1.5"}`:                               `{"status_code":400,"message":"threshold out of range (0.0-1.0)"}`,
		with + `,"max_results":51}`:                                `{"status_code":400,"message":"max_results exceeds limit (50)"}`,
		with + `,"max_results":"99"}`:                              `{"status_code":400,"message":"max_results exceeds limit (50)"}`,
		with + `,"max_results":1.5}`:                               `{"status_code":400,"message":"max_results must be a whole number"}`,
		`{"query":" \n","knowledge_base_id":"` + sampleID + `"}`:   `{"status_code":400,"message":"query must not be empty"}`,
		with + `,"max_results":0}`:                                 `{"status_code":400,"message":"max_results must be at least 1"}`,
		with + `,"max_results":-3}`:                                `{"status_code":400,"message":"max_results must be at least 1"}`,
		`{"query":"q","knowledge_base_id":"sample","threshold":2}`: `{"status_code":400,"message":"knowledge_base_id must be a UUID"}`,
		`{"query":"q","knowledge_base_id":"sample","unknown":1}`:   `{"status_code":400,"message":"knowledge_base_id must be a UUID"}`,
		with + `,"unknown":1}`:                                     "the schema's words",
	} {
		b := new(fake)
		if got := call(t, b, auth.Local(), args); got.Text() != want || !got.IsError || b.asked != nil {
			t.Errorf("%s: %s, want %s", args, got.Text(), want)
		}
		// Who asks comes first.
		if got, want := call(t, b, nil, args), `{"status_code":401,"message":"Invalid authentication credentials"}`; got.Text() != want || string(got.Structured) != want {
			t.Errorf("%s, by nobody: %s", args, got.Text())
		}
	}
}

func TestDefaultsAreThoseOfTheSpecification(t *testing.T) {
	b := new(fake)
	got := call(t, b, auth.Local(), `{"query":"q","knowledge_base_id":"`+sampleID+`"}`)
	if got.IsError || b.asked.Threshold != .6 || b.asked.Max != 10 || b.asked.Principal.Subject != "local" {
		t.Errorf("%s, asked %+v", got.Text(), b.asked)
	}
	// The bounds themselves are inside, and 0 is not what is left out.
	for _, args := range []string{`,"threshold":0,"max_results":50}`, `,"threshold":1,"max_results":1.0}`} {
		if got := call(t, b, auth.Local(), `{"query":"q","knowledge_base_id":"`+sampleID+`"`+args); got.IsError {
			t.Errorf("%s: %s", args, got.Text())
		}
	}
	if b.asked.Threshold != 1 || b.asked.Max != 1 {
		t.Errorf("asked %+v", b.asked)
	}
}

func TestErrorsHaveTheStatusesOfTheSpecification(t *testing.T) {
	for want, err := range map[string]error{
		`{"status_code":401,"message":"Invalid authentication credentials"}`:      retrieval.ErrUnauthenticated,
		`{"status_code":403,"message":"Access denied to this knowledge base"}`:    kbstore.ErrDenied,
		`{"status_code":404,"message":"Knowledge base not found"}`:                kbstore.ErrNotFound,
		`{"status_code":503,"message":"Failed to connect to api-admin service"}`:  fmt.Errorf("%w: dial tcp 10.0.0.1", retrieval.ErrRemote),
		`{"status_code":503,"message":"Knowledge base store unavailable"}`:        fmt.Errorf("%w: /var/lib/x.db", retrieval.ErrUnavailable),
		`{"status_code":503,"message":"Knowledge base store unavailable"}` + "\n": errors.New("anything else"),
	} {
		got := call(t, &fake{err: err}, auth.Local(), `{"query":"q","knowledge_base_id":"`+sampleID+`"}`)
		if got.Text() != strings.TrimSpace(want) || !got.IsError || string(got.Structured) != got.Text() {
			t.Errorf("%v: %s, want %s", err, got.Text(), want)
		}
	}
}

// TestTheCauseIsForTheServersLog: callers, who may only have a token, are not told where the store
// is.
func TestTheCauseIsForTheServersLog(t *testing.T) {
	var logged, reported []string
	c := Config{Warn: func(text string) { logged = append(logged, text) }}
	ctx := tools.WithReporter(auth.WithPrincipal(t.Context(), auth.Local()), tools.Reporter{Log: func(_, text string) { reported = append(reported, text) }})
	for _, err := range []error{kbstore.ErrDenied, errors.New("failed to connect to `user=kb database=hr`")} {
		got, callErr := c.searchDocuments(&fake{err: err}, bases{}).Call(ctx, json.RawMessage(`{"query":"q","knowledge_base_id":"`+sampleID+`"}`))
		if callErr != nil || strings.Contains(got.Text(), "user=") {
			t.Errorf("%s, %v", got.Text(), callErr)
		}
	}
	if strings.Contains(strings.Join(reported, ""), "user=") || len(logged) != 1 || !strings.Contains(logged[0], "user=kb") {
		t.Errorf("the client heard %q, the log %q", reported, logged)
	}
}

// TestTheSampleOfTheSpecification has the sample's question, base and passage, and wants the keys
// of its answer.
func TestTheSampleOfTheSpecification(t *testing.T) {
	store := must.Have(kbstore.OpenStore(t.Context(), filepath.Join(t.TempDir(), "knowledge.db")))(t)
	defer store.Close()
	base := must.Have(store.Create(t.Context(), kbstore.Base{ID: sampleID, Name: "マイナビサービス概要", Tenant: "acme"}))(t)
	collection := must.Have(store.Collect(t.Context(), base.ID, "services"))(t)
	const text = "マイナビアルムナイは、退職者と企業をつなぐプラットフォームです。"
	for title, text := range map[string]string{"アルムナイサービス": text, "新卒採用": "新卒採用サイトの掲載料は別表のとおりです。", "転職支援": "転職支援の手順を示します。"} {
		d := kbstore.Document{Collection: collection, Source: title, Title: title, Access: kbstore.Access{Tenant: "acme", Public: true}}
		must.OK(t, store.Put(t.Context(), base.ID, &d, []kbstore.Chunk{{Text: text}}))
	}
	got := call(t, &retrieval.Local{Store: store}, auth.Local(),
		`{"query":"マイナビのアルムナイサービスについて教えて","knowledge_base_id":"`+sampleID+`","threshold":0.7,"max_results":5}`)
	var out struct {
		Query     string
		Base      string `json:"knowledge_base_id"`
		Threshold float64
		Results   []struct {
			Content  string
			Score    *float64
			Metadata map[string]any
		}
		Count  int
		Stages []map[string]any
	}
	if err := json.Unmarshal(got.Structured, &out); err != nil || got.IsError {
		t.Fatal(got.Text(), err)
	}
	if out.Query != "マイナビのアルムナイサービスについて教えて" || out.Base != sampleID || out.Threshold != .7 || out.Count != 1 || out.Results[0].Content != text {
		t.Fatalf("%s", got.Text())
	}
	for _, key := range []string{"chunk_id", "document_id", "chunk_index", "collection_id", "sparse_score", "dense_score", "rrf_score", "bm25_score", "cross_encoder_score"} {
		if _, there := out.Results[0].Metadata[key]; !there {
			t.Errorf("metadata has no %s", key)
		}
	}
	if m := out.Results[0].Metadata; m["dense_score"] != nil || m["chunk_index"] != 0.0 {
		t.Errorf("%v", m)
	}
	for _, s := range out.Stages {
		for _, key := range []string{"name", "in", "out", "ms", "status"} {
			if s[key] == nil {
				t.Errorf("a stage has no %s: %v", key, s)
			}
		}
	}
	if !strings.Contains(got.Text(), "マイナビアルムナイは") {
		t.Error("letters are escaped")
	}
}

func TestAnotherServiceSearches(t *testing.T) {
	var asked, authorization string
	status, reply := http.StatusOK, `{"results":[
		{"content":"a","score":0.92,"metadata":{"chunk_id":"chunk-abc-123","document_id":"doc-456","chunk_index":5,"collection_id":"coll-789","cross_encoder_score":0.92}},
		{"content":"b","score":0.7,"metadata":{"chunk_id":"c2"}},{"content":"c","score":0.4,"metadata":{}}]}`
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked, authorization = r.Method+" "+r.URL.Path+" "+string(body), r.Header.Get("Authorization")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, reply)
	}))
	defer s.Close()
	b := &retrieval.Remote{URL: s.URL + "/admin/search/hybrid"}
	who := &auth.Principal{Tenant: "acme", Token: "e30.e30.sig"}
	const args = `{"query":"q","knowledge_base_id":"` + sampleID + `"}`
	got := call(t, b, who, args)
	if want := `POST /admin/search/hybrid {"kb_id":"` + sampleID + `","query":"q","threshold":0.6,"top_k":10}`; asked != want || authorization != "Bearer e30.e30.sig" {
		t.Errorf("asked %s with %s", asked, authorization)
	}
	want := `"results":[{"content":"a","score":0.92,"metadata":{"chunk_id":"chunk-abc-123","document_id":"doc-456","chunk_index":5,"collection_id":"coll-789","sparse_score":null,"dense_score":null,"rrf_score":null,"bm25_score":null,"cross_encoder_score":0.92}},{"content":"b"`
	if !strings.Contains(got.Text(), want) || !strings.Contains(got.Text(), `"count":2,`) || !strings.Contains(got.Text(), `"score_source":"cross_encoder"`) {
		t.Errorf("got %s", got.Text())
	}
	for code, want := range map[int]string{401: `{"status_code":401,"message":"Invalid authentication credentials"}`, 403: `{"status_code":403,"message":"Access denied to this knowledge base"}`,
		404: `{"status_code":404,"message":"Knowledge base not found"}`, 500: `{"status_code":503,"message":"Failed to connect to api-admin service"}`} {
		status = code
		if got := call(t, b, who, args); got.Text() != want {
			t.Errorf("%d: %s", code, got.Text())
		}
	}
	status, reply = http.StatusOK, "<html>"
	if got, want := call(t, b, who, args), `{"status_code":503,"message":"Failed to connect to api-admin service"}`; got.Text() != want {
		t.Errorf("a page: %s", got.Text())
	}
	asked = ""
	if got, want := call(t, b, auth.Local(), args), `{"status_code":401,"message":"Invalid authentication credentials"}`; got.Text() != want || asked != "" {
		t.Errorf("without a token: %s, asked %s", got.Text(), asked)
	}
	s.Close()
	if got, want := call(t, b, who, args), `{"status_code":503,"message":"Failed to connect to api-admin service"}`; got.Text() != want {
		t.Errorf("nobody there: %s", got.Text())
	}
}

func TestTheDescriptionGuidesTheThreshold(t *testing.T) {
	text := new(Config).searchDocuments(new(fake), bases{}).Description
	for _, want := range []string{"0.5-0.6", "0.6-0.7", "0.7-0.8", "0.8-1.0", "recommended", "副業の申請方法は？"} {
		if !strings.Contains(text, want) {
			t.Errorf("the description has no %s", want)
		}
	}
}
