// Package shell is the client form for people and editors that only have a terminal: calls of the
// tools that are served here come as commands, which the client runs by its own tool for commands,
// or which a person pastes.
//
//	shell.go    settings, and which requests are taken
//	wanted.go   which tools are offered when there are too many
//	command.go  a call as a command
//	reply.go    commands in the reply
//	history.go  commands of earlier replies as the calls that they were
//
// What a client gets for a call of search_docs is one of these, the first where its own tools can
// run a command:
//
//	{"name":"run_command","arguments":"{\"command\":\"toolrun search_docs '{…}'\"}"}
//	```bash
//	toolrun search_docs '{"query":"vacation"}'
//	```
//
// Package runner quotes the lines, so that a model's text cannot break out of its quotes in any
// shell.
package shell

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/proxy/form"
	"toolnorm/runner"
	"toolnorm/tools"
	"toolnorm/tools/find"
)

// Config configures how clients that only have a terminal can use this server's tools. The field
// Tools must be set.
type Config struct {
	Tools   *tools.Registry
	Program runner.Program // the program that runs a call; empty: runner.Toolrun
	// the language after the fence of a block; empty: bash, or powershell for clients on Windows
	Language string
	// arguments are written in Base64, which no shell can misread; always so for clients that say
	// they run on Windows
	Base64 bool

	// about how many tokens descriptions may take; if all tools take more, only those that the
	// conversation asks for are offered. 0: no limit
	Budget   int
	Meanings *find.Meanings // finds tools by what they mean; nil: only their words are compared

	// Keep stores a call that is too long for a command line, and returns the id by which the
	// program fetches it. It returns an error if it cannot. Nil: such a call is shown as text.
	Keep func(name string, args json.RawMessage) (id string, err error)
	// returns the call that Keep stored under this id, or false; nil: stored calls are not known
	Kept func(id string) (name string, args json.RawMessage, ok bool)

	Used func() // is called for each request in this form; may be nil
}

// Form offers this server's tools, whose calls run in the client's terminal. It accepts only
// requests that ask for it by a header, a model's suffix or a setting.
type Form struct {
	*Config           // nil: this server has no tools
	Below   form.Form // writes the text, and calls of the client's own tools
}

var _ form.Form = Form{}

// errNoTools is the answer to a request for which there are no tools to offer.
var errNoTools = fault.New(fault.Invalid,
	"client form shell needs tools, and this server has none for you")

// Open implements form.Form: it returns a reply for a request that wants calls to be run as shell
// commands, and nil for other requests. The client's own tools stay as they are, and a tool of this
// server with the same name is not offered. Calls are held back until they are whole, because a
// command line runs as it is. It returns an error if there are no tools, or if f.Below cannot open
// its reply.
func (f Form) Open(h http.Header, a *form.Ask, out form.Out) (form.Reply, error) {
	switch {
	case a.Form != form.Shell:
		return nil, nil
	case f.Config == nil:
		return nil, errNoTools
	}
	may := f.Tools.For(out.Context)
	if len(may.Tools) == 0 {
		return nil, errNoTools
	}
	if f.Used != nil {
		f.Used()
	}
	a.Form = ""
	below, err := f.Below.Open(h, a, out)
	if err != nil {
		return nil, err
	}
	a.Hold, a.Form = adapters.HoldCall, form.Shell
	r := &reply{Reply: below, commander: f.Commander(h, a.Tools), ours: map[string]bool{}}
	a.Messages = r.commander.earlier(a.Messages)
	if !a.NoCalls {
		ours, all := r.offered(out.Context, may, a)
		a.Offer(ours)
		if len(ours) < all {
			a.Tell("Tools", fmt.Sprintf(
				"%d of %d tools are offered, those that the conversation asks for; toolrun --list names all", len(ours), all))
		}
	}
	return r, nil
}

// offered returns the tools of this server that are offered to the model, and how many would be
// offered if the budget had no limit. A tool that the client has itself is not offered. The budget
// limits the descriptions, because a thousand tools would fill any model's context.
func (r *reply) offered(ctx context.Context, may *tools.Snapshot, a *form.Ask) (
	ours []chat.Tool, all int) {
	taken := map[string]bool{}
	for _, t := range a.Tools {
		taken[t.Name] = true
		if served, ok := may.Find(t.Name); ok { // with Void's prefix
			taken[served.Name] = true
		}
	}
	var served []tools.Tool
	for _, t := range may.Tools {
		if !taken[t.Name] {
			served = append(served, t)
		}
	}
	for _, t := range r.commander.pickTools(ctx, served, a.Messages) {
		r.ours[t.Name] = true
		ours = append(ours, chat.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	return ours, len(served)
}
