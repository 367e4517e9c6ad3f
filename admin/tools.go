package admin

import (
	"net/http"

	"toolnorm/internal/fault"
)

// handleTools adds the routes of the custom tools.
func (s *Server) handleTools() {
	for _, pattern := range []string{
		"GET " + API + "tools", "POST " + API + "tools",
		"GET " + API + "tools/{id}", "PUT " + API + "tools/{id}", "DELETE " + API + "tools/{id}",
		"POST " + API + "tools/{id}/toggle", "GET " + API + "tools/{id}/versions", "POST " + API + "tools/{id}/versions/{version}/restore",
		"POST " + API + "tools/validate", "POST " + API + "tools/test", "GET " + API + "schema",
	} {
		s.Handle(pattern, s.noTools)
	}
}

// noTools answers where there is no store to keep custom tools in.
func (s *Server) noTools(http.ResponseWriter, *http.Request) error {
	return fault.New(fault.Unable, "custom tools are off, since no store is open")
}
