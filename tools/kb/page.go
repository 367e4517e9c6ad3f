package kb

import (
	"errors"
	"html/template"
	"net/http"
	"slices"
	"strconv"

	"toolnorm/internal/auth"
	"toolnorm/internal/fault"
	"toolnorm/tools/kb/kbstore"
)

// Paths is the prefix of the paths under which passages are shown: Paths + BASE/DOCUMENT/PASSAGE.
const Paths = "/kb/"

// page is the template that shows a document with one passage marked. It needs no script.
var page = template.Must(template.New("page").Parse(`<!doctype html>
<html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{{.Title}}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}
section{white-space:pre-wrap;padding:.3rem .8rem;border-left:4px solid transparent}section.cited{border-color:#06c}small{opacity:.75}</style></head>
<body><h1>{{.Title}}</h1><p><small>{{.Base}} · {{.Source}}</small></p>
{{range .Passages}}<section id="p{{.Index}}"{{if .Cited}} class="cited" aria-current="true"{{end}}>{{if .Heading}}<small>{{.Heading}}</small>
{{end}}{{.Text}}</section>
{{end}}</body></html>
`))

// shownPassages is how many passages are shown before and after the requested one.
const shownPassages = 20

// ServePassage handles a request for a passage. It shows the passage among its neighbours if the
// caller may see the document, and otherwise answers with a not-found error.
func (k *KB) ServePassage(w http.ResponseWriter, r *http.Request) {
	var err error = errOnlyRead
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		err = k.showPassage(w, r)
	}
	if err != nil {
		fault.Write(w, err)
	}
}

// errOnlyRead is the error for methods other than GET and HEAD.
var errOnlyRead = fault.New(fault.Method, "a passage can only be read: GET")

// errNoPassage is the error for a passage that does not exist. It is also returned for a passage
// that the caller may not see, so that it does not reveal whether there is one.
var errNoPassage = fault.New(fault.NotFound, "there is no such passage, or you may not see it")

// showPassage writes the page with the passage that r asks for. It returns errNoPassage if there is
// nothing that the caller may see, or another error if the store fails.
func (k *KB) showPassage(w http.ResponseWriter, r *http.Request) error {
	who, at := auth.PrincipalOf(r.Context()), -1
	if n, err := strconv.Atoi(r.PathValue("passage")); err == nil {
		at = n
	}
	if who == nil || k.Store == nil || !kbstore.ValidID(r.PathValue("base")) {
		return errNoPassage
	}
	base, err := k.Store.Readable(r.Context(), who, r.PathValue("base"))
	if errors.Is(err, kbstore.ErrNotFound) || errors.Is(err, kbstore.ErrDenied) {
		return errNoPassage
	} else if err != nil {
		return err
	}
	documents, err := k.Store.Documents(r.Context(), base.ID, kbstore.FilterOf(who))
	if err != nil {
		return err
	}
	i := slices.IndexFunc(documents, func(d kbstore.Document) bool {
		return d.ID == r.PathValue(
			"document")
	})
	if i < 0 {
		return errNoPassage
	}
	chunks, err := k.Store.DocumentChunks(r.Context(), base.ID, documents[i].ID,
		kbstore.FilterOf(who))
	if err != nil {
		return err
	}
	type shown struct {
		kbstore.Chunk
		Cited bool
	}
	out := struct {
		Title, Base, Source string
		Passages            []shown
	}{documents[i].Title, base.Name, documents[i].Source, nil}
	for _, c := range chunks {
		if at < 0 || c.Index >= at-shownPassages && c.Index <= at+shownPassages {
			out.Passages = append(out.Passages, shown{c, c.Index == at})
		}
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	w.Header().Set("Cache-Control", "private, no-store")
	return page.Execute(w, out)
}
