package upstream

import (
	"strconv"
	"strings"
)

// alsoCalled stands in front of the name that a tool has for everybody but the model.
const alsoCalled = "Also called "

// AlsoCalled is a tool's description with the name that the user knows it by, so that a model finds what the user
// speaks of: a tool "工具" is tool_5ca6730d toward a family that cannot write it, and "Also called "工具"." stands in
// its description.
func AlsoCalled(name, description string) string {
	return strings.TrimSpace(alsoCalled + strconv.Quote(name) + ". " + description)
}

// KnownAs is the name by which the user knows a tool of that name and description: the inverse of AlsoCalled.
func KnownAs(name, description string) string {
	if rest, ok := strings.CutPrefix(description, alsoCalled); ok {
		if quoted, err := strconv.QuotedPrefix(rest); err == nil {
			known, _ := strconv.Unquote(quoted) // it is one
			return known
		}
	}
	return name
}
