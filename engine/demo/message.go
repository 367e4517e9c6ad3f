package demo

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"toolnorm/chat"
	"toolnorm/engine/ollama"
)

// user returns what the user asked last, or its end when it is long. It passes over messages of the
// client's own, such as reminders, which ask nothing.
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

// last returns the last message that says something: what a client adds for the model's eyes only
// does not count. Agents put a reminder after a tool's result; taken for a question, it would have
// the demo call for ever.
func (t demoTurn) last() ollama.Message {
	for _, m := range slices.Backward(t.Messages) {
		if m.Role == "tool" || m.Role == "user" && asks(m) != "" {
			return m
		}
	}
	return ollama.Message{}
}

// mostRead is how much of a message is looked at for what the user asks, its end, in bytes:
// expressions run over it, and a request may have megabytes.
const mostRead = 1 << 20

// asks returns what the user wrote of a message, without the quotes of a command line. Of a very
// long message it reads only the end, where the question mostly is.
func asks(m ollama.Message) string {
	return unquoted(strings.TrimSpace(chat.Asked(m.Content[max(0, len(m.Content)-mostRead):])))
}

// unquoted returns a text without the quotes that a command line put around it, and without their
// escapes inside.
//
// A shell hands on "\"Get the weather in Paris\"" so. A single quoted word is more often a value.
func unquoted(s string) string {
	const words = 4 // fewer in quotes are what a tool is to be given
	if len(s) > 1 && s[0] == '"' && s[len(s)-1] == '"' && len(strings.Fields(s)) >= words {
		var plain string
		if json.Unmarshal([]byte(strings.ReplaceAll(s, "\n", `\n`)), &plain) == nil {
			return plain
		}
	}
	return strings.NewReplacer(`\"`, `"`, `\'`, `'`).Replace(s)
}

// finds are what a message holds that an argument may want. Each find is used once: with "from Oslo
// to Rome" the second of two texts is to be the second name.
type finds struct {
	message string
	values  int      // that were tried for the schema
	quoted  []string // "…", '…', `…`, “…”
	ids     []string // EMP001, TCK-42
	dates   []string // 2026-11-21
	numbers []string
	years   []string // 2025 in "in 2025"
	names   []string // words with a capital inside a sentence: Paris, New York
	paths   []string // notes.txt, /etc/hosts, src/main.go
}

// find looks a message through. Text that is quoted is not looked at again for the other kinds,
// except for paths. The order of the kinds is by how much a text says of itself: what a date or an
// id holds is no number, and what is left of the sentence's words may be a name.
//
// So `write "hello" into the file notes.txt` holds the quotation hello and the path notes.txt.
func find(message string) *finds {
	f := &finds{message: message}
	rest := regexp.MustCompile("\"([^\"]+)\"|`([^`]+)`|“([^”]+)”|(?:^|\\s)'([^']+)'").ReplaceAllStringFunc(message, func(s string) string {
		s = strings.Trim(strings.TrimSpace(s), "\"`'“”")
		f.quoted = append(f.quoted, s)
		return " "
	})
	for _, kind := range []struct {
		to      *[]string
		pattern string // of its groups the last is what counts
	}{
		{&f.dates, `\b\d{4}-\d\d-\d\d\b`},
		{&f.ids, `\b[A-Z]{2,}[-_]?\d+\b`},
		{&f.paths, `(?:[\w.-]*/)+[\w.-]+|\b[\w-]+\.[a-z]{1,4}\b`},
		{new([]string), `\b\d+(?:[.:]\d+){2,}\b|\b\d+:\d+\b|\b\d+(?:-\d+){2,}\b`}, // versions, times, dates: no numbers
		{&f.years, `\b(?i:in|of|since|year|until|for|during)\s+((?:19|20)\d\d)\b`},
		{&f.numbers, `-?\b\d{1,3}(?:,\d{3})+(?:\.\d+)?\b|(?:^|[^\w.,])-\d+(?:\.\d+)?\b|\b\d+(?:\.\d+)?\b`},
		{&f.names, `[A-Z][\p{L}]+(?: [A-Z][\p{L}]+)*`},
	} {
		rule := regexp.MustCompile(kind.pattern)
		rest = rule.ReplaceAllStringFunc(rest, func(s string) string {
			groups := rule.FindStringSubmatch(s)
			*kind.to = append(*kind.to, groups[len(groups)-1])
			return " "
		})
	}
	// A sign or bracket in front was matched so that "3-5" is no negative number; it is no part of
	// one.
	for i, n := range f.numbers { // 2,873,000
		f.numbers[i] = strings.TrimLeft(strings.ReplaceAll(n, ",", ""), " \t\n(=:[\"'$€")
	}
	if i := strings.IndexFunc(message, func(c rune) bool { return c != ' ' }); i >= 0 && len(f.names) > 0 && strings.HasPrefix(message[i:], f.names[0]) {
		f.names = f.names[1:] // a sentence's first word has its capital for another reason
	}
	return f
}
