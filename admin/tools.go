package admin

import (
	"encoding/json"
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

// customTools answers the routes about custom tools.
type customTools struct {
	set *dynamic.Set // nil: there is no store for them
	all *tools.Registry
	log zerolog.Logger
}

// routes adds the routes for custom tools to a server.
func (c *customTools) routes(to *Server) {
	for pattern, h := range map[string]handler{
		"GET " + API + "tools":                                  show(c.listTools),
		"POST " + API + "tools":                                 c.createTool,
		"GET " + API + "tools/{id}":                             show(withID(c.getTool)),
		"PUT " + API + "tools/{id}":                             show(withID(c.updateTool)),
		"DELETE " + API + "tools/{id}":                          done(c.deleteTool),
		"POST " + API + "tools/{id}/toggle":                     show(withID(c.toggleTool)),
		"GET " + API + "tools/{id}/versions":                    show(withID(c.listVersions)),
		"POST " + API + "tools/{id}/versions/{version}/restore": show(withID(c.restoreTool)),
		"POST " + API + "tools/validate":                        show(c.validateTool),
		"POST " + API + "tools/test":                            show(c.testTool),
		"GET " + API + "tools/audit":                            show(c.listAudit),
		"GET " + API + "schema":                                 show(c.listConnections),
		"POST " + API + "tools/examples":                        show(c.runExamples),
		"GET " + API + "toolsets":                               show(c.listSets),
		"PUT " + API + "toolsets/{name}":                        show(c.saveSet),
		"DELETE " + API + "toolsets/{name}":                     done(c.deleteSet),
	} {
		to.Handle(pattern, func(w http.ResponseWriter, r *http.Request) error {
			if c.set == nil {
				return fault.New(fault.Unable, "custom tools are off, since no store is open")
			}
			return h(w, r)
		})
	}
}

// who returns the name of the caller, for created_by and the history.
func who(r *http.Request) string { return auth.PrincipalOf(r.Context()).Subject }

// number returns a number from the path or the query. An empty text is 0. It returns an error that
// names the field if text is not a number of at least 1.
func number(text, field string) (int, error) {
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fault.Wrong(field, "%s has to be a number from 1, not %.40q", field, text)
	}
	return n, nil
}

// idOf returns the number of the tool that the path names. It returns a "not found" error for a
// text that is not a number, since no tool has it.
func idOf(r *http.Request) (int, error) {
	id, err := number(r.PathValue("id"), "id")
	if err != nil {
		return 0, fault.New(fault.NotFound, "there is no tool number %.40q", r.PathValue("id"))
	}
	return id, nil
}

// withID returns a function that calls h with the number of the tool that the path names. It
// returns an error if the path has no number.
func withID(h func(r *http.Request, id int) (any, error)) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		id, err := idOf(r)
		if err != nil {
			return nil, err
		}
		return h(r, id)
	}
}

// draft returns the draft in the request's body. A tool is active unless the body says otherwise.
// It returns an error if the body is no draft.
func draft(r *http.Request) (d dynamic.Draft, err error) {
	d.Active = true
	err = read(r, &d)
	return d, err
}

// answerProblems sends the problems of a refused draft together with the error. It returns an error
// if the answer cannot be written.
func answerProblems(w http.ResponseWriter, wrong *dynamic.Refused) error {
	f := fault.From(wrong)
	var body map[string]json.RawMessage
	err := json.Unmarshal(fault.OpenAI(f), &body)
	if err != nil {
		return err
	}
	if body["problems"], err = json.Marshal(wrong.Problems); err != nil {
		return err
	}
	f.Advise(w.Header())
	return write(w, f.Status(), body)
}

// listTools returns every tool, including those that are switched off or cannot be offered, because
// the page has to show what is wrong with them. There is no paging, because a thousand tools, which
// is the most, are only some 500 KB. It returns an error if the store fails.
func (c *customTools) listTools(r *http.Request) (any, error) {
	all, err := c.set.List(r.Context())
	return map[string]any{"tools": append([]dynamic.Tool{}, all...)}, err
}

// createTool saves a new tool, and answers with it in the form in which it was stored. That form
// can differ from the form that was sent: {{name}} becomes :name, which the editor must show. It
// returns a *dynamic.Refused if the draft has problems, or another error if saving fails.
func (c *customTools) createTool(w http.ResponseWriter, r *http.Request) error {
	d, err := draft(r)
	if err != nil {
		return err
	}
	t, err := c.set.Create(r.Context(), who(r), d)
	if err != nil {
		return err
	}
	c.log.Info().Str("tool", t.Name).Str("by", who(r)).Msg("custom tool created")
	w.Header().Set("Location", fmt.Sprintf("%stools/%d", API, t.ID))
	return write(w, http.StatusCreated, t)
}

// getTool returns one tool and its version, which the next change has to name. It returns an error
// if there is no such tool.
func (c *customTools) getTool(r *http.Request, id int) (any, error) {
	return c.set.Get(r.Context(), id)
}

