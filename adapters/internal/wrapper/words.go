package wrapper

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/scan"
)

// set returns the set of the words in a text.
func set(words string) map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.Fields(words) {
		all[w] = true
	}
	return all
}

// Names of members beside a call, folded to small letters without signs.
var (
	idKeys    = set("id callid toolcallid tooluseid requestid uuid")
	idsBeside = set(
		"created createdat index idx step seq sequence order turn server servername namespace jsonrpc")
	typeKeys = set(
		"type kind version role object format finishreason stopreason mode model intent")
	thoughtKeys = set(
		"thought thoughts thinking think reasoning reason reasons rationale explanation plan analysis " +
			"reflection comment note why goal purpose justification")
	// records are members with the outcome of a call.
	records = set(
		"result results error errors status ms duration durationms output outputs response responses success ok " +
			"took elapsed latency exitcode stdout stderr timestamp observation returned returns finished started cached cost")
	// messages are members that hold a model's answer, if no tool is named beside them.
	messages = set("response responses output outputs")
	// shown are members that hold examples of calls, or a list of tools.
	shown = set(
		"example examples sample samples tools functions schema definitions properties history log logs messages " +
			"expected available capabilities usage docs documentation test tests config permissions last previous choices")
	// pages are the elements of a page, which shows its content.
	pages = set(
		"html body head pre code div p span svg table tr td ul ol li article section a b i em blockquote details")
	// speaks holds the roles of messages with calls.
	speaks = map[string]bool{"assistant": true, "model": true, "ai": true, "agent": true}
	// kinds are words for a call.
	kinds = set(
		"function functions tool tools toolcall toolcalls tooluse usetool functioncall functioncalls call toolscall " +
			"calltool invoke invocation action callfunction runtool execute command request")
)

// fold returns a word in small letters, without the signs between its parts.
func fold(word string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '_' || r == '-' || r == ' ' || r == '/' || r == '.':
			return -1
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return r
	}, word)
}

// beside reports whether a member may occur beside a call: an id, a type, a role or a thought, or a
// word for a call. Empty members may, too, such as the content of OpenAI's messages.
func beside(key string, n *node) bool {
	// a thought may be any value: AutoGPT's is an object
	if thoughtKeys[key] {
		return true
	}
	// "tool_calls": [] of a message without calls
	if n.kind != aText {
		return n.kind == aList && len(n.items) == 0
	}
	return idKeys[key] || idsBeside[key] || typeKeys[key] || kinds[fold(n.text)] ||
		strings.TrimSpace(n.text) == "" && !wraps(key) ||
		n.json == "null" && !wraps(key)
}

// wraps reports whether a member's name is one for arguments. If such a member is empty, its value
// is {}.
func wraps(key string) bool {
	return strings.HasPrefix(key, "arg") || strings.HasPrefix(key, "param") || key == "input" ||
		key == ""
}

// answers reports whether a member "choices" holds the answer of an API, and not options:
// {"choices": [{"message": {…}}]}.
func answers(key string, n *node) bool {
	return key == "choices" && n.kind == aList && len(n.items) == 1 &&
		slices.ContainsFunc(n.items[0].members, func(m member) bool { return m.key == "message" })
}

// holdsCode reports whether a value is a JSON string whose text is not JSON, or a list with such a
// string.
func (n *node) holdsCode() bool {
	if n.kind == aList {
		return slices.ContainsFunc(n.items, (*node).holdsCode)
	}
	text := strings.TrimSpace(n.text)
	return n.kind == aText && n.json != "" && text != "" && text[0] != '{' && text[0] != '['
}

// isKeyByte reports whether a byte may occur in the name of a member or a tag.
func isKeyByte(c byte) bool { return scan.IsName(int(c)) || c == ':' }
