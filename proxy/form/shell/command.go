package shell

import (
	"encoding/json"
	"errors"
	"net/http"
	"slices"

	"toolnorm/chat"
	"toolnorm/chat/schema"
	"toolnorm/runner"
)

// runsCommands are the names of clients' own tools that run a command, given as the argument
// "command". run_command is Void's, execute_command is that of Cline and Roo.
var runsCommands = []string{"run_command", "execute_command"}

// Commander writes calls as commands for one client. If the client has a tool that runs commands,
// it is used, because its output and exit code return to the model. Otherwise the command is
// written as a block in the text, which needs a click and whose output never comes back. The same
// line works in dash, bash, zsh, ksh, fish and busybox, so the client's shell need not be known.
type Commander struct {
	*Config
	base64   bool
	language string
	via      string // the client's own tool that runs commands; empty: none
}

// Commander returns the Commander for a client with these headers and these tools of its own.
// Clients on Windows get the arguments in Base64, because no single notation survives the quoting
// rules of all Windows shells: PowerShell 5.1 and cmd strip quotation marks inside an argument.
// OpenAI's SDKs name the system in a header; all other clients count as POSIX.
func (s *Config) Commander(h http.Header, theirs []chat.Tool) *Commander {
	c := &Commander{Config: s, base64: s.Base64, language: s.Language}
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

// onlyCommand reports whether a tool with these parameters requires no argument but a command. If
// it requires others (a reason, a folder), it cannot be used, since their values are not known
// here.
func onlyCommand(parameters json.RawMessage) bool {
	t := schema.Compile(parameters)
	return t.Has("command") && !slices.ContainsFunc(t.Required(), func(name string) bool {
		return name != "command"
	})
}

// command returns the line that runs a call, or an error if the call cannot be written as one. A
// terminal may cut a long line, and the quotes in its rest would then be paired wrongly. So a long
// call is stored here, and its line only fetches it by an id. A line contains no $ and no !, and
// has at most 900 bytes, since busybox cuts a pasted line at 1,023.
func (c *Commander) command(call chat.Call) (string, error) {
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

// Call returns a call of the client's own tool that runs the given call as a command. It first
// removes the random prefix that the editor Void puts before names of MCP tools. It returns an
// error if the client has no such tool, if the call is not of a tool of this server, or if it
// cannot be written as a command.
func (c *Commander) Call(call chat.Call) (chat.Call, error) {
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
	call.Args = append(chat.AppendQuoted([]byte(`{"command":`), line), '}')
	return call, nil
}
