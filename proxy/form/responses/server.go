package responses

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"toolnorm/chat"
	"toolnorm/internal/auth"
	"toolnorm/internal/fault"
	"toolnorm/internal/sse"
	"toolnorm/proxy/exchange"
	"toolnorm/proxy/form"
)

// Server answers requests to the API. Run is needed.
type Server struct {
	Run  *exchange.Runner
	Kept *Replies // the replies that previous_response_id can continue
}

// Routes registers every path with the function route. There is no POST …/cancel, since nothing
// runs in the background, and no …/compact, since Codex compacts by an ordinary request.
func (s *Server) Routes(route func(method, path string, h exchange.Handler)) {
	route("POST", "/v1/responses", s.ask())
	route("", "/v1/responses/{id}", s.one)
	route("GET", "/v1/responses/{id}/input_items", s.inputItems)
}

// ask returns the handler for new responses. Each HTTP request gets its own copy of the form.API,
// because the two functions in it share the parsed request: one reads the request, and the other
// opens the reply later.
func (s *Server) ask() exchange.Handler {
	api := form.API{Name: "responses", Prefix: idPrefix, Fail: fail,
		Fields: map[string]string{"messages": "input", "tools": "tools",
			"response_format": "text.format"}}
	return s.Run.Logged(api, func(w http.ResponseWriter, r *http.Request,
		x *exchange.Record) error {
		body, err := s.Run.Body(w, r)
		if err != nil {
			return err
		}
		q := &request{kept: keeping{owner: auth.Caller(r.Context()), replies: s.Kept}}
		own := api
		own.Read, own.Open = q.read, q.open
		return s.Run.Answer(w, r, own, x, body)
	})
}

// fail answers with an error. An unknown model gets the status 400, as from OpenAI, because Codex
// repeats a request five times after a 404. A 404 is left to paths that do not exist.
func fail(w http.ResponseWriter, err error) {
	if f := fault.From(err); f.Kind == fault.NotFound {
		c := *f
		c.Kind, c.Code = fault.Invalid, f.OpenAICode()
		err = &c
	}
	fault.Write(w, err)
}

// open returns the reply to a request. The call of a custom tool is only shown when it is whole,
// while other calls are shown as they grow. It returns an error if the request asks for another
// client form, or its Toolnorm-Hold header is invalid.
func (r *request) open(h http.Header, a *form.Ask, out form.Out) (form.Reply, error) {
	if err := a.SetAlone(h); err != nil {
		return nil, err
	}
	if err := a.SetHold(h); err != nil {
		return nil, err
	}
	p := &reply{r: r, model: a.Model, out: out}
	if a.Stream {
		p.w = sse.NewWriter(out.W, out.Stall)
	}
	return p, nil
}

// keep stores a reply, if the client wants that, so that the client can continue it by its id. It
// must be called before the last byte is sent, because a client may ask for the reply immediately
// after that, on another connection.
func (r *request) keep(p *reply, o object) {
	if !r.kept.store {
		return
	}
	k := &keptReply{id: p.out.ID, owner: r.kept.owner, output: len(o.items),
		object: p.appendObject(nil, o)}
	k.items = slices.Concat(r.kept.earlier, r.kept.items)
	for _, it := range o.items {
		k.items = append(k.items, r.appendItem(nil, it, true))
	}
	r.kept.replies.keep(k)
}

// one answers with a stored reply, or deletes it. It returns an error if the caller has no such
// reply, or for another method.
func (s *Server) one(w http.ResponseWriter, r *http.Request) error {
	id, owner := r.PathValue("id"), auth.Caller(r.Context())
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		k, ok := s.Kept.find(id, owner)
		if !ok {
			return notKept(id)
		}
		return form.WriteJSON(w, http.StatusOK, append(slices.Clip(k.object), '\n'))
	case http.MethodDelete:
		if !s.Kept.remove(id, owner) {
			return notKept(id)
		}
		return form.WriteValue(w, struct {
			ID      string `json:"id"`
			Object  string `json:"object"`
			Deleted bool   `json:"deleted"`
		}{id, "response", true})
	}
	w.Header().Set("Allow", "GET, DELETE")
	return fault.New(fault.Method, "%s takes GET and DELETE, not %s", r.URL.Path, r.Method)
}

