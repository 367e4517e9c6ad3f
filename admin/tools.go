package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/rs/zerolog"

	"toolnorm/internal/auth"
	"toolnorm/internal/fault"
	"toolnorm/internal/pyexpr"
	"toolnorm/tools"
	"toolnorm/tools/dynamic"
)

// customTools answers what is asked about custom tools.
type customTools struct {
	set *dynamic.Set // nil: there is no store to keep them in
	all *tools.Registry
	log zerolog.Logger
}

// routes adds the routes for custom tools to a server.
func (c *customTools) routes(to *Server) {
	for pattern, h := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET " + API + "tools":                                  c.listTools,
		"POST " + API + "tools":                                 c.createTool,
		"GET " + API + "tools/{id}":                             c.getTool,
		"PUT " + API + "tools/{id}":                             c.updateTool,
		"DELETE " + API + "tools/{id}":                          c.deleteTool,
		"POST " + API + "tools/{id}/toggle":                     c.toggleTool,
		"GET " + API + "tools/{id}/versions":                    c.listVersions,
		"POST " + API + "tools/{id}/versions/{version}/restore": c.restoreTool,
		"POST " + API + "tools/validate":                        c.validateTool,
		"POST " + API + "tools/test":                            c.testTool,
		"GET " + API + "tools/audit":                            c.listAudit,
		"GET " + API + "schema":                                 c.listConnections,
		"POST " + API + "tools/examples":                        c.runExamples,
		"GET " + API + "toolsets":                               c.listSets,
		"PUT " + API + "toolsets/{name}":                        c.saveSet,
		"DELETE " + API + "toolsets/{name}":                     c.deleteSet,
	} {
		to.Handle(pattern, func(w http.ResponseWriter, r *http.Request) error {
			if c.set == nil {
				return fault.New(fault.Unable, "custom tools are off, since no store is open")
			}
			return h(w, r)
		})
	}
}

// who returns the name for created_by and the history.
func who(r *http.Request) string { return auth.PrincipalOf(r.Context()).Subject }

// number reads a number of the path or the query; empty is 0.
func number(text, field string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, &fault.Error{Kind: fault.Invalid, Message: fmt.Sprintf(
			"%s has to be a number from 1, not %.40q", field, text), Param: field}
	}
	return n, nil
}

// idOf returns the tool that a path names. A text that is not a number names no tool.
func idOf(r *http.Request) (int, error) {
	id, err := number(r.PathValue("id"), "id")
	if err != nil {
		return 0, fault.New(fault.NotFound, "there is no tool number %.40q", r.PathValue("id"))
	}
	return id, nil
}

// draft reads a draft; a tool is active unless it says otherwise.
func draft(r *http.Request) (d dynamic.Draft, err error) {
	d.Active = true
	err = read(r, &d)
	return d, err
}

// answerProblems answers with a draft's problems beside the error, and passes every other
// error on.
func answerProblems(w http.ResponseWriter, err error) error {
	var wrong *dynamic.Refused
	if !errors.As(err, &wrong) {
		return err
	}
	f := fault.From(err)
	var body map[string]json.RawMessage
	if err := json.Unmarshal(fault.OpenAI(f), &body); err != nil {
		return err
	}
	if body["problems"], err = json.Marshal(wrong.Problems); err != nil {
		return err
	}
	f.Advise(w.Header())
	return write(w, f.Status(), body)
}

// listTools answers with every tool, also those that are switched off or cannot be
// offered: the page has to show what is wrong with them. There is no paging: a thousand
// tools, which is the most, are some 500 KB.
func (c *customTools) listTools(w http.ResponseWriter, r *http.Request) error {
	all, err := c.set.List(r.Context())
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, map[string]any{"tools": append([]dynamic.Tool{}, all...)})
}

// createTool saves a new tool. The answer is the tool as it was stored, with {{name}}
// as :name, so that the editor goes on from what is really there.
func (c *customTools) createTool(w http.ResponseWriter, r *http.Request) error {
	d, err := draft(r)
	if err != nil {
		return err
	}
	t, err := c.set.Create(r.Context(), who(r), d)
	if err != nil {
		return answerProblems(w, err)
	}
	c.log.Info().Str("tool", t.Name).Str("by", who(r)).Msg("custom tool created")
	w.Header().Set("Location", fmt.Sprintf("%stools/%d", API, t.ID))
	return write(w, http.StatusCreated, t)
}

// getTool answers with one tool and its version, which the next change has to name.
func (c *customTools) getTool(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	t, err := c.set.Get(r.Context(), id)
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, t)
}

// updateTool saves a draft over a tool. The version is in the body and not in If-Match,
// since the editor keeps the whole draft as one JSON object anyway, and a proxy that
// drops an unknown header would make every save a blind one.
func (c *customTools) updateTool(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	d, err := draft(r)
	if err != nil {
		return err
	}
	t, err := c.set.Update(r.Context(), who(r), id, d)
	return c.changed(w, r, t, "changed", err)
}

