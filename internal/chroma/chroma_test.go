package chroma

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// fake is a server with one collection, docs, that was made anew: it has had another id before.
type fake struct {
	id    string
	paths []string
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, "/api/v2"+collections)
	f.paths = append(f.paths, path)
	switch {
	case r.Header.Get("X-Chroma-Token") != "t":
		w.WriteHeader(http.StatusForbidden)
	case path == "/docs":
		fmt.Fprintf(w, `{"id":%q,"name":"docs"}`, f.id)
	case path == "/"+f.id+"/query":
		var body struct {
			N int `json:"n_results"`
		}
		_ = json.NewDecoder(r.Body).Decode(&body)
		fmt.Fprintf(w, `{"documents":[["first",null,"n is %d"],[]]}`, body.N)
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"error":"NotFoundError","message":"Collection [nope] does not exists"}`)
	}
}

func TestACollectionThatWasMadeAnewIsFoundAgain(t *testing.T) {
	f := &fake{id: "one"}
	s := httptest.NewServer(f)
	defer s.Close()
	c := &Client{Host: s.URL, Collection: "docs", Header: "X-Chroma-Token: t"}
	ask := func() {
		t.Helper()
		texts, err := c.Query(t.Context(), [][]float32{{1}, {2}}, 4)
		if got := fmt.Sprintf("%q", texts); err != nil || got != `[["first" "n is 4"] []]` {
			t.Errorf("%s, %v", got, err)
		}
	}
	ask()
	f.id = "two"
	ask()
	if got := strings.Join(f.paths, " "); got != "/docs /one/query /one/query /docs /two/query" {
		t.Errorf("asked for %s", got)
	}
}

func TestTheServersOwnSentenceIsTold(t *testing.T) {
	s := httptest.NewServer(&fake{id: "one"})
	defer s.Close()
	for want, c := range map[string]*Client{
		"Chroma: Collection [nope] does not exists (404)": {Host: s.URL, Collection: "nope", Header: "X-Chroma-Token: t"},
		"Chroma: Forbidden (403)":                         {Host: s.URL, Collection: "docs"},
	} {
		_, err := c.Query(t.Context(), [][]float32{{1}}, 1)
		var said *Error
		if !errors.As(err, &said) || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestNothingIsDeletedWithoutIDs(t *testing.T) {
	f := &fake{id: "one"}
	s := httptest.NewServer(f)
	defer s.Close()
	if err := (&Client{Host: s.URL, Collection: "docs"}).Delete(t.Context(), nil); err != nil || len(f.paths) > 0 {
		t.Errorf("%v, asked for %q", err, f.paths)
	}
}
