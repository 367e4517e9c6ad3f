package main

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"toolnorm/internal/doctor"
	"toolnorm/internal/version"
)

// modelsLimit is how long the servers may take to say what they have.
const modelsLimit = 30 * time.Second

// listModels is the command models. It takes the settings of serve, so that it lists what that serves.
type listModels struct {
	JSON bool `name:"json" env:"-" help:"Print the list as JSON, as doctor does (docs/doctor.md)."`

	Config
}

// Run lists the models. No model is loaded for it. A server that cannot be reached is named, and the status is that of doctor.
func (c *listModels) Run(m *Main) error {
	settings, err := c.resolve()
	if err != nil {
		return &ended{m.given.located(err), statusUsage}
	}
	d, err := doctor.New(doctor.Config{Engine: c.engine(settings, zerolog.Nop())})
	if err != nil {
		return &ended{m.given.located(err), statusUsage}
	}
	ctx, cancel := context.WithTimeout(context.Background(), modelsLimit)
	defer cancel()
	r := d.Servers(ctx)
	r.Toolnorm = version.String()
	print := r.PrintModels
	if c.JSON {
		print = r.PrintJSON
	}
	if err := print(m.stdout); err != nil {
		return err
	}
	return unreachable(r)
}
