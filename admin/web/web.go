// Package web serves the admin page: one HTML document with its scripts and styles, embedded in the
// binary.
//
// The page holds no data of this server, so it needs no key: a browser cannot send one when a
// person opens an address. Everything it shows comes from /admin/api, which asks for one. build.sh
// makes the page; without Node the folder is empty, and the address says how to get it.
package web

import (
	"bytes"
	"crypto/rand"
	"embed"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
)

//go:embed all:dist
var dist embed.FS

// missingHTML is shown in place of the page by a binary that was built without it.
//
//go:embed missing.html
var missingHTML []byte

// noncePlace is the placeholder in the built page for the nonce of each answer. CodeMirror puts its
// styles into a style element, which a strict content security policy allows only with a nonce.
const noncePlace = "__NONCE__"

// HasPage reports whether the page is in this binary. The embedded folder alone does not show it,
// since an embedded folder must contain a file, and without the page it contains a README.
func HasPage() bool { return page(dist) != nil }

// Handler returns a handler for GET /admin, /admin/ and /admin/assets/…. There is one document for
// all pages, because they differ only after the # of the address, which browsers do not send.
func Handler() http.Handler { return handler(dist) }

// page returns the HTML document of the admin page, or nil if it has not been built.
func page(files fs.FS) []byte {
	text, err := fs.ReadFile(files, "dist/page/index.html")
	if err != nil {
		return nil
	}
	return text
}

// handler returns a handler for the built page in the parameter files. If the page has not been
// built, the handler answers with instructions for building it.
func handler(files fs.FS) http.Handler {
	mux := http.NewServeMux()
	document := serveMissing
	if text := page(files); text != nil {
		document = func(w http.ResponseWriter, _ *http.Request) { servePage(w, text) }
	}
	mux.HandleFunc("GET /admin", document)
	mux.HandleFunc("GET /admin/{$}", document)
	mux.HandleFunc("GET /admin/assets/{name}", func(w http.ResponseWriter, r *http.Request) {
		serveAsset(w, files, r.PathValue("name"))
	})
	return mux
}

// servePage answers with the document. Browsers must not cache it, since its nonce is new each
// time; the files that it loads have a hash of their content in their names and are cached for
// ever.
func servePage(w http.ResponseWriter, text []byte) {
	nonce := rand.Text()
	guard(w.Header(),
		"default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self'; style-src 'self' 'nonce-"+nonce+"'")
	_, _ = w.Write(bytes.ReplaceAll(text, []byte(noncePlace), []byte(nonce)))
}

// serveMissing answers with instructions for building the page. The status is 200, which does no
// harm to a person who typed the address; scripts use /admin/api.
func serveMissing(w http.ResponseWriter, _ *http.Request) {
	guard(w.Header(), "default-src 'none'")
	_, _ = w.Write(missingHTML)
}

// guard sets headers that keep a document out of caches and out of frames, because a click on this
// page can run a tool.
func guard(h http.Header, policy string) {
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy+
		"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Frame-Options", "DENY") // for browsers that do not know frame-ancestors
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
}

// serveAsset answers with a script, a style or a picture of the page, or with status 404 if no file
// has this name. That happens if the page stayed open during an upgrade and loads the editor
// afterwards, so the message says to load the page again.
func serveAsset(w http.ResponseWriter, files fs.FS, name string) {
	data, err := fs.ReadFile(files, path.Join("dist/page/assets", name))
	// %2f in the address: none of the assets has one in its name
	if err != nil || strings.Contains(name, "/") {
		http.Error(w, "no such file; load the page again", http.StatusNotFound)
		return
	}
	h := w.Header()
	h.Set("Content-Type", typeOf(name))
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	_, _ = w.Write(data)
}

// typeOf returns the media type of a file, or "" if it is unknown. For scripts it does not ask the
// machine's own table, because that may call them text/plain, and with nosniff a browser would then
// run none.
func typeOf(name string) string {
	if strings.HasSuffix(name, ".js") {
		return "text/javascript; charset=utf-8"
	}
	return mime.TypeByExtension(path.Ext(name))
}
