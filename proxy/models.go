package proxy

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/proxy/form"
)

// modelInfo is a model in OpenAI's list.
type modelInfo struct {
	ID      string `json:"id"`
	Object  string `json:"object"`
	Created int64  `json:"created"`
	OwnedBy string `json:"owned_by"`
}

// infoOf returns the entry of a model in OpenAI's list.
func infoOf(i chat.Info) modelInfo {
	return modelInfo{ID: i.ID, Object: "model", Created: i.Created, OwnedBy: i.Owner}
}

// claudeInfo is a model in Anthropic's list.
type claudeInfo struct {
	Type    string    `json:"type"`
	ID      string    `json:"id"`
	Name    string    `json:"display_name"`
	Created time.Time `json:"created_at"`
}

// claudeOf returns the entry of a model in Anthropic's list.
func claudeOf(i chat.Info) claudeInfo {
	return claudeInfo{Type: "model", ID: i.ID, Name: i.ID, Created: time.Unix(i.Created, 0).UTC()}
}

// writeClaudes answers with the list in Anthropic's form. It is one page, whatever limit the client
// asks for, since a local server has dozens of models, not thousands. It returns an error if the
// client cannot be written to.
func writeClaudes(w http.ResponseWriter, infos []chat.Info) error {
	list := struct {
		Data  []claudeInfo `json:"data"`
		More  bool         `json:"has_more"`
		First *string      `json:"first_id"`
		Last  *string      `json:"last_id"`
	}{Data: make([]claudeInfo, len(infos))}
	for i, info := range infos {
		list.Data[i] = claudeOf(info)
	}
	if n := len(infos); n > 0 {
		list.First, list.Last = &infos[0].ID, &infos[n-1].ID
	}
	return form.WriteValue(w, list)
}

// models answers with the models that can be asked, or returns an error if they cannot be listed.
// With its providers vLLM and LM Studio, the editor Void asks every five seconds, so the catalog is
// expected to answer at once.
func (s *Server) models(w http.ResponseWriter, r *http.Request) error {
	infos, err := s.cfg.Catalog.Models(r.Context())
	if err != nil {
		return err
	}
	infos = slices.DeleteFunc(slices.Clone(infos), func(i chat.Info) bool { return i.Hidden })
	if s.listsAliases(r) {
		infos = withAliases(infos)
	}
	if fault.AsksAnthropic(r) {
		return writeClaudes(w, infos)
	}
	data := make([]modelInfo, len(infos)) // never null
	for i, info := range infos {
		data[i] = infoOf(info)
	}
	return form.WriteValue(w, struct {
		Object string      `json:"object"`
		Data   []modelInfo `json:"data"`
	}{"list", data})
}

// model answers with one model, or returns an error if it is unknown. Ollama's tag "latest" may be
// left out. Clients check the name that they were given, so a model is also found by its alias, by
// a name that matches a pattern ("claude-*"), and with the suffix of a client form. A name that
// matches a pattern stands for the pattern's model, because no list can contain all such names.
func (s *Server) model(w http.ResponseWriter, r *http.Request) error {
	infos, err := s.cfg.Catalog.Models(r.Context())
	if err != nil {
		return err
	}
	id := r.PathValue("id")
	_, name, _ := form.NamedForm(nil, id) // without a header it cannot fail
	name = strings.TrimPrefix(name, AliasPrefix)
	for _, known := range []string{name, s.cfg.Catalog.Real(name)} {
		if info, ok := findModel(infos, known); ok {
			if known != id { // show the name that the client used
				info.ID = id
			}
			if fault.AsksAnthropic(r) {
				return form.WriteValue(w, claudeOf(info))
			}
			return form.WriteValue(w, infoOf(info))
		}
	}
	f := fault.New(fault.NotFound, "no model named %q; GET /v1/models lists them", id)
	f.Code = "model_not_found"
	return f
}

// findModel returns the model of this name in a list, or false if there is none.
func findModel(infos []chat.Info, name string) (chat.Info, bool) {
	for _, info := range infos {
		if info.ID == name || info.ID == name+":latest" {
			return info, true
		}
	}
	return chat.Info{}, false
}