// changed answers with a tool that was changed.
func (c *customTools) changed(w http.ResponseWriter, r *http.Request, t dynamic.Tool, what string,
	err error) error {
	if err != nil {
		return answerProblems(w, err)
	}
	c.log.Info().Str("tool", t.Name).Int("version", t.Version).Str("by", who(r)).Msg(
		"custom tool " + what)
	return write(w, http.StatusOK, t)
}

// deleteTool removes a tool. The version is in the query, as a body of DELETE is
// dropped by some proxies on the way.
func (c *customTools) deleteTool(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	version, err := number(r.URL.Query().Get("version"), "version")
	if err != nil {
		return err
	}
	if err := c.set.Delete(r.Context(), who(r), id, version); err != nil {
		return err
	}
	c.log.Info().Int("tool", id).Str("by", who(r)).Msg("custom tool deleted")
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// toggleTool offers a tool or takes it back. It says what the tool shall be and not
// "the other way round": two tabs that switch at once would otherwise undo each other.
func (c *customTools) toggleTool(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	// A pointer, since a body without is_active must not switch anything off.
	var in struct {
		Active  *bool `json:"is_active"`
		Version int   `json:"version"`
	}
	if err := read(r, &in); err != nil {
		return err
	}
	if in.Active == nil {
		return &fault.Error{Kind: fault.Invalid, Message: "is_active has to be true or false",
			Param: "is_active"}
	}
	t, err := c.set.Toggle(r.Context(), who(r), id, in.Version, *in.Active)
	return c.changed(w, r, t, "switched", err)
}

// listVersions answers with the versions of a tool, even of a deleted one: its number is never
// given to another.
func (c *customTools) listVersions(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	all, err := c.set.Versions(r.Context(), id)
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, map[string]any{"versions": all})
}

// listAudit answers with who changed which tool, newest first. A page of lines is as long as the
// store reads at once; the next one begins before the id of its last line.
func (c *customTools) listAudit(w http.ResponseWriter, r *http.Request) error {
	before, err := number(r.URL.Query().Get("before"), "before")
	if err != nil {
		return err
	}
	all, err := c.set.Audit(r.Context(), before)
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, map[string]any{"entries": append([]dynamic.Entry{}, all...),
		"more": len(all) == dynamic.MostEntries})
}

// restoreTool restores a version of a tool. The path has the wanted version, the body the newest
// version that the page has seen.
func (c *customTools) restoreTool(w http.ResponseWriter, r *http.Request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	version, err := number(r.PathValue("version"), "version")
	if err != nil {
		return err
	}
	var in struct {
		Version int `json:"version"`
	}
	if err := read(r, &in); err != nil {
		return err
	}
	t, err := c.set.Restore(r.Context(), who(r), id, version, in.Version)
	return c.changed(w, r, t, "restored", err)
}

// validateTool answers with what is wrong with a draft while an author writes it. The status is 200
// in any case: an unfinished draft is not an error of the request, and a browser would show each as
// a failure in its console.
func (c *customTools) validateTool(w http.ResponseWriter, r *http.Request) error {
	d, err := draft(r)
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, c.set.Validate(r.Context(), d))
}

// shown is the result of a test run as MCP clients get it.
type shown struct {
	Content    []part          `json:"content"`
	Structured json.RawMessage `json:"structuredContent,omitempty"`
	IsError    bool            `json:"isError"`
}

// part is a text of a result; custom tools give nothing else.
type part struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// trial is a test run with its result.
type trial struct {
	dynamic.Trial
	Result *shown `json:"result,omitempty"`
}

// testTool runs a draft. The arguments go through as they were sent, so that a test
// sees what a model's sloppy ones would become.
func (c *customTools) testTool(w http.ResponseWriter, r *http.Request) error {
	var in struct {
		Tool      dynamic.Draft   `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := read(r, &in); err != nil {
		return err
	}
	out := trial{Trial: c.set.Test(r.Context(), in.Tool, in.Arguments)}
	if res := out.Trial.Result; res != nil {
		out.Result = showResult(*res)
	}
	return write(w, http.StatusOK, out)
}

// showResult writes a result as mcpserver does.
func showResult(res tools.Result) *shown {
	out := &shown{Content: []part{}, Structured: res.Structured, IsError: res.IsError}
	for _, p := range res.Content {
		out.Content = append(out.Content, part{"text", p.Text})
	}
	return out
}

// listConnections answers with what definitions may name: the tables for the explorer, and the
// functions of expressions. What a connection's setting says, a URL with a password, is not in it.
func (c *customTools) listConnections(w http.ResponseWriter, r *http.Request) error {
	return write(w, http.StatusOK, map[string]any{"connections": c.set.Connections(r.Context()),
		"functions": pyexpr.Names()})
}
