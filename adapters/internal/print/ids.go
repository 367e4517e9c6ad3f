package print

import (
	"fmt"
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/chat"
)

// Number gives calls the ids that the family writes, first being how many calls the conversation had before. An id that the
// family could have written stays; in most families that is any.
func Number(f *declaration.Family, first int, calls []chat.Call) []chat.Call {
	calls = slices.Clone(calls)
	for i := range calls {
		calls[i].ID = id(f, calls[i], first+i)
	}
	return calls
}

// id is what call n of a conversation is called.
func id(f *declaration.Family, c chat.Call, n int) string {
	switch hasID, hasName := writes(f, "id"), writes(f, "name"); {
	case f.Layout.Counter != "" && strings.Trim(c.ID, "0123456789") == "" && c.ID != "":
		return c.ID
	case f.Layout.Counter != "":
		return fmt.Sprint(n)
	case !hasID:
		return c.ID
	case !hasName && !strings.HasPrefix(strings.TrimPrefix(c.ID, "functions."), c.Name+":"):
		return fmt.Sprintf("functions.%s:%d", c.Name, n) // the id is what names the tool
	case c.ID == "":
		return fmt.Sprintf("call%06d", n)
	}
	return c.ID
}

// writes says whether the family prints a hole of that kind with a call.
func writes(f *declaration.Family, hole string) bool {
	return len(f.Calls) > 0 && f.Calls[0].Hole(hole) >= 0
}
