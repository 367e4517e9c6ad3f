package admin

import (
	"cmp"
	"net/http"

	"toolnorm/internal/fault"
	"toolnorm/tools/dynamic"
)

// runExamples runs the examples of a draft. It returns the outcome of each example and the problems
// of the draft. It returns an error only if the body is wrong.
func (c *customTools) runExamples(r *http.Request) (any, error) {
	var in struct {
		Tool dynamic.Draft `json:"tool"`
	}
	if err := read(r, &in); err != nil {
		return nil, err
	}
	verdicts, problems := c.set.Examine(r.Context(), in.Tool)
	return map[string]any{"examples": append([]dynamic.Verdict{}, verdicts...),
		"problems": append([]dynamic.Problem{}, problems...)}, nil
}

// choice is a tool that may be added to a set of tools.
type choice struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	ReadOnly    bool   `json:"read_only"` // whether the tool declares that it only reads
}

// listSets returns the sets of tools, and the tools that may be in them. It returns an error if the
// store fails.
func (c *customTools) listSets(r *http.Request) (any, error) {
	sets, err := c.set.Groups.List(r.Context())
	choices := []choice{}
	for _, t := range c.all.Snapshot().Tools {
		choices = append(choices, choice{t.Name, cmp.Or(t.Title, t.Description),
			t.Hints.ReadOnly != nil && *t.Hints.ReadOnly})
	}
	return map[string]any{"sets": append([]dynamic.Group{}, sets...), "tools": choices}, err
}

// saveSet saves the set of tools that the request contains, and returns it. The set's version must
// be 0 if the set is new, and otherwise the version of the set that it replaces. It returns an
// error if the body has another name than the path, and a *dynamic.Refused if the draft has
// problems.
func (c *customTools) saveSet(r *http.Request) (any, error) {
	var in dynamic.GroupDraft
	if err := read(r, &in); err != nil {
		return nil, err
	}
	if name := r.PathValue("name"); in.Name != "" && in.Name != name {
		return nil, fault.Wrong("name",
			"a set keeps its name, since addresses, keys and tokens have it; make another one")
	}
	in.Name = r.PathValue("name")
	g, err := c.set.Groups.Save(r.Context(), who(r), in)
	if err == nil {
		c.log.Info().Str("set", g.Name).Int("version", g.Version).Str("by", who(r)).Msg(
			"set of tools saved")
	}
	return g, err
}

// deleteSet removes a set of tools. It returns an error if there is no such set, or if it has
// changed since the version that the query names.
func (c *customTools) deleteSet(r *http.Request) error {
	version, err := number(r.URL.Query().Get("version"), "version")
	if err != nil {
		return err
	}
	if err := c.set.Groups.Delete(r.Context(), who(r), r.PathValue("name"), version); err != nil {
		return err
	}
	c.log.Info().Str("set", r.PathValue("name")).Str("by", who(r)).Msg("set of tools deleted")
	return nil
}
