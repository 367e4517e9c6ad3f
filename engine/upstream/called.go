package upstream

import (
	"strconv"
	"strings"
)

// alsoCalled stands in front of the name that a tool has for everybody but the model.
const alsoCalled = "Also called "

// AlsoCalled is a tool's description with the name that the user knows it by, so that a model finds what the user speaks of.
func AlsoCalled(name, description string) string {
	return strings.TrimSpace(alsoCalled + strconv.Quote(name) + ". " + description)
}

// called is the name by which the user knows a tool.
func called(f Function) string {
	if rest, ok := strings.CutPrefix(f.Description, alsoCalled); ok {
		if quoted, err := strconv.QuotedPrefix(rest); err == nil {
			name, _ := strconv.Unquote(quoted) // it is one
			return name
		}
	}
	return f.Name
}

// calledAs is the name by which the user knows the tool of that name.
func (t demoTurn) calledAs(name string) string {
	for _, tool := range t.Tools {
		if tool.Function.Name == name {
			return called(tool.Function)
		}
	}
	return name
}
