package proxy

import (
	"net/http"

	"toolnorm/internal/pattern"
	"toolnorm/proxy/form"
)

// askedForm returns the client form that a request asks for, and the model without the suffix that
// may name the form. The header Toolnorm-Client-Form counts first, then the suffix ("qwen3@shell"),
// then the settings; an empty form leaves the choice to the forms, which recognise their clients. A
// header can be set once for a whole client; a suffix is for clients in which only the model's name
// can be chosen.
func (s *Server) askedForm(h http.Header, named string) (asked, model string, err error) {
	asked, model, err = form.NamedForm(h, named)
	if err == nil && asked == "" {
		asked, _ = pattern.Find(s.cfg.Forms, model)
	}
	return asked, model, err
}

// openForm opens the reply in the first form that accepts the request. The reply names the model as
// the client did. Void reads only the call with index 0, so a model that is asked by its alias
// writes one call a reply.
func (s *Server) openForm(h http.Header, a *form.Ask, out form.Out) (reply form.Reply, err error) {
	var model string
	if a.Form, model, err = s.askedForm(h, a.Model); err != nil {
		return nil, err
	}
	if isAlias(model) {
		a.Single = true // a client that uses an alias reads one call a reply
	}
	if reply, err = s.forms.Open(h, a, out); err != nil {
		return nil, err
	}
	a.Model = model
	return reply, nil
}
