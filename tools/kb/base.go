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

// baseSchema is the JSON Schema of knowledge_base_id for callers whose rights are not known. It
// names no knowledge base, while [bases.seen] does.
const baseSchema = `{"type": "string", "description": "The knowledge base, by its name or id. Leave it out when there is only one"}`

// seen returns a function for tools.Tool.Seen. The function returns the tool's schema with the
// knowledge bases that the caller may see: the schema asks for no base if there is only one, and
// otherwise for one of their names. The function returns nil, so that the common schema applies, if
// there are none or too many, or if they cannot be read.
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

// maxSeen bounds how many knowledge bases a schema names, because the schema is part of the prompt
// of each request.
const maxSeen = 50

// choices returns the names of knowledge bases, or the id for those that share a name.
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

// maxListed bounds how many knowledge bases an error message lists.
const maxListed = 20

// bases finds the knowledge base that a caller means. Without a store, as when another server
// searches, it understands only ids.
type bases struct{ store *kbstore.Store }

// refuse returns a failure and true for a call whose knowledge_base_id is an unknown or ambiguous
// name, or is missing, null or empty while the caller sees more or less than one base. It returns
// false for any UUID, whether such a base exists or not, and for a value of another type, which the
// schema's check then reports.
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

// find returns the id of the knowledge base that a caller means. The parameter given is the base's
// id, its name in upper or lower case, or "" for the only base that the caller may see. If no base
// or several fit, the result problem says so in the specification's words, and hint lists the bases
// that the caller may see.
func (b bases) find(ctx context.Context, given string) (id, problem, hint string) {
	if kbstore.ValidID(given) {
		return given, "", ""
	}
	var seen, found []kbstore.Base
	if b.store != nil {
		// if they cannot be listed, only ids are understood
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

// listed returns the names of knowledge bases for a message, with their descriptions, or with their
// ids if ids is true.
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
