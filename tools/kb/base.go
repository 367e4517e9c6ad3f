package kb

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"toolnorm/chat"
	"toolnorm/internal/auth"
	"toolnorm/tools"
	"toolnorm/tools/kb/kbstore"
)

// baseSchema is the schema of knowledge_base_id for callers whose rights are not known. It names no
// base: see [bases.seen], which does.
const baseSchema = `{"type": "string", "description": "The knowledge base, by its name or id. Leave it out when there is only one"}`

// seen returns a function that returns a tool's schema with the knowledge bases that a caller may
// see: it asks for no base if there is only one, and for one of their names if there are several.
// If it returns nothing, the common schema applies.
func (b bases) seen(schema json.RawMessage) func(ctx context.Context) json.RawMessage {
	return func(ctx context.Context) json.RawMessage {
		who := auth.PrincipalOf(ctx)
		if b.store == nil || who == nil {
			return nil
		}
		all, err := b.store.Bases(ctx, who)
		if err != nil || len(all) == 0 || len(all) > maxSeen {
			return nil
		}
		place := map[string]any{"type": "string"}
		if len(all) == 1 {
			place["description"] = "Leave it out: there is only " + listed(all, false)
		} else {
			place["enum"], place["description"] = choices(all), "Which knowledge base: "+
				listed(all, false)
		}
		text, err := chat.JSON(place)
		if err != nil {
			return nil
		}
		own := strings.Replace(string(schema), baseSchema, string(text), 1)
		if len(all) > 1 && strings.Contains(own, `"required": ["query"]`) {
			own = strings.Replace(own, `"required": ["query"]`,
				`"required": ["query", "knowledge_base_id"]`, 1)
		} else if len(all) > 1 {
			own = strings.Replace(own, `{"type": "object",`,
				`{"type": "object", "required": ["knowledge_base_id"],`, 1)
		}
		return json.RawMessage(own)
	}
}

// maxSeen bounds how many knowledge bases a schema names: it is part of the prompt of each request.
const maxSeen = 50

// choices returns the names of knowledge bases, and the ids of those that share a name.
func choices(all []kbstore.Base) (out []string) {
	count := map[string]int{}
	for _, base := range all {
		count[strings.ToLower(base.Name)]++
	}
	for _, base := range all {
		if count[strings.ToLower(base.Name)] > 1 {
			out = append(out, base.ID)
		} else {
			out = append(out, base.Name)
		}
	}
	return out
}

// maxListed bounds how many knowledge bases an error lists.
const maxListed = 20

// bases finds the knowledge base that a caller means. Without a store, as when another server
// searches, only ids are understood.
type bases struct{ store *kbstore.Store }

// refuse answers a call whose knowledge_base_id means no base, or may mean several. It leaves null
// members and other types to the schema.
func (b bases) refuse(ctx context.Context, args map[string]json.RawMessage) (tools.Result, bool) {
	given := ""
	if raw, there := args["knowledge_base_id"]; there && json.Unmarshal(raw, &given) != nil {
		return tools.Result{}, false
	}
	if _, problem, hint := b.find(ctx, given); problem != "" {
		return hinted(http.StatusBadRequest, problem, hint), true
	}
	return tools.Result{}, false
}

// find returns the id of the base that is meant: by its id, by its name in any case, or as the only
// base that the caller may see. Otherwise it returns a problem, in the specification's words, and
// as a hint the bases that the caller may see.
func (b bases) find(ctx context.Context, given string) (id, problem, hint string) {
	if kbstore.ValidID(given) {
		return given, "", ""
	}
	var seen, found []kbstore.Base
	if b.store != nil {
		// without a list, only ids are understood
		seen, _ = b.store.Bases(ctx, auth.PrincipalOf(ctx))
	}
	for _, base := range seen {
		if given == "" || strings.EqualFold(base.Name, strings.TrimSpace(given)) {
			found = append(found, base)
		}
	}
	if len(found) == 1 {
		return found[0].ID, "", ""
	}
	problem = "knowledge_base_id must be a UUID"
	if given == "" {
		problem = "knowledge_base_id is missing"
	}
	switch {
	case len(found) > 1 && given != "":
		hint = "several knowledge bases have this name: " + listed(found, true)
	case len(seen) > 0:
		hint = "one of these names will do: " + listed(seen, false)
	}
	return "", problem, hint
}

// listed returns the names of knowledge bases with what they hold, or with their ids.
func listed(all []kbstore.Base, ids bool) string {
	var parts []string
	for _, base := range all[:min(len(all), maxListed)] {
		switch {
		case ids:
			parts = append(parts, fmt.Sprintf("%s (%s)", base.ID, base.Name))
		case base.Description != "":
			parts = append(parts, base.Name+" ("+base.Description+")")
		default:
			parts = append(parts, base.Name)
		}
	}
	if more := len(all) - maxListed; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, ", ")
}
