package main

import (
	"fmt"
	"net/http"

	"toolnorm/agent"
	"toolnorm/internal/limit"
)

// limits has the setting that says how much each caller may ask.
type limits struct {
	Limits map[string]string `name:"limits" placeholder:"NAME=LIMITS" help:"What callers may ask of models: by a key's label or a JWT's sub (* matches any text), words as rpm=60 (requests a minute), tpm=100000 (tokens a minute), at-once=2 (requests at once), bytes=4000000 (of those together) and context=32768 (tokens of a prompt), with commas between, or none. Without keys each address has the limits of local. Default: no limits."`
}

// modelPaths are the paths whose requests ask a model.
var modelPaths = map[string]bool{
	"/v1/chat/completions": true, "/v1/completions": true, "/v1/embeddings": true,
	"/v1/messages": true, "/v1/responses": true,
	"/api/chat": true, "/api/generate": true, "/api/embed": true, "/api/embeddings": true,
	agent.Path: true,
}

// asksModel reports whether a request asks a model. Only such requests count towards the limits of
// their caller.
func asksModel(r *http.Request) bool {
	return r.Method == http.MethodPost && modelPaths[r.URL.Path]
}

// readAccess reads into s the settings of who may ask, and how much. It returns an error that names
// the first wrong setting.
func (c *Config) readAccess(s *settings) (err error) {
	if s.keys, err = s.readKeys("api-keys", c.APIKeys, c.APIKeysFile); err != nil {
		return err
	}
	if s.adminKeys, err = s.readKeys("admin-key", c.AdminKey, c.AdminKeyFile); err != nil {
		return err
	}
	if s.scrapers, err = s.readKeys("metrics-key", c.MetricsKey, ""); err != nil {
		return err
	}
	if s.sets, err = c.sets(); err != nil {
		return err
	}
	if s.rights, err = c.reaches.rights(); err != nil {
		return err
	}
	if s.limits, err = limit.Parse(c.Limits); err != nil {
		return fmt.Errorf("limits: %w", err)
	}
	s.tokens, err = c.tokens()
	return err
}
