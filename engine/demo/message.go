package demo

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"toolnorm/chat"
	"toolnorm/engine/ollama"
)

// user returns the user's last question. It returns only the end of a long question, and "" if
// there is no question. It skips messages of the client itself, such as reminders, which ask
// nothing.
func (t demoTurn) user() string {
	for _, m := range slices.Backward(t.Messages) {
		if m.Role != "user" {
			continue
		}
		if asked := asks(m); asked != "" {
			return asked[max(0, len(asked)-maxQuoted):]
		}
	}
	return ""
}

// last returns the last message of a tool or of the user, or the zero message if there is none. It
// skips messages with only the client's own text for the model. Agents put a reminder after a
// tool's result, and if the demo took that for a question, it would call tools for ever.
func (t demoTurn) last() ollama.Message {
	for _, m := range slices.Backward(t.Messages) {
		if m.Role == "tool" || m.Role == "user" && asks(m) != "" {
			return m
		}
	}
	return ollama.Message{}
}

// mostRead is how many bytes at the end of a message are searched for the question. It is limited
// because regular expressions run over them, and a request may have megabytes.
const mostRead = 1 << 20

// asks returns the part of a message that the user wrote, without the quotes of a command line. Of
// a very long message it reads only the end, where the question usually is.
func asks(m ollama.Message) string {
	return unquote(strings.TrimSpace(chat.Asked(m.Content[max(0, len(m.Content)-mostRead):])))
}

// unquote returns a text without the quotes that a command line put around it, and without the
// escapes of quotes inside.
//
// For example, whoever types "\"Get the weather in Paris\"" in a shell sends the inner quotes, too.
// Quotes around fewer than four words stay, because such words are more often a value.
func unquote(s string) string {
	const words = 4 // fewer words in quotes are a value for a tool
	if len(s) > 1 && s[0] == '"' && s[len(s)-1] == '"' && len(strings.Fields(s)) >= words {
		var plain string
		if json.Unmarshal([]byte(strings.ReplaceAll(s, "\n", `\n`)), &plain) == nil {
			return plain
		}
	}
	return strings.NewReplacer(`\"`, `"`, `\'`, `'`).Replace(s)
}

// finds has the parts of a message that may become arguments. Each is used once. For example, in
// "from Oslo to Rome" the second name is the value of the second text member.
type finds struct {
	message string
	values  int      // how many values were tried for the schema
	quoted  []string // "…", '…', `…`, “…”
	ids     []string // EMP001, TCK-42
	dates   []string // 2026-11-21
	numbers []string
	years   []string // 2025 in "in 2025"
	names   []string // words with a capital inside a sentence: Paris, New York
	paths   []string // notes.txt, /etc/hosts, src/main.go
}

// find returns the parts of a message, by kind. Text in quotation marks is one part, and is not
// searched for numbers, names or parts of other kinds. The most specific kinds are searched first,
// because the digits of a date or an id are not a number, and words that are left over may be
// names.
//
// For example, `write "hello" into the file notes.txt` has the quotation hello and the path
// notes.txt.
func find(message string) *finds {
	f := &finds{message: message}
	rest := regexp.MustCompile(
		"\"([^\"]+)\"|`([^`]+)`|“([^”]+)”|(?:^|\\s)'([^']+)'").ReplaceAllStringFunc(message,
		func(s string) string {
			s = strings.Trim(strings.TrimSpace(s), "\"`'“”")
			f.quoted = append(f.quoted, s)
			return " "
		})
	for _, kind := range []struct {
		to      *[]string
		pattern string // its last group counts
	}{
		{&f.dates, `\b\d{4}-\d\d-\d\d\b`},
		{&f.ids, `\b[A-Z]{2,}[-_]?\d+\b`},
		{&f.paths, `(?:[\w.-]*/)+[\w.-]+|\b[\w-]+\.[a-z]{1,4}\b`},
		// versions, times and dates are not numbers
		{new([]string), `\b\d+(?:[.:]\d+){2,}\b|\b\d+:\d+\b|\b\d+(?:-\d+){2,}\b`},
		{&f.years, `\b(?i:in|of|since|year|until|for|during)\s+((?:19|20)\d\d)\b`},
		{&f.numbers,
			`-?\b\d{1,3}(?:,\d{3})+(?:\.\d+)?\b|(?:^|[^\w.,])-\d+(?:\.\d+)?\b|\b\d+(?:\.\d+)?\b`},
		{&f.names, `[A-Z][\p{L}]+(?: [A-Z][\p{L}]+)*`},
	} {
		rule := regexp.MustCompile(kind.pattern)
		rest = rule.ReplaceAllStringFunc(rest, func(s string) string {
			groups := rule.FindStringSubmatch(s)
			*kind.to = append(*kind.to, groups[len(groups)-1])
			return " "
		})
	}
	// The sign or bracket before a number was matched so that "3-5" has no negative number; it is
	// removed here.
	for i, n := range f.numbers { // 2,873,000
		f.numbers[i] = strings.TrimLeft(strings.ReplaceAll(n, ",", ""), " \t\n(=:[\"'$€")
	}
	if i := strings.IndexFunc(message, func(c rune) bool { return c != ' ' }); i >= 0 &&
		len(f.names) > 0 && strings.HasPrefix(message[i:], f.names[0]) {
		f.names = f.names[1:] // the first word of a sentence has its capital for another reason
	}
	return f
}