// updateTool replaces a tool with a draft. The version is in the body and not in If-Match, because
// a proxy that drops an unknown header would make every save overwrite the changes of others; the
// editor keeps the whole draft as one JSON object anyway. It returns an error if there is no such
// tool or it has changed.
func (c *customTools) updateTool(r *http.Request, id int) (any, error) {
	d, err := draft(r)
	if err != nil {
		return nil, err
	}
	t, err := c.set.Update(r.Context(), who(r), id, d)
	return c.changed(r, t, "changed", err)
}

// changed logs that the tool t was changed, where what says how, and returns t and nil. If err is
// not nil, it logs nothing and returns err as well.
func (c *customTools) changed(r *http.Request, t dynamic.Tool, what string, err error) (
	dynamic.Tool, error) {
	if err == nil {
		c.log.Info().Str("tool", t.Name).Int("version", t.Version).Str("by", who(r)).Msg(
			"custom tool " + what)
	}
	return t, err
}

// deleteTool removes a tool. The version is in the query, because some proxies drop the body of a
// DELETE. It returns an error if there is no such tool or it has changed.
func (c *customTools) deleteTool(r *http.Request) error {
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
	return nil
}

// toggleTool switches a tool on or off. The body says which of the two, and not "the other state":
// two tabs that toggle at once would otherwise undo each other. It returns an error if the body has
// no is_active, if there is no such tool, or if the tool has changed.
func (c *customTools) toggleTool(r *http.Request, id int) (any, error) {
	// A pointer, because a body without is_active must not switch anything off.
	var in struct {
		Active  *bool `json:"is_active"`
		Version int   `json:"version"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	if in.Active == nil {
		return nil, fault.Wrong("is_active", "is_active has to be true or false")
	}
	t, err := c.set.Toggle(r.Context(), who(r), id, in.Version, *in.Active)
	return c.changed(r, t, "switched", err)
}

// listVersions returns the versions of a tool, even of a deleted one, since its number is never
// given to another tool. It returns an error if there never was such a tool.
func (c *customTools) listVersions(r *http.Request, id int) (any, error) {
	all, err := c.set.Versions(r.Context(), id)
	return map[string]any{"versions": all}, err
}

// listAudit returns who changed which tool, newest first. One answer has at most
// dynamic.MostEntries entries. A request for more has the query parameter before, the id of the
// last entry of the earlier answer. listAudit returns an error if before is not a number or the
// store fails.
func (c *customTools) listAudit(r *http.Request) (any, error) {
	before, err := number(r.URL.Query().Get("before"), "before")
	if err != nil {
		return nil, err
	}
	all, err := c.set.Audit(r.Context(), before)
	return map[string]any{"entries": append([]dynamic.Entry{}, all...),
		"more": len(all) == dynamic.MostEntries}, err
}

// restoreTool restores an earlier version of a tool. That version is in the path; the body has the
// newest version that the page has seen. It returns an error if a version is unknown or the tool
// has changed since.
func (c *customTools) restoreTool(r *http.Request, id int) (any, error) {
	version, err := number(r.PathValue("version"), "version")
	if err != nil {
		return nil, err
	}
	var in struct {
		Version int `json:"version"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	t, err := c.set.Restore(r.Context(), who(r), id, version, in.Version)
	return c.changed(r, t, "restored", err)
}

// validateTool returns what is wrong with a draft, while an author writes it. The status is 200
// even if something is wrong, because an unfinished draft is not an error of the request, and a
// browser would show each in its console as a failure. Only a body that is no draft is an error.
func (c *customTools) validateTool(r *http.Request) (any, error) {
	d, err := draft(r)
	if err != nil {
		return nil, err
	}
	return c.set.Validate(r.Context(), d), nil
}

// shown is the result of a test run, as MCP clients get it.
type shown struct {
	Content    []part          `json:"content"`
	Structured json.RawMessage `json:"structuredContent,omitempty"`
	IsError    bool            `json:"isError"`
}

// part is a text of a result. Custom tools return no other kind of content.
type part struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// trial is the outcome of a test run of a draft, with its result.
type trial struct {
	dynamic.Trial
	Result *shown `json:"result,omitempty"`
}

// testTool runs the draft of a tool and answers with the outcome. The arguments are passed on as
// they were sent, so that a test shows what sloppy arguments of a model would become. It returns an
// error only if the body is wrong.
func (c *customTools) testTool(r *http.Request) (any, error) {
	var in struct {
		Tool      dynamic.Draft   `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	out := trial{Trial: c.set.Test(r.Context(), in.Tool, in.Arguments)}
	if res := out.Trial.Result; res != nil {
		out.Result = showResult(*res)
	}
	return out, nil
}

// showResult returns a result in the form in which mcpserver sends it.
func showResult(res tools.Result) *shown {
	out := &shown{Content: []part{}, Structured: res.Structured, IsError: res.IsError}
	for _, p := range res.Content {
		out.Content = append(out.Content, part{"text", p.Text})
	}
	return out
}

// listConnections returns what the definition of a tool may name: the database connections with
// their tables, and the functions of expressions. The setting of a connection, a URL with a
// password, is not included. The error is always nil.
func (c *customTools) listConnections(r *http.Request) (any, error) {
	return map[string]any{"connections": c.set.Connections(r.Context()),
		"functions": pyexpr.Names()}, nil
}
