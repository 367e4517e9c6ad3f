package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"toolnorm/chat"
	"toolnorm/internal/auth"
)

// rights returns the parsed setting rights, which says what each caller may do. It returns an error
// that names the setting if that is wrong.
func (c *reaches) rights() (auth.Rights, error) {
	all, err := auth.ReadRights(c.Rights)
	if err != nil {
		return nil, fmt.Errorf("rights: %w", err)
	}
	return all, nil
}

// mayAsk returns a function that returns an error if the caller of ctx may not ask the model of
// this name. A caller's rights list models. A model may be listed by the name in the request, by
// that without a suffix such as @agent or :latest, or by the name for which an alias stands.
func mayAsk(c *Config, models chat.Catalog) func(ctx context.Context, name string) error {
	fallback := c.Model
	return func(ctx context.Context, name string) error {
		var names []string
		for _, known := range []string{name, models.Real(name)} {
			if at := strings.LastIndex(known, "@"); at >= 0 {
				known = known[:at]
			}
			known = cmp.Or(known, fallback)
			names = append(names, known, strings.TrimSuffix(known, ":latest"), models.Real(known))
		}
		if who := auth.PrincipalOf(ctx); !who.MayAsk(names...) {
			return auth.RefuseModel(who, name)
		}
		return nil
	}
}
