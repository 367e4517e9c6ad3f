package admin

import (
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"toolnorm/internal/fault"
	"toolnorm/tools/remote"
)

// SignedIn is the path to which a browser returns after its user has signed in to another MCP
// server. It needs no key, since a browser sends none there. Its query counts only for a sign-in
// that a page has begun in the same browser, and only once.
const SignedIn = Paths + "/signed-in"

// visitor is the prefix of the name of the cookie by which a browser shows that a sign-in began in
// it; the rest of the name is the state of the sign-in. Without the cookie, an administrator could
// make somebody else sign in for him.
const visitor = "toolnorm-sign-in-"

// beginSignIn begins a sign-in to a server, and answers with the address that the page has to open.
// It returns an error if the sign-in cannot begin.
func (o *others) beginSignIn(w http.ResponseWriter, r *http.Request) error {
	if o.servers == nil {
		return errNoServers
	}
	at, err := o.seenAt(r)
	if err != nil {
		return err
	}
	to, state, err := o.servers.BeginSignIn(r.Context(), r.PathValue("name"), at+SignedIn)
	if err != nil {
		return err
	}
	http.SetCookie(w, &http.Cookie{
		Name: visitor + state, Value: "1", Path: SignedIn, HttpOnly: true,
		MaxAge: int(remote.SignInTime.Seconds()), Secure: strings.HasPrefix(at, "https:"),
		SameSite: http.SameSiteLaxMode, // since the browser comes from another site
	})
	return write(w, http.StatusOK, map[string]string{"url": to})
}

// seenAt returns the scheme and host under which the browser sees this server. They come from the
// header Origin, which is right behind a reverse proxy too, and which was compared with the header
// Host before. If a proxy removes Origin, they come from the setting public-url. It returns an
// error if neither is there.
func (o *others) seenAt(r *http.Request) (string, error) {
	said := r.Header.Get("Origin")
	if said == "" {
		said = o.public
	}
	u, err := url.Parse(said)
	if err != nil || u.Host == "" {
		return "", fault.New(fault.Invalid,
			"begin the sign-in on the page in a browser; if a reverse proxy removes the header Origin, set --public-url")
	}
	return u.Scheme + "://" + u.Host, nil
}

// endSignIn ends a sign-in, and shows a page that says whether it succeeded.
func (o *others) endSignIn(w http.ResponseWriter, r *http.Request) {
	guardAnswer(w.Header())
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy",
		"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	// Some programs send a HEAD for each link, which must not use up the sign-in.
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	said, err := o.takeSignIn(w, r)
	shown := struct{ Title, Text, Next string }{"Signed in", said, "You can close this tab."}
	if err != nil {
		f := fault.From(err)
		shown = struct {
			Title, Text, Next string
		}{"Not signed in", f.Message, "Press Sign in on the page MCP servers to begin again."}
		w.WriteHeader(f.Status())
	}
	_ = signedInPage.Execute(w, shown) // it fails only if the browser is gone
}

// takeSignIn ends the sign-in of a request and returns a sentence about it for the user. It returns
// an error if the sign-in failed or did not begin in this browser. In the latter case the sign-in
// goes on waiting for the other browser.
func (o *others) takeSignIn(w http.ResponseWriter, r *http.Request) (string, error) {
	if o.servers == nil {
		return "", errNoServers
	}
	back := r.URL.Query()
	mark, err := r.Cookie(visitor + back.Get("state"))
	if err != nil {
		return "", fault.New(fault.Invalid,
			"this sign-in did not begin in this browser, has been used already, or has expired")
	}
	http.SetCookie(w, &http.Cookie{Name: mark.Name, Path: SignedIn, MaxAge: -1,
		HttpOnly: true, SameSite: http.SameSiteLaxMode})
	defer o.publish("servers") // also of a failure, since a page may wait for it
	return o.servers.EndSignIn(back)
}

// signOut removes the tokens of a server. It returns an error if there is no such server.
func (o *others) signOut(r *http.Request) error {
	if o.servers == nil {
		return errNoServers
	}
	return o.published(o.servers.SignOut(r.PathValue("name")))
}

// signedInPage is the page that ends a sign-in. It has no script. The words on it may come from the
// server at which the user was, so the template escapes them.
var signedInPage = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{{.Title}} – toolnorm</title>
<h1>{{.Title}}</h1>
<p>{{.Text}}</p>
<p>{{.Next}} <a href="` + Paths + `#/servers">MCP servers</a></p>
</html>
`))
