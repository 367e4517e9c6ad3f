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
// code back to the model; a block in the text needs a click, and its output never comes back. The
// same line works in dash, bash, zsh, ksh, fish and busybox, so the client's shell need not be
// known.
type Commander struct {
	*Config
	base64   bool
	language string
	via      string // the client's own tool that runs commands; empty: it has none
}

// Commander returns the Commander for a client with these headers and these tools of its own. No
// single spelling survives the quoting rules of all Windows shells, so clients on Windows get the
// arguments in base64. PowerShell 5.1 and cmd strip quotation marks inside an argument. OpenAI's
// SDKs name the system in a header; other clients cannot be told apart and count as POSIX.
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
// A tool that requires more (a reason, a folder) would need values that are unknown here.
func onlyCommand(parameters json.RawMessage) bool {
	t := schema.Compile(parameters)
	return t.Has("command") && !slices.ContainsFunc(t.Required(), func(name string) bool {
		return name != "command"
	})
}

// command returns the line that runs a call. A terminal may cut a long line, and the quotes in the
// rest would then pair up wrongly. So a long call is kept here, and its line only fetches it by an
// id. The line itself holds no $ and no !, and has at most 900 bytes: busybox cuts a pasted line at
// 1,023.
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
// canonical first, since Void puts a random prefix before the names of MCP tools.
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