// notKept returns the error 404 for a stored reply that is not there, or no longer. id is from the
// path of the request.
func notKept(id string) error {
	return fault.New(fault.NotFound,
		"Response with id '%s' not found: replies are kept for %s when store is not false.", id,
		keepFor)
}

// inputItems answers with the input items of a stored reply. The newest comes first unless the
// query says otherwise, as in OpenAI's API. Without a limit it lists all items. An item that came
// without an id gets one. It returns an error if the caller has no such reply, or if the query is
// wrong.
func (s *Server) inputItems(w http.ResponseWriter, r *http.Request) error {
	id := r.PathValue("id")
	k, ok := s.Kept.find(id, auth.Caller(r.Context()))
	if !ok {
		return notKept(id)
	}
	items, ids := withIDs(id, k.items[:len(k.items)-k.output])
	query := r.URL.Query()
	if query.Get("order") != "asc" {
		slices.Reverse(items)
		slices.Reverse(ids)
	}
	from, to, err := page(ids, query)
	if err != nil {
		return err
	}
	more := to < len(ids)
	items, ids = items[from:to], ids[from:to]
	list := struct {
		Object string            `json:"object"`
		Data   []json.RawMessage `json:"data"`
		First  *string           `json:"first_id"`
		Last   *string           `json:"last_id"`
		More   bool              `json:"has_more"`
	}{Object: "list", Data: items, More: more}
	if n := len(ids); n > 0 {
		list.First, list.Last = &ids[0], &ids[n-1]
	}
	b, err := chat.JSON(list)
	if err != nil {
		return err
	}
	return form.WriteJSON(w, http.StatusOK, append(b, '\n'))
}

// page returns the range of items that a query asks for: those with index i, from <= i < to. The
// query's parameter after names the item before the range, and its parameter limit is the largest
// number of items. page returns an error if after, limit or order is wrong.
func page(ids []string, query url.Values) (from, to int, err error) {
	to = len(ids)
	if limit := query.Get("limit"); limit != "" {
		if to, err = strconv.Atoi(limit); err != nil || to < 1 || to > mostListed {
			return 0, 0, fault.Wrong("limit", "limit must be a number from 1 to %d", mostListed)
		}
	}
	if order := query.Get("order"); order != "" && order != "asc" && order != "desc" {
		return 0, 0, fault.Wrong("order", `order must be "asc" or "desc"`)
	}
	if after := query.Get("after"); after != "" {
		if from = slices.Index(ids, after) + 1; from == 0 {
			return 0, 0, fault.Wrong("after", "after names no item of this response")
		}
	}
	return from, min(from+to, len(ids)), nil
}

// mostListed is the most items that a query may ask for, as with OpenAI.
const mostListed = 100

// withIDs returns the items, each with an id, and the list of all ids. Items that clients sent
// without an id get one.
func withIDs(reply string, given []json.RawMessage) (items []json.RawMessage, ids []string) {
	items = make([]json.RawMessage, len(given)) // never null
	for i, item := range given {
		var named struct{ ID string }
		_ = json.Unmarshal(item, &named) // it was read here before
		if named.ID == "" {
			named.ID = "in_" + strings.TrimPrefix(reply, idPrefix) + "_" + strconv.Itoa(i)
			item = append(append(chat.AppendQuoted([]byte(`{"id":`), named.ID), ','),
				bytes.TrimPrefix(item, []byte("{"))...)
		}
		items[i], ids = item, append(ids, named.ID)
	}
	return items, ids
}
