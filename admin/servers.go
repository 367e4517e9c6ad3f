package admin

import (
	"context"
	"encoding/json"
	"net/http"

	"toolnorm/internal/fault"
	"toolnorm/tools"
	"toolnorm/tools/remote"
)

// Servers are the other MCP servers whose tools are offered here. remote.Set is one.
type Servers interface {
	List() []remote.State
	Add(ctx context.Context, name, url string) error
	Remove(name string) (bool, error)
}

// handleServers adds the routes of the page MCP servers, and those by which the playground lists and runs tools.
func (s *Server) handleServers() {
	s.Handle("GET "+API+"servers", s.listServers)
	s.Handle("POST "+API+"servers", s.addServer)
	s.Handle("DELETE "+API+"servers/{name}", s.removeServer)
	s.Handle("GET "+API+"registry", s.listRegistry)
	s.Handle("POST "+API+"registry/call", s.callTool)
}

// Watch tells pages of changes of the tools that are offered and of the knowledge bases, whoever made them (the command line, another
// replica), until ctx ends.
// A server that comes back changes the registry as well as one that was added, so one kind of event tells of both.
func (s *Server) Watch(ctx context.Context) {
	var offered, bases <-chan struct{} // nil: there is nothing to hear of
	if s.config.Registry != nil {
		changed, stop := s.config.Registry.Watch()
		defer stop()
		offered = changed
	}
	if s.config.KB != nil && s.config.KB.Store != nil {
		warn := func(err error) { s.config.Log.Warn().Err(err).Msg("knowledge bases: changes by others are not seen") }
		changed, err := s.config.KB.Store.Listen(ctx, warn)
		if err != nil {
			warn(err)
		}
		bases = changed
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-offered:
			s.Publish("registry")
		case _, open := <-bases:
			if !open {
				bases = nil // it ends with ctx
				continue
			}
			s.Publish("knowledge")
		}
	}
}

// errNoServers answers where another toolnorm has started this one as its server.
var errNoServers = fault.New(fault.Unable, "this program manages no other MCP servers")

// listServers lists the servers with their states. Addresses are shown without what could be a secret in them.
// One that is down keeps its place, with the reason: who looks here mostly looks for that.
func (s *Server) listServers(w http.ResponseWriter, _ *http.Request) error {
	all := []remote.State{}
	if s.config.Servers != nil {
		all = append(all, s.config.Servers.List()...)
	}
	return write(w, http.StatusOK, map[string][]remote.State{"servers": all})
}

// addServer adds a server by its address. Commands are for the file: who may ask here may not start programs.
// Where the address may lead (link-local never, private by the setting mcp-private) is remote's to decide, as for /mcp/add.
func (s *Server) addServer(w http.ResponseWriter, r *http.Request) error {
	var ask struct {
		Name string `json:"name"`
		URL  string `json:"url"`
	}
	if err := read(r, &ask); err != nil {
		return err
	}
	if s.config.Servers == nil {
		return errNoServers
	}
	if err := s.config.Servers.Add(r.Context(), ask.Name, ask.URL); err != nil {
		return err
	}
	s.Publish("servers")
	return write(w, http.StatusCreated, ask)
}

// removeServer takes a server and its tools out.
// The name stands in the path: proxies may drop the body of a DELETE (RFC 9110, section 9.3.5).
func (s *Server) removeServer(w http.ResponseWriter, r *http.Request) error {
	if s.config.Servers == nil {
		return errNoServers
	}
	name := r.PathValue("name")
	found, err := s.config.Servers.Remove(name)
	switch {
	case err != nil:
		return err
	case !found:
		return fault.New(fault.NotFound, "there is no MCP server %q", name)
	}
	s.Publish("servers")
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// offered is a tool as models see it.
type offered struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// listRegistry lists every tool that is offered here: those of the program, custom ones, and those of other servers.
// Schemas go along, since the playground offers them to a model as they are.
func (s *Server) listRegistry(w http.ResponseWriter, _ *http.Request) error {
	all := []offered{}
	if s.config.Registry != nil {
		for _, t := range s.config.Registry.Snapshot().Tools {
			schema := t.Schema
			if len(schema) == 0 {
				schema = json.RawMessage(`{"type":"object"}`)
			}
			all = append(all, offered{t.Name, t.Description, schema})
		}
	}
	return write(w, http.StatusOK, map[string][]offered{"tools": all})
}

// callTool runs a tool as the faces do, with arguments as a model wrote them. What goes wrong in the tool is a result.
// It is how the playground answers a model's calls, and how the page of a knowledge base searches: what is tried there is
// what a client gets.
func (s *Server) callTool(w http.ResponseWriter, r *http.Request) error {
	var ask struct {
		Name string `json:"name"`
		Args string `json:"arguments"`
	}
	if err := read(r, &ask); err != nil {
		return err
	}
	res := tools.Failure("no tools are offered here")
	if s.config.Registry != nil {
		res = s.config.Registry.Call(r.Context(), ask.Name, json.RawMessage(ask.Args))
	}
	return write(w, http.StatusOK, struct {
		Text    string `json:"text"`
		IsError bool   `json:"isError"`
	}{res.Text(), res.IsError})
}
