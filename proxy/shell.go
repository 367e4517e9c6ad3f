package proxy

import (
	"encoding/json"
	"net/http"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/runner"
	"toolnorm/tools"
)

// Shell is how tools that are served here reach clients that only have a terminal. Tools is needed.
type Shell struct {
	Tools    *tools.Registry
	Program  runner.Program // that runs a call; empty: runner.Toolrun
	Language string         // behind the fence of a block; empty: bash, and powershell for clients on Windows
	Base64   bool           // arguments that no shell can take apart; always for clients that say they run on Windows

	// Keep keeps a call that is too long for a command line, under an id by which the program fetches it; nil: such a call
	// is shown as text.
	Keep func(name string, args json.RawMessage) (id string, err error)
	Kept func(id string) (name string, args json.RawMessage, ok bool) // what Keep was given; nil: nobody knows

	Used func() // is called for each request in this form; nil: nobody wants to know
}

// shellDialect offers the tools that are served here, and has their calls run in the client's terminal.
type shellDialect struct {
	shell *Shell // nil: nothing is served
}

var _ Dialect = shellDialect{}

// Open takes requests that ask for this form. The client's own tools stay what they are; one of ours that has the name of
// one of them is not offered.
func (d shellDialect) Open(h http.Header, a *Ask, out Out) (Reply, error) {
	switch {
	case a.Form != FormShell:
		return nil, nil
	case d.shell == nil || len(d.shell.Tools.Snapshot().Tools) == 0:
		return nil, fault.New(fault.Invalid, "no tools are served here that could be run in a shell")
	}
	if d.shell.Used != nil {
		d.shell.Used()
	}
	a.Form = ""
	below, err := xmlDialect(d).Open(h, a, out)
	if below == nil && err == nil {
		below, err = openAI{}.Open(h, a, out)
	}
	if err != nil {
		return nil, err
	}
	a.Hold, a.Form = adapters.HoldCall, FormShell
	r := &shellReply{Reply: below, commander: d.shell.commander(h, a.Tools), ours: map[string]bool{}}
	a.Messages = r.commander.earlier(a.Messages)
	if a.NoCalls {
		return r, nil
	}
	return r, a.offer(r.offered(a.Tools))
}

// offered are the tools that are served here and that the client does not have.
func (r *shellReply) offered(theirs []chat.Tool) (ours []chat.Tool) {
	now := r.commander.Tools.Snapshot()
	taken := map[string]bool{}
	for _, t := range theirs {
		taken[t.Name] = true
		if served, ok := now.Find(t.Name); ok { // with Void's prefix
			taken[served.Name] = true
		}
	}
	for _, t := range now.Tools {
		if !taken[t.Name] {
			r.ours[t.Name] = true
			ours = append(ours, chat.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema})
		}
	}
	return ours
}
