package adapters

import (
	"slices"
	"strings"
	"unicode"

	"toolnorm/adapters/internal/prose"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
	"toolnorm/internal/jsontree"
)

// heard is the conversation before the reply. It shows, for example, whether the user has asked for
// a call.
type heard struct {
	messages []chat.Message
	looked   int // how many calls of the reply evidence was asked for
}

// maxLooked bounds the calls of a reply for which evidence is looked up in the conversation.
// maxHeard bounds the bytes of a message that are read for that.
const (
	maxLooked = 16
	maxHeard  = 1 << 16
)

// evidence returns how the conversation explains a call, or 0 if it does not mention the call.
// Asked means that the user's last message asks for the call: that message contains at least half
// of the call's values, shows no call, and does not ask what was done or would be done. Taught
// means that the message asks how calls are written, and that no message contains a word of the
// values. Pasted means that the call was in a text that the model was given to read.
func (h *heard) evidence(call chat.Call) (e prose.Evidence) {
	if h.looked++; h.looked > maxLooked {
		return 0
	}
	values, last, words := leaves(string(call.Args)), true, 0
	for _, m := range slices.Backward(h.messages) {
		text := strings.ToLower(m.Content[:min(len(m.Content), maxHeard)])
		holds := func(part string) bool { return strings.Contains(text, strings.ToLower(part)) }
		held := 0
		for _, v := range values {
			if holds(v) {
				held++
			}
		}
		if prose.Shares(text, values...) {
			words++
		}
		switch {
		case m.Role != chat.User && m.Role != chat.ToolRole || h.answers(m, call.Name):
		case held == len(values) && holds(call.Name) && strings.Contains(text, "{"),
			pastes(text, call):
			return prose.Pasted
		case m.Role == chat.User && last:
			last = false
			data := prose.AboutData(text)
			switch {
			case len(values) == 0:
			case 2*held >= len(values) && !strings.Contains(text, "{") && !holds(call.Name) &&
				!data:
				if prose.Asks(text, prose.Tool{Name: call.Name, Values: values}) {
					e = prose.Asked
				}
			case data, holds(call.Name) && prose.Questions(text):
				e = prose.Taught
			}
		}
	}
	if e == prose.Taught && words > 0 {
		return 0
	}
	return e
}

// given reports whether the last message is the user's and contains the call in some notation, as
// when the user asks to rewrite a call in another notation.
func (h *heard) given(call chat.Call) bool {
	text := h.question()
	return text != "" && pastes(text, call)
}

// wanted reports whether the last message is the user's, contains all values of the call, and asks
// for its action (see evidence), and not for a program that does it.
func (h *heard) wanted(call chat.Call) bool {
	text := h.question()
	return text != "" && !prose.AboutPrograms(text) && h.evidence(call) == prose.Asked &&
		h.speaksOf(call) == wholly
}

// question returns the beginning of the last message in small letters, or "" if that is not the
// user's.
func (h *heard) question() string {
	if len(h.messages) == 0 || h.messages[len(h.messages)-1].Role != chat.User {
		return ""
	}
	text := h.messages[len(h.messages)-1].Content
	return strings.ToLower(text[:min(len(text), maxHeard)])
}

// pastes reports whether a text in lower case contains a call in some notation: the tool's name,
// each member of the arguments as notations write it, and the words of all values. Quotes and
// escapes may be between the words.
func pastes(text string, call chat.Call) bool {
	return strings.Contains(text, strings.ToLower(call.Name)) && writesOut(text, call) &&
		!slices.ContainsFunc(leaves(string(call.Args)), func(v string) bool {
			return !strings.Contains(text, strings.ToLower(v)) && !hasWords(text, v)
		})
}

// hasWords reports whether a text in lower case contains all words and numbers of a value. It
// returns false for a value that has none.
func hasWords(text, value string) bool {
	words := strings.FieldsFunc(strings.ToLower(value), func(r rune) bool { return !partOfWord(r) })
	return len(words) > 0 && !slices.ContainsFunc(words, func(word string) bool {
		return !strings.Contains(text, word)
	})
}

