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
// How a line is quoted, so that no text of a model's can leave its quotes in any shell, is package
// runner's affair.
package shell

import (
	"encoding/json"
	"fmt"
	"net/http"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/fault"
	"toolnorm/proxy/form"
	"toolnorm/runner"
	"toolnorm/tools"
)

// Config says how tools that are served here reach clients that only have a terminal. Tools is
// needed.
type Config struct {
	Tools    *tools.Registry
	Program  runner.Program // that runs a call; empty: runner.Toolrun
	Language string         // behind the fence of a block; empty: bash, and powershell for clients on Windows
	Base64   bool           // arguments that no shell can take apart; always for clients that say they run on Windows

	Budget int // tokens that descriptions may take, about; beyond it the tools that the conversation asks for are offered. 0: any number

	// Keep keeps a call that is too long for a command line, under an id by which the program
	// fetches it; nil: such a call is shown as text.
	Keep func(name string, args json.RawMessage) (id string, err error)
	Kept func(id string) (name string, args json.RawMessage, ok bool) // what Keep was given; nil: nobody knows

	Used func() // is called for each request in this form; nil: nobody wants to know
}

// Form offers the tools that are served here, and has their calls run in the client's terminal.
// It takes only who asks for it, by a header, a name or a setting.
type Form struct {
	*Config           // nil: nothing is served
	Below   form.Form // writes the text, and calls of the client's own tools
}

var _ form.Form = Form{}

// errNoTools is the refusal of a request that would be offered nothing.
var errNoTools = fault.New(fault.Invalid, "client form shell needs tools, and this server has none for you")

// Open accepts requests that ask for this form. The client's own tools stay what they are; one of
// ours that has the name of one of them is not offered. Calls are held until they are whole, since
// a line is run as it is.
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
		ours, all := r.offered(may, a)
		a.Offer(ours)
		if len(ours) < all {
			a.Tell("Tools", fmt.Sprintf("%d of %d tools are offered, those that the conversation asks for; toolrun --list names all", len(ours), all))
		}
	}
	return r, nil
}

// offered returns the tools that are served here and that the client does not have, as far as their
// descriptions fit into the budget, and how many there are in all. A thousand would fill any
// model's context.
func (r *reply) offered(may *tools.Snapshot, a *form.Ask) (ours []chat.Tool, all int) {
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
	for _, t := range wanted(served, a.Messages, r.commander.Budget) {
		r.ours[t.Name] = true
		ours = append(ours, chat.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	return ours, len(served)
}
