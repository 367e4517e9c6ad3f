package proxy

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"

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
	case a.Form != formShell:
		return nil, nil
	case d.shell == nil || len(d.shell.Tools.Snapshot().Tools) == 0:
		return nil, fault.New(fault.Invalid, "no tools are served here that could be run in a shell")
	}
	a.Form = ""
	below, err := xmlDialect{d.shell}.Open(h, a, out)
	if below == nil && err == nil {
		below, err = openAI{}.Open(h, a, out)
	}
	if err != nil {
		return nil, err
	}
	a.Hold, a.Form = adapters.HoldCall, formShell
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

// runsCommands are the names that clients give to the tool that runs a command and has it as its parameter "command".
var runsCommands = []string{"run_command", "execute_command"}

// commander writes calls as commands for one client.
type commander struct {
	*Shell
	base64   bool
	language string
	via      string // the client's own tool that runs commands; empty: it has none
}

// commander is for a client by its header and its tools.
func (s *Shell) commander(h http.Header, theirs []chat.Tool) *commander {
	c := &commander{Shell: s, base64: s.Base64, language: s.Language}
	windows := h.Get("X-Stainless-Os") == "Windows"
	c.base64 = c.base64 || windows
	switch {
	case c.language != "":
	case windows:
		c.language = "powershell"
	default:
		c.language = "bash"
	}
	for _, t := range theirs {
		if slices.Contains(runsCommands, t.Name) && onlyCommand(t.Schema) {
			c.via = t.Name
		}
	}
	return c
}

// onlyCommand says that a tool needs nothing but a command.
func onlyCommand(schema json.RawMessage) bool {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return false
	}
	_, has := s.Properties["command"]
	return has && !slices.ContainsFunc(s.Required, func(name string) bool { return name != "command" })
}

// command is the line that runs a call.
func (c *commander) command(call chat.Call) (string, error) {
	write := c.Program.Command
	if c.base64 {
		write = c.Program.Base64
	}
	line, err := write(call.Name, call.Args)
	if errors.Is(err, runner.ErrTooLong) && c.Keep != nil {
		var id string
		if id, err = c.Keep(call.Name, call.Args); err == nil {
			return c.Program.Fetch(id)
		}
	}
	return line, err
}

// call is a call of the client's own tool that runs c as a command.
func (c *commander) call(call chat.Call) (chat.Call, error) {
	served, ok := c.Tools.Snapshot().Find(call.Name)
	if c.via == "" || !ok {
		return call, errors.New("the client cannot run it")
	}
	call.Name = served.Name
	line, err := c.command(call)
	if err != nil {
		return call, err
	}
	call.Name = c.via
	call.Args = append(appendQuoted([]byte(`{"command":`), line), '}')
	return call, nil
}
