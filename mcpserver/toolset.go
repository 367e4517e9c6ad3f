package mcpserver

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"toolnorm/tools"
)

// Sets is the pattern of the addresses of sets of tools: /mcp/sets/NAME.
const Sets = "/mcp/sets/{set}"

// ofSet returns the handler for Streamable HTTP at the address of one set of tools, where nothing
// else is listed or called. For a set that does not exist, or that the caller may not use, it
// answers with a 404 that names the caller's sets.
func ofSet(s *Server) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		may, name := s.cfg.Registry.For(r.Context()), r.PathValue("set")
		if _, ok := may.Set(name); !ok {
			s.refuse(w, nil, fail(codeRequest, "%s", unknownSet(name, may.Sets())).withStatus(
				http.StatusNotFound))
			return
		}
		s.streamable(w, r.WithContext(tools.WithSet(r.Context(), name)))
	})
}

// mostNamed is the most sets that an error message names.
const mostNamed = 20

// unknownSet returns the message for a set of tools that the caller may not use or that does not
// exist. It lists the caller's sets, in names.
func unknownSet(name string, names []string) string {
	text := fmt.Sprintf("there is no set of tools %.64q for you", name)
	switch {
	case len(names) == 0:
		return text + "; an administrator makes sets on the page Tools of /admin"
	case len(names) > mostNamed:
		return fmt.Sprintf("%s; there are %s and %d more", text,
			strings.Join(names[:mostNamed], ", "), len(names)-mostNamed)
	}
	return text + "; there are " + strings.Join(names, ", ")
}

// declareSet returns what a server declares to a caller that may use only some tools: tools, but
// neither prompts nor resources, and as its instructions the descriptions of the caller's sets of
// tools. A result that cannot be read is returned unchanged.
func declareSet(may *tools.Snapshot, result json.RawMessage) json.RawMessage {
	return declaring(result, func(all, can map[string]json.RawMessage) {
		maps.DeleteFunc(can, func(name string, _ json.RawMessage) bool {
			return name != "tools" && name != "logging"
		})
		var about []string
		for _, name := range may.Sets() {
			if set, _ := may.Set(name); strings.TrimSpace(set.Description) != "" &&
				!slices.Contains(about, set.Description) {
				about = append(about, set.Description)
			}
		}
		delete(all, "instructions")
		if len(about) > 0 {
			all["instructions"] = encode(strings.Join(about, "\n"))
		}
	})
}
