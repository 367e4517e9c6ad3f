package wrapper

import (
	"regexp"
	"slices"
	"strings"

	"toolnorm/adapters/internal/scan"
)

// Names of members, folded as by [fold]. Those of the first four sets may occur beside a call.
var (
	idKeys = scan.WordSet(
		"id callid toolcallid tooluseid requestid sessionid conversationid messageid traceid turnid uuid")
	idsBeside = scan.WordSet(
		"created createdat index idx step seq sequence order turn server servername namespace jsonrpc")
	typeKeys = scan.WordSet(
		"type kind version role object format finishreason stopreason mode model intent")
	thoughtKeys = scan.WordSet(
		"thought thoughts thinking think reasoning reason reasons rationale explanation plan analysis " +
			"reflection comment note why goal purpose justification")
	// records are members with the outcome of a call, so their object is not a call.
	records = scan.WordSet(
		"result results error errors status ms duration durationms output outputs response responses success ok " +
			"took elapsed latency exitcode stdout stderr timestamp observation returned returns finished started cached cost")
	// messages are members with a model's answer, unless a tool is named beside them.
	messages = scan.WordSet("response responses output outputs")
	// shown are members with examples of calls, or a list of tools.
	shown = scan.WordSet(
		"example examples sample samples tools functions schema definitions properties history log logs messages " +
			"expected available capabilities usage docs documentation test tests config permissions last previous choices")
	// pages are HTML elements, whose content is shown and not read as a call.
	pages = scan.WordSet(
		"html body head pre code div p span svg table tr td ul ol li article section a b i em blockquote details")
	// speaks are the roles of messages that may have calls.
	speaks = map[string]bool{"assistant": true, "model": true, "ai": true, "agent": true}
	// kinds are words that announce a call.
	kinds = scan.WordSet(
		"function functions tool tools toolcall toolcalls tooluse usetool functioncall functioncalls call toolscall " +
			"calltool invoke invocation action callfunction runtool execute command request")
)

// attributed matches the folded name of a member that names the author or the id of a thing, such
// as createdby.
var attributed = regexp.MustCompile(`.(?:by|id)$`)

// callsIt reports whether the name of a member speaks of calls, as "tool_calls" and "func" do.
func callsIt(key string) bool { return callWords.MatchString(fold(key)) }

// callWords matches folded words that speak of calls.
var callWords = regexp.MustCompile(
	`oper|call|exec|run|tool|func|fn|action|invo|command|request|name|method|^do$|^use$|^op$`)

// says reports whether a value is an object that has a member whose name passes the function test.
func (n *node) says(test func(key string) bool) bool {
	return slices.ContainsFunc(n.members, func(m member) bool { return test(m.key) })
}

// fold returns a word in small letters, without underscores, hyphens, blanks, slashes and dots.
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

// beside reports whether a member with this folded name may occur beside a call. Such a member is
// an id, a type, a role, a thought, or a word that announces a call. Empty members may also occur
// there, such as the content of OpenAI's messages.
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

// wraps reports whether a member with this name may contain the arguments of a call, as "args" or
// "input". The name must be folded, which means in small letters without separators. If such a
// member is empty, its value is {}.
func wraps(key string) bool {
	return strings.HasPrefix(key, "arg") || strings.HasPrefix(key, "param") || key == "input" ||
		key == ""
}

// answers reports whether a member with this key and the value n is the list of answers in OpenAI's
// API, as in {"choices": [{"message": {…}}]}. It returns false for a member "choices" with any
// other content, because that may hold options to choose from.
func answers(key string, n *node) bool {
	return key == "choices" && n.kind == aList && len(n.items) == 1 &&
		slices.ContainsFunc(n.items[0].members, func(m member) bool { return m.key == "message" })
}

// holdsCode reports whether a value is a JSON string, or a list with a JSON string, that may
// contain code: the string is not empty, and does not begin with a brace or a bracket.
func (n *node) holdsCode() bool {
	if n.kind == aList {
		return slices.ContainsFunc(n.items, (*node).holdsCode)
	}
	text := strings.TrimSpace(n.text)
	return n.kind == aText && n.json != "" && text != "" && text[0] != '{' && text[0] != '['
}

// isKeyByte reports whether a byte may occur in the name of a member or a tag.
func isKeyByte(c byte) bool { return scan.IsName(int(c)) || c == ':' }
