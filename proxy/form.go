package proxy

import (
	"net/http"
	"slices"
	"strings"

	"toolnorm/internal/fault"
	"toolnorm/internal/pattern"
)

// The names of the dialects that can be asked for.
const (
	formOpenAI = "openai" // as it is, whoever seems to ask
	FormShell  = "shell"  // commands in place of calls of the tools that are served here
	formVoid   = "void"   // Void's calls in text, where its prompt describes tools
	formCline  = "cline"  // Cline's and Roo's, likewise
)

// Forms are the names of the dialects that a header, a model's suffix or a setting can ask for.
func Forms() []string { return []string{formOpenAI, FormShell, formVoid, formCline} }

// form is the dialect that a request asks for, and the model without the suffix that may have said so. The header
// Toolnorm-Dialect counts first, then the suffix ("qwen3@shell"), then the settings; empty leaves it to what the client is
// recognised by.
func (s *Server) form(h http.Header, named string) (form, model string, err error) {
	model, form = cutForm(named)
	if form == "" {
		form, _ = pattern.Find(s.cfg.Forms, model)
	}
	if asked := h.Get("Toolnorm-Dialect"); asked != "" {
		form = strings.ToLower(asked)
	}
	if form != "" && !slices.Contains(Forms(), form) {
		return "", "", fault.New(fault.Invalid, "there is no dialect %q; there are %s", form, strings.Join(Forms(), ", "))
	}
	return form, model, nil
}

// cutForm takes a dialect's suffix off a model's name.
func cutForm(named string) (model, form string) {
	at := strings.LastIndexByte(named, '@')
	if at < 0 || !slices.Contains(Forms(), named[at+1:]) {
		return named, ""
	}
	return named[:at], named[at+1:]
}

// dialect opens the reply in the first dialect that takes the request. The reply goes by the name by which the client
// called the model.
func (s *Server) dialect(h http.Header, a *Ask, out Out) (Reply, error) {
	form, model, err := s.form(h, a.Model)
	if err != nil {
		return nil, err
	}
	a.Form = form
	if isAlias(model) {
		a.Single = true // who asks for an alias reads one call a reply
	}
	for _, d := range s.dialects {
		if reply, err := d.Open(h, a, out); reply != nil || err != nil {
			a.Model = model
			return reply, err
		}
	}
	return nil, fault.New(fault.Invalid, "the form of the reply is not one that is served")
}
