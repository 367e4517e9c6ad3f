package proxy

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"toolnorm/internal/fault"
	"toolnorm/internal/pattern"
	"toolnorm/proxy/form"
)

// askedForm returns the client form that a request asks for, and the model without the suffix that may have said so. The header
// Toolnorm-Client-Form counts first, then the suffix ("qwen3@shell"), then the settings; empty leaves it to what the client is
// recognised by.
// A header can be set once for a whole client; a suffix is for those where only the model's name can be
// chosen.
func (s *Server) askedForm(h http.Header, named string) (asked, model string, err error) {
	model, asked = cutForm(named)
	if asked == "" {
		asked, _ = pattern.Find(s.cfg.Forms, model)
	}
	if name := cmp.Or(h.Get("Toolnorm-Client-Form"), h.Get("Toolnorm-Dialect")); name != "" { // the second is the old name, for one release
		asked = strings.ToLower(name)
	}
	if asked != "" && !slices.Contains(form.Names(), asked) {
		return "", "", fault.New(fault.Invalid, "there is no client form %q; there are %s", asked, strings.Join(form.Names(), ", "))
	}
	return asked, model, nil
}

// cutForm takes a form's suffix off a model's name. Other text behind an @ belongs to the name.
// Names of models may hold an @ of their own: a digest, or a revision.
func cutForm(named string) (model, asked string) {
	at := strings.LastIndexByte(named, '@')
	if at < 0 || !slices.Contains(form.Names(), named[at+1:]) {
		return named, ""
	}
	return named[:at], named[at+1:]
}

// openForm opens the reply in the first form that takes the request. The reply goes by the name by which the client called
// the model.
// Void reads index 0 alone, so a model that is asked by its alias writes one call a reply.
func (s *Server) openForm(h http.Header, a *form.Ask, out form.Out) (reply form.Reply, err error) {
	var model string
	if a.Form, model, err = s.askedForm(h, a.Model); err != nil {
		return nil, err
	}
	if isAlias(model) {
		a.Single = true // who asks for an alias reads one call a reply
	}
	if reply, err = s.forms.Open(h, a, out); err != nil {
		return nil, err
	}
	a.Model = model
	return reply, nil
}
