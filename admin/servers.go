package admin

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"toolnorm/internal/fault"
	"toolnorm/tools"
	"toolnorm/tools/remote"
)

// Servers manages the other MCP servers whose tools are offered here. remote.Set implements it.
type Servers interface {
	List() []remote.State
	Add(ctx context.Context, a remote.Asked) error
	Switch(name string, on bool) error
	Remove(name string) error

	BeginSignIn(ctx context.Context, name, back string) (to, state string, err error)
	EndSignIn(back url.Values) (said string, err error)
	SignOut(name string) error
}

// others answers the routes about other MCP servers and about all offered tools.
type others struct {
	servers  Servers         // nil: none are managed
	registry *tools.Registry // nil: no tools are offered
	publish  func(kind string)
	public   string // the program's address behind a reverse proxy; empty: there is none
}

// routes adds the routes for the page MCP servers to a server, and the routes by which the
// playground lists and runs tools.
func (o *others) routes(to *Server) {
	to.Handle("GET "+API+"servers", show(o.listServers))
	to.Handle("POST "+API+"servers", o.addServer)
	to.Handle("POST "+API+"servers/{name}/switch", done(o.switchServer))
	to.Handle("DELETE "+API+"servers/{name}", done(o.removeServer))
	to.Handle("POST "+API+"servers/{name}/sign-in", o.beginSignIn)
	to.Handle("DELETE "+API+"servers/{name}/sign-in", done(o.signOut))
	to.mux.HandleFunc(SignedIn, o.endSignIn)
	to.Handle("GET "+API+"registry", show(o.listRegistry))
	to.Handle("POST "+API+"registry/call", show(o.callTool))
}

// errNoServers is returned if another toolnorm has started this one as its MCP server.
var errNoServers = fault.New(fault.Unable, "this program manages no other MCP servers")

// listServers returns the servers and their states. The list is empty if no servers are managed.
// Parts of an address that could be secret are left out. A server that is down is listed with the
// reason, which is what people mostly look for here. The error is always nil.
func (o *others) listServers(*http.Request) (any, error) {
	all := []remote.State{}
	if o.servers != nil {
		all = append(all, o.servers.List()...)
	}
	return map[string][]remote.State{"servers": all}, nil
}

// addServer adds a server by its address. Commands can be set only in the file, so that an
// administrator of the page cannot start programs. Package remote decides which addresses are
// permitted, as for /mcp/add: link-local ones never, private ones if the setting mcp-private
// permits them. It returns an error if the server cannot be added.
func (o *others) addServer(w http.ResponseWriter, r *http.Request) error {
	var ask remote.Asked
	if err := read(r, &ask); err != nil {
		return err
	}
	if o.servers == nil {
		return errNoServers
	}
	if err := o.published(o.servers.Add(r.Context(), ask)); err != nil {
		return err
	}
	return write(w, http.StatusCreated, map[string]string{"name": ask.Name, "url": ask.URL})
}

// switchServer turns a server on or off. A server that is already on is connected again. It returns
// an error if there is no such server.
func (o *others) switchServer(r *http.Request) error {
	var ask struct {
		On bool `json:"on"`
	}
	if err := read(r, &ask); err != nil {
		return err
	}
	if o.servers == nil {
		return errNoServers
	}
	return o.published(o.servers.Switch(r.PathValue("name"), ask.On))
}

// removeServer removes a server and its tools, or returns an error if there is no such server. The
// name is in the path, because proxies may drop the body of a DELETE (RFC 9110, section 9.3.5).
func (o *others) removeServer(r *http.Request) error {
	if o.servers == nil {
		return errNoServers
	}
	return o.published(o.servers.Remove(r.PathValue("name")))
}

// published returns err. If err is nil, it first tells the open pages that the list of other
// servers has changed.
func (o *others) published(err error) error {
	if err == nil {
		o.publish("servers")
	}
	return err
}

// offered is a tool as models see it.
type offered struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// listRegistry returns every offered tool: those of the program, custom tools, and those of other
// servers. The schemas are included, since the playground offers them to a model unchanged. The
// error is always nil.
func (o *others) listRegistry(*http.Request) (any, error) {
	all := []offered{}
	if o.registry != nil {
		for _, t := range o.registry.Snapshot().Tools {
			schema := t.Schema
			if len(schema) == 0 {
				schema = json.RawMessage(`{"type":"object"}`)
			}
			all = append(all, offered{t.Name, t.Description, schema})
		}
	}
	return map[string][]offered{"tools": all}, nil
}

// toolResult is the result of a tool, as a model gets it.
type toolResult struct {
	Text    string `json:"text"`
	IsError bool   `json:"isError"`
}

// callTool runs a tool as the client APIs do, with the arguments as a model wrote them. A failure
// of the tool is a result and not an error. The playground and the page of a knowledge base use
// this route, so that a trial there has the same result as a client's call.
func (o *others) callTool(r *http.Request) (any, error) {
	var ask struct {
		Name string `json:"name"`
		Args string `json:"arguments"`
	}
	if err := read(r, &ask); err != nil {
		return nil, err
	}
	res := tools.Failure("no tools are offered here")
	if o.registry != nil {
		res = o.registry.Call(r.Context(), ask.Name, json.RawMessage(ask.Args))
	}
	return toolResult{res.Text(), res.IsError}, nil
}
