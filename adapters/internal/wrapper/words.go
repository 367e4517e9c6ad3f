package wrapper

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/scan"
)

// set makes a set of words.
func set(words string) map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.Fields(words) {
		all[w] = true
	}
	return all
}

// The members that stand beside a call, folded to small letters without signs.
var (
	idKeys      = set("id callid toolcallid tooluseid requestid uuid")
	idsBeside   = set("created createdat index idx step seq sequence order turn server servername namespace jsonrpc")
	typeKeys    = set("type kind version role object format finishreason stopreason mode model intent")
	thoughtKeys = set("thought thoughts thinking think reasoning reason reasons rationale explanation plan analysis " +
		"reflection comment note why goal purpose justification")
	// records say what has become of a call.
	records = set("result results error errors status ms duration durationms output outputs response responses success ok " +
		"took elapsed latency exitcode stdout stderr timestamp observation returned returns finished started cached cost")
	// messages hold what a model has answered, where no tool is named beside them.
	messages = set("response responses output outputs")
	// shown hold calls that are shown, or what there is to call.
	shown = set("example examples sample samples tools functions schema definitions properties history log logs messages " +
		"expected available capabilities usage docs documentation test tests config permissions last previous choices")
	// pages are the elements of a page, which shows what stands in it.
	pages = set("html body head pre code div p span svg table tr td ul ol li article section a b i em blockquote details")
	// speaks are the roles of who calls.
	speaks = map[string]bool{"assistant": true, "model": true, "ai": true, "agent": true}
	// kinds say that a call is one.
	kinds = set("function functions tool tools toolcall toolcalls tooluse usetool functioncall functioncalls call toolscall " +
		"calltool invoke invocation action callfunction runtool execute command request")
)

// fold returns a word in small letters, without what separates its parts.
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

// beside reports whether a member stands beside a call: an id, a type, a role or a thought, or a
// word for a call. What is empty says nothing either, as the content of OpenAI's messages.
func beside(key string, n *node) bool {
	// a thought may be of any form: AutoGPT's is an object
	if thoughtKeys[key] {
		return true
	}
	// "tool_calls": [] of a message that has none
	if n.kind != aText {
		return n.kind == aList && len(n.items) == 0
	}
	return idKeys[key] || idsBeside[key] || typeKeys[key] || kinds[fold(n.text)] || strings.TrimSpace(n.text) == "" && !wraps(key) ||
		n.json == "null" && !wraps(key)
}

// wraps reports whether a member holds arguments by its name: an empty one is {}.
func wraps(key string) bool {
	return strings.HasPrefix(key, "arg") || strings.HasPrefix(key, "param") || key == "input" || key == ""
}

// answers reports whether a member holds the answers of an API, and not what there is to choose
// from: {"choices": [{"message": {…}}]}.
func answers(key string, n *node) bool {
	return key == "choices" && n.kind == aList && len(n.items) == 1 &&
		slices.ContainsFunc(n.items[0].members, func(m member) bool { return m.key == "message" })
}

// holdsCode reports whether a value is a text of JSON, or a list of those, that is no JSON itself.
func (n *node) holdsCode() bool {
	if n.kind == aList {
		return slices.ContainsFunc(n.items, (*node).holdsCode)
	}
	text := strings.TrimSpace(n.text)
	return n.kind == aText && n.json != "" && text != "" && text[0] != '{' && text[0] != '['
}

// isKeyByte reports whether a byte may stand in the name of a member or a tag.
func isKeyByte(c byte) bool { return scan.IsName(int(c)) || c == ':' }
