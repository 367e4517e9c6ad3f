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
// styles into a style element, which a strict policy allows only with one.
const noncePlace = "__NONCE__"

// HasPage reports whether the page is in this binary.
// An embedded folder must hold a file, so a README is in the folder if the page is missing.
func HasPage() bool { return page(dist) != nil }

// Handler answers GET /admin, /admin/ and /admin/assets/…. Pages are told apart after the # of the
// address, which browsers do not send, so there is one document.
func Handler() http.Handler { return handler(dist) }

// page returns the built document, or nil if there is none.
func page(files fs.FS) []byte {
	text, err := fs.ReadFile(files, "dist/page/index.html")
	if err != nil {
		return nil
	}
	return text
}

// handler serves what a build left in files.
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

// serveMissing answers with how to get the page. The status is 200: that does no harm to a person
// who typed the address, and scripts use /admin/api.
func serveMissing(w http.ResponseWriter, _ *http.Request) {
	guard(w.Header(), "default-src 'none'")
	_, _ = w.Write(missingHTML)
}

// guard keeps a document out of caches and out of frames: a click on this page can run a tool.
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

// serveAsset answers with a script, a style or a picture of the page. A page that stayed open over
// an upgrade asks for names that are gone when it loads the editor; the answer says what helps.
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

// typeOf returns the media type of a file. Scripts are named here: a machine's own table may call
// them text/plain, and a browser that is told not to sniff would then run none.
func typeOf(name string) string {
	if strings.HasSuffix(name, ".js") {
		return "text/javascript; charset=utf-8"
	}
	return mime.TypeByExtension(path.Ext(name))
}