// writesOut reports whether a text in lower case contains each argument of a call as notations
// write it. The argument's name may be a key in JSON or a tag, or be followed by : or = at the
// beginning of a line. If any argument directly follows the tool's name, with no other word between
// them, names may also have a sign beside them, as in commands and expressions: --city or city=. It
// returns false for a call without arguments.
func writesOut(text string, call chat.Call) bool {
	fields := scan.Fields(string(call.Args))
	heads := headed(text, call)
	return len(fields) > 0 && !slices.ContainsFunc(fields, func(f scan.Field) bool {
		key := strings.ToLower(f.Key)
		_, behind, quoted := strings.Cut(text, `"`+key+`"`)
		return !(heads && signed(text, key)) &&
			!strings.Contains(text, "<"+key+">") && !(quoted && assigns(behind)) &&
			!slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool {
				behind, ok := strings.CutPrefix(strings.TrimLeft(line, " \t'-*"), key)
				return ok && assigns(behind)
			})
	})
}

// headed reports whether a text in lower case contains the tool's name directly before an argument,
// with no word between them, as in get_weather(city= and get_weather --city.
func headed(text string, call chat.Call) bool {
	for rest, ok := text, true; ok; {
		if _, rest, ok = strings.Cut(rest, strings.ToLower(call.Name)); !ok {
			return false
		}
		behind := strings.TrimLeftFunc(rest, func(r rune) bool { return !partOfWord(r) })
		if len(behind) < len(rest) && slices.ContainsFunc(scan.Fields(string(call.Args)),
			func(f scan.Field) bool { return strings.HasPrefix(behind, strings.ToLower(f.Key)) }) {
			return true
		}
	}
	return false
}

// assigns reports whether the text after a name gives the name a value: it begins with : or =.
func assigns(behind string) bool {
	behind = strings.TrimLeft(behind, " \t'")
	return behind != "" && (behind[0] == ':' || behind[0] == '=')
}

// wrote reports whether the user's last message contains all strings in the arguments and does not
// ask how calls are written. A string without letters must be in quotes in that message.
func (h *heard) wrote(args string) bool {
	text := h.asked()
	if prose.AboutData(strings.ToLower(text)) {
		return false
	}
	return !slices.ContainsFunc(leaves(args), func(v string) bool {
		if strings.ContainsFunc(v, unicode.IsLetter) {
			return !strings.Contains(text, v)
		}
		return !slices.ContainsFunc(quotesOf, func(q [2]string) bool {
			return strings.Contains(text, q[0]+v+q[1])
		})
	})
}

// asked returns the user's last message, up to maxHeard bytes of it, or "" if there is none.
func (h *heard) asked() string {
	for _, m := range slices.Backward(h.messages) {
		if m.Role == chat.User {
			return m.Content[:min(len(m.Content), maxHeard)]
		}
	}
	return ""
}

// quotesOf lists the pairs of quotes in which users write a text.
var quotesOf = [][2]string{{`"`, `"`}, {"'", "'"}, {"`", "`"}, {"“", "”"}, {"‘", "’"}, {"«", "»"},
	{"„", "“"}, {"「", "」"}}

// answers reports whether a message is the named tool's answer. An answer may name the tool and
// repeat its arguments.
func (h *heard) answers(m chat.Message, tool string) bool {
	return m.Role == chat.ToolRole && (m.Name == tool ||
		slices.ContainsFunc(h.messages, func(made chat.Message) bool {
			return slices.ContainsFunc(made.Calls, func(c chat.Call) bool {
				return c.ID == m.CallID && c.Name == tool
			})
		}))
}

// leaves returns the texts and numbers in a JSON document. If raw cannot be parsed, it returns raw
// as the only text.
func leaves(raw string) []string {
	doc, _ := jsontree.Parse([]byte(raw), maxUnmarked)
	if doc == nil {
		return []string{raw}
	}
	return addLeaves(nil, doc)
}

// addLeaves appends the texts and numbers in a JSON value to a slice, and returns the longer slice.
// The words true, false and null are left out.
func addLeaves(all []string, v *jsontree.Value) []string {
	for _, item := range v.Items {
		all = addLeaves(all, item)
	}
	for _, m := range v.Members {
		all = addLeaves(all, m.Value)
	}
	switch v.Raw[0] {
	case '"':
		return append(all, v.Text)
	case '[', '{', 't', 'f', 'n': // true, false and null are no texts
		return all
	}
	return append(all, v.Raw)
}
