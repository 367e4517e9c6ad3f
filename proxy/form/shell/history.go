package shell

import (
	"encoding/json"
	"fmt"
	"strings"

	"toolnorm/chat"
)

// shownResult is the result of a command that was shown in a block, because its real result is not
// known here. A call needs a result in the history, or it would seem to be running still.
const shownResult = "This was shown to the user as a command to run. What it gave, if it was run, is in the user's next message."

// earlier returns the messages with the commands in earlier replies turned back into calls. So the
// model sees what it called, and not the command that ran it. Only text that this package could
// have written, byte for byte, counts as such a command. A command that a model or a user merely
// typed must not become a call, because the model would believe that it made it.
func (c *Commander) earlier(in []chat.Message) (out []chat.Message) {
	names := map[string]string{} // of the tools, by the id of a call
	blocks := 0
	for _, m := range in {
		if m.Role == chat.ToolRole && names[m.CallID] != "" {
			m.Name = names[m.CallID]
		}
		if m.Role != chat.Assistant {
			out = append(out, m)
			continue
		}
		m.Calls = append([]chat.Call(nil), m.Calls...)
		for i := range m.Calls {
			c.unwrap(&m.Calls[i])
			names[m.Calls[i].ID] = m.Calls[i].Name
		}
		var results []chat.Message
		if len(m.Calls) == 0 {
			m.Content, m.Calls = c.blocks(m.Content)
			for i := range m.Calls {
				blocks++
				// the same id in each request, because the text is the same
				m.Calls[i].ID = fmt.Sprintf("call_shell_%d", blocks)
				results = append(results, chat.Message{Role: chat.ToolRole, CallID: m.Calls[i].ID,
					Name: m.Calls[i].Name, Content: shownResult})
			}
		}
		out = append(append(out, m), results...)
	}
	return out
}

// unwrap replaces a call of the client's command tool by the call of this server's tool that its
// command runs. After that, the result follows the call that the model made. A call of another
// tool, or with any other command, stays as it is.
func (c *Commander) unwrap(call *chat.Call) {
	var args struct{ Command string }
	if call.Name != c.via || json.Unmarshal(call.Args, &args) != nil {
		return
	}
	if name, inner, ok := c.read(args.Command); ok {
		call.Name, call.Args = name, inner
	}
}

// read returns the call that a command line runs. It returns false if this package could not have
// written the line. A line that fetches a stored call by its id can only be read as long as the
// call is stored. After that it stays text. The last 1,000 calls, or 64 MiB, are stored until a
// restart.
func (c *Commander) read(line string) (name string, args json.RawMessage, ok bool) {
	if id, isFetch := c.Program.ReadFetch(line); isFetch && c.Kept != nil {
		return c.Kept(id)
	}
	return c.Program.Read(line)
}

// blocks returns a reply's text without the commands at its end, and these commands as calls in the
// same order. Only commands at the very end count, because a reply has its commands there, and
// prose about a command must stay prose.
func (c *Commander) blocks(text string) (said string, calls []chat.Call) {
	for {
		rest, ok := strings.CutSuffix(strings.TrimRight(text, " \n"), "\n```")
		at := strings.LastIndex(rest, "```")
		if !ok || at < 0 {
			return text, calls
		}
		_, line, _ := strings.Cut(rest[at:], "\n")
		name, args, ok := c.read(line)
		if !ok {
			return text, calls
		}
		calls = append([]chat.Call{{Name: name, Args: args}}, calls...)
		text = strings.TrimRight(rest[:at], "\n")
	}
}
