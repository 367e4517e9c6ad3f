package proxy

import (
	"net/http"

	"toolnorm/internal/pattern"
	"toolnorm/proxy/form"
)

// askedForm returns the client form that a request asks for, and the model name without a suffix
// that names the form. The form comes from the header Toolnorm-Client-Form, else from the suffix
// ("qwen3@shell"), else from the settings. If none of them names a form, asked is "". A header can
// be set once for a whole client. A suffix is for clients in which only the model's name can be
// chosen. It returns an error if the header names an unknown form.
func (s *Server) askedForm(h http.Header, named string) (asked, model string, err error) {
	asked, model, err = form.NamedForm(h, named)
	if err == nil && asked == "" {
		asked, _ = pattern.Find(s.cfg.Forms, model)
	}
	return asked, model, err
}

// openForm returns the reply of the first form that accepts the request. The reply names the model
// as the client did. It returns an error if the request names an unknown form, or if the form
// returns one. A model whose name begins with AliasPrefix writes one call per reply, because the
// editor Void reads only the call with index 0.
func (s *Server) openForm(h http.Header, a *form.Ask, out form.Out) (reply form.Reply, err error) {
	var model string
	if a.Form, model, err = s.askedForm(h, a.Model); err != nil {
		return nil, err
	}
	if isAlias(model) {
		a.Single = true // a client that uses an alias reads one call per reply
	}
	if reply, err = s.forms.Open(h, a, out); err != nil {
		return nil, err
	}
	a.Model = model
	return reply, nil
}
