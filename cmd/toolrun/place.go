package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"toolnorm/internal/auth"
	"toolnorm/internal/home"
	"toolnorm/internal/toolbox"
	"toolnorm/runner"
	"toolnorm/tools"
	"toolnorm/tools/dynamic"
)

// place is where calls are run: by a running proxy, or by this process if there is none. The proxy
// is preferred, since only it knows the calls that were too long for a command line.
type place struct {
	proxy *runner.Client // nil: no proxy is known
	only  bool           // whether the user named the proxy, so that nothing is run elsewhere
	local toolbox.Config
	box   *toolbox.Box // nil until it is needed
}

// find returns the place that the options, the environment and the proxy's settings name. It does
// not read toolnorm.yaml in the current folder, since a folder from somebody else must not decide
// where calls are sent. The API key of the environment is only sent to the address on the command
// line. It returns an error if an option or a setting is wrong.
func (p *program) find(o options) (*place, error) {
	if o.url != "" {
		if u, err := url.Parse(o.url); err != nil || u.Host == "" ||
			u.Scheme != "http" && u.Scheme != "https" {
			return nil, fmt.Errorf(
				"--url: %q is no address of a toolnorm, as http://127.0.0.1:11435 is", o.url)
		}
		return &place{proxy: &runner.Client{Address: runner.Address{URL: o.url, Token: p.env(
			"TOOLNORM_API_KEY")}}, only: true}, nil
	}
	settings, err := home.ReadSettings(cmp.Or(o.config, p.env("TOOLNORM_CONFIG")))
	if err != nil {
		return nil, err
	}
	at := &place{local: toolbox.Config{Panicked: p.panicked, Odd: p.odd, Warn: p.warn}}
	if err := errors.Join(home.Fill(&at.local.Databases, p.env, settings.All),
		home.Fill(&at.local.Knowledge, p.env, settings.All)); err != nil {
		return nil, err
	}
	if at.local.Connections, err = dynamic.ReadConnections(p.env("TOOLNORM_CONNECTION"),
		settings.All); err != nil {
		return nil, err
	}
	of, _ := settings.All["sample"].(string) // toolnorm refuses other types
	at.local.Sample = cmp.Or(p.env("TOOLNORM_SAMPLE"), of, "auto")
	at.local.Store = cmp.Or(o.store, p.env("TOOLNORM_STORE"), settings.Store)
	dir, err := home.Data(cmp.Or(o.data, p.env("TOOLNORM_DATA"), settings.Data))
	if err != nil {
		return nil, err
	}
	at.local.Data = dir
	if o.store != "" {
		return at, nil // the proxy may use another store
	}
	switch address, err := runner.FindAddress(dir); {
	case err == nil:
		at.proxy = &runner.Client{Address: address}
	// If runner.json is a link, another user's file, or writable by others, it could send a call
	// anywhere.
	case errors.Is(err, runner.ErrForeign): // other errors mean that no toolnorm runs
		fmt.Fprintf(p.stderr, "toolrun: running the tool without toolnorm: %v\n", err)
	}
	return at, nil
}

// odd prints a warning that some tools are off, because their data cannot be opened. The other
// tools work.
func (p *program) odd(err error) { p.warn("some tools are off: " + err.Error()) }

// warn prints a warning about something that cannot be used and was left out.
func (p *program) warn(text string) { fmt.Fprintln(p.stderr, "toolrun:", text) }

// panicked prints the panic of a tool and where it happened.
func (p *program) panicked(tool string, value any, stack []byte) {
	fmt.Fprintf(p.stderr, "toolrun: %s panicked: %v\n%s", tool, value, stack)
}

// elsewhere reports whether this process may make the call itself, after the proxy returned err. It
// may only if no proxy was listening and the user did not name one. A call that may have begun must
// never be made a second time.
func (at *place) elsewhere(err error) bool {
	return at.proxy == nil || !at.only && errors.Is(err, runner.ErrNotThere)
}

// tools returns the tools of the proxy or, if none is listening, those of this process. It returns
// an error if neither can be reached.
func (at *place) tools(ctx context.Context) (all []runner.Described, err error) {
	if at.proxy != nil {
		all, err = at.proxy.Tools(ctx)
	}
	if !at.elsewhere(err) {
		return all, err
	}
	if err := at.open(ctx); err != nil {
		return nil, err
	}
	return runner.Describe(auth.WithPrincipal(ctx, auth.Local()), at.box.Registry), nil
}

// call runs a tool at the proxy or, if none is listening, in this process. It returns an error if
// neither can be reached; the failure of a tool is part of its outcome.
func (at *place) call(ctx context.Context, name string, args json.RawMessage) (
	out tools.Outcome, err error) {
	if at.proxy != nil {
		out, err = at.proxy.Call(ctx, name, args)
	}
	if !at.elsewhere(err) {
		return out, err
	}
	if err := at.open(ctx); err != nil {
		return out, err
	}
	now := at.box.Registry.Snapshot()
	name = now.Meant(name)
	if _, known := now.Find(name); !known && now.Gone(name) == "" &&
		(strings.Contains(name, ".") || strings.Contains(name, "__")) {
		return out, fmt.Errorf(
			"%s would be a tool of another MCP server, and those are reached through a running toolnorm only; none is running on %s", name, at.local.Data)
	}
	// A user who runs this command can read the data anyway.
	return tools.OutcomeOf(at.box.Registry.Call(auth.WithPrincipal(ctx, auth.Local()), name, args)),
		nil
}

// callPending runs a call that only the proxy knows. Its arguments are in the memory of the
// toolnorm that wrote the command line, and nowhere else. It returns an error if no toolnorm is
// running or it does not know the call.
func (at *place) callPending(ctx context.Context, id string) (tools.Outcome, error) {
	if at.proxy == nil {
		return tools.Outcome{}, fmt.Errorf(
			"no toolnorm is running on %s; only the one that created the call can run it",
			at.local.Data)
	}
	return at.proxy.CallPending(ctx, id)
}

// open opens the data with which tools run in this process, unless it is open already. It returns
// an error if the data cannot be opened. It is called only when a call needs the data, since
// opening may create the database.
func (at *place) open(ctx context.Context) (err error) {
	if at.box == nil {
		at.box, err = toolbox.Open(ctx, at.local)
	}
	return err
}

// close closes the data if it is open.
func (at *place) close() {
	if at.box != nil {
		_ = at.box.Close()
	}
}
