package chat

import (
	"regexp"
	"slices"
	"strings"
)

// opening matches a tag at the start of a line, as agents put tags around text that is not the
// user's own. Elsewhere in a line a tag is part of what the user writes.
var opening = regexp.MustCompile(`(?m)^[ \t]*<([A-Za-z][\w.:-]*)(?:\s[^<>]*)?>`)

// asking lists the tags, in lowercase without - and _, that agents put around the user's own
// request, such as <task> of Cline and its relatives, and <user_query>. Every other tag at the
// start of a line is the client's.
var asking = []string{"task", "userquery", "usermessage", "userrequest", "userprompt", "userinput",
	"userinstruction", "userinstructions", "query", "prompt", "question", "request", "message",
	"feedback", "user", "input", "answer"}

// Asked returns the part of a message that the user wrote. Blocks in tags that begin a line, such
// as <system-reminder> and <environment_details>, are the client's and are removed. Of blocks that
// contain the request (<task>, <user_query>) only the tags are removed. A search for the user's
// request would otherwise find the reminder: Qwen Code sends five parts, four of which are such
// blocks. A tag that is never closed is text.
func Asked(content string) string {
	// Text with a thousand tags would otherwise be searched a thousand times.
	const mostTags = 64 // that are looked at

	var b strings.Builder
	rest := content
	missing := map[string]bool{} // tags without a closing tag, each searched for once
	for range mostTags {
		at := opening.FindStringSubmatchIndex(rest)
		if at == nil {
			break
		}
		name := rest[at[2]:at[3]]
		inner, behind, closed := "", "", false
		if !missing[name] {
			inner, behind, closed = strings.Cut(rest[at[1]:], "</"+name+">")
			missing[name] = !closed
		}
		switch {
		case !closed:
			b.WriteString(rest[:at[1]])
			rest = rest[at[1]:]
			continue
		case slices.Contains(asking, strings.NewReplacer("-", "", "_", "").Replace(
			strings.ToLower(name))):
			b.WriteString(rest[:at[0]] + inner)
		default:
			b.WriteString(rest[:at[0]])
		}
		b.WriteByte('\n')
		rest = strings.TrimPrefix(behind, "\n")
	}
	b.WriteString(rest)
	return b.String()
}
