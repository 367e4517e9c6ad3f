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

// runsCommands are the names that clients give to the tool that runs a command and has it as its
// parameter "command". run_command is Void's, execute_command Cline's and Roo's.
var runsCommands = []string{"run_command", "execute_command"}

// Commander writes calls as commands for one client. The editors' own tool feeds output and exit
// code back to the model; a block in the text needs a click, and what it printed never returns. A
// line works in dash, bash, zsh, ksh, fish and busybox alike, so the client's shell need not be
// known.
type Commander struct {
	*Config
	base64   bool
	language string
	via      string // the client's own tool that runs commands; empty: it has none
}

// Commander returns the Commander for a client by its header and its own tools. Shells of Windows
// take quotes apart in ways that no one spelling survives, so such a client gets the arguments in
// base64. PowerShell 5.1 and cmd strip quotation marks inside an argument. OpenAI's SDKs name the
// system in a header; other clients cannot be told apart and count as POSIX.
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

// onlyCommand reports whether a tool needs nothing but a command.
// A tool that requires more (a reason, a folder) would need values that nobody here can know.
func onlyCommand(parameters json.RawMessage) bool {
	t := schema.Compile(parameters)
	return t.Has("command") && !slices.ContainsFunc(t.Required(), func(name string) bool { return name != "command" })
}

// command returns the line that runs a call. A terminal may cut a long line, and the rest of it
// would be read with its quotes turned round: such a call is kept here, and the line only fetches
// it by an id. The line itself holds no $, no ! and at most 900 bytes: busybox cuts a pasted line
// at 1,023.
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

// Call returns a call of the client's own tool that runs c as a command. The tool's name is made
// canonical first, since Void puts a random prefix in front of names of MCP tools.
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
