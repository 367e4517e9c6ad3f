package adapters

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
	"toolnorm/chat/schema"
	"toolnorm/internal/jsontree"
)

// filling is how much a call's arguments say: nothing, only placeholders, or real values. A model
// that shows how a call is written puts placeholders in the place of all values, and such a call
// must not run.
type filling uint8

const (
	empty  filling = iota // no value yet, or the beginning of one that may be a placeholder
	blanks                // placeholders and nothing else
	filled                // a value that is no placeholder
)

// maxTemplate bounds the arguments that may be a template, in bytes.
const maxTemplate = 4096

// fillingOf returns whether the arguments in args have real values, only placeholders, or nothing.
// The text args may be the beginning of an object. A value that the schema lists is never a
// placeholder.
func fillingOf(args string, t *schema.Type) filling {
	if len(args) > maxTemplate || args != "" && args[0] != '{' {
		return filled
	}
	is := empty
	var key string
	var open []byte // the brackets that are open
	isKey := false  // a string here is a key
	for i := 0; i < len(args); i++ {
		switch c := args[i]; c {
		case '{', '[':
			open, isKey = append(open, c), c == '{'
		case '}', ']':
			open = open[:max(len(open)-1, 0)]
		case ',':
			isKey = len(open) > 0 && open[len(open)-1] == '{'
		case ' ', '\t', '\n', '\r', ':':
		case '"':
			n := jsontree.StringEnd(args[i:])
			text := args[i : i+n]
			i += n - 1
			switch whole := json.Valid([]byte(text)); {
			case isKey && !whole:
				return empty
			case isKey:
				key, isKey = scan.Unquote(text), false
			case !whole && mayStand(text[1:]):
				return empty
			case !whole || !isPlaceholder(scan.Unquote(text), key) ||
				len(open) == 1 && slices.Contains(t.Prop(key).Enum(), text):
				return filled
			default:
				is = blanks
			}
		default:
			return filled
		}
	}
	return is
}

// beginnings matches texts with which placeholders begin.
var beginnings = regexp.MustCompile(
	`^\s*(?:$|_+$|\.+$|…|[<{\[]|[A-Z][A-Z0-9_]*$|(?i:your|insert|enter)(?:[_-]|$))`)

// starters are the words with which placeholders begin that have no bracket around them.
var starters = []string{"your", "insert", "enter"}

// maxPlaceholder is the greatest length of a placeholder, in bytes.
const maxPlaceholder = 80

// mayStand reports whether some placeholder, such as "<city>", begins with the text.
func mayStand(text string) bool {
	if len(text) > maxPlaceholder {
		return false
	}
	return beginnings.MatchString(text) || slices.ContainsFunc(starters, func(s string) bool {
		return strings.HasPrefix(s, strings.ToLower(text))
	})
}

var (
	// gap matches a text that is put in place of any other: lines and dots, alone or in brackets.
	gap = regexp.MustCompile(`^(?:_{3,}|\.{3,}|…|<(?:\.{3}|…|_+)>|\[(?:\.{3}|…|_+)\]|\{(?:\.{3}|…)\})$`)
	// variable matches a variable of a template language.
	variable = regexp.MustCompile(`^\{\{-?\s*[\pL_][\pL\pN_. -]*\}\}$`)
	// fillIn matches a text that asks to be replaced: YOUR_KEY_HERE, your-city, INSERT_NAME.
	fillIn = regexp.MustCompile(`^(?:(?i:your|insert|enter)(?:[_-][\pL\pN]+)+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*_HERE)$`)
	// bracketed matches words in brackets.
	bracketed = regexp.MustCompile(`^(?:<([\pL_][\pL\pN_ .,'/-]*)>|\{([\pL_][\pL\pN_]*)\}|\[([\pL_][\pL\pN_ -]*)\])$`)
	wordsOf   = regexp.MustCompile(`\p{Lu}?[\p{Ll}\p{Lo}\pN]+|\p{Lu}+|[\p{Lo}]+`)
)

// The words of placeholders. A word in the map stands means "any value", also alone: <value>. A
// word in nouns means that only beside another word, as in <user name>. Alone it may be an element,
// such as <title>.
var (
	stands = strings.Fields(
		"value string number integer int float boolean bool your insert enter placeholder here")
	nouns = strings.Fields("name text path file id key query date time city email address message" +
		" url description title content type user")
)

// isPlaceholder reports whether a value of the parameter key is a placeholder, which a reader is to
// replace.
func isPlaceholder(text, key string) bool {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > maxPlaceholder {
		return false
	}
	if gap.MatchString(text) || variable.MatchString(text) || fillIn.MatchString(text) {
		return true
	}
	m := bracketed.FindStringSubmatch(text)
	if m == nil || strings.HasSuffix(text, "/>") {
		return false
	}
	inside := m[1] + m[2] + m[3]
	words, own := wordsIn(inside), wordsIn(key)
	isOne := func(list []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
	}
	switch text[0] {
	case '{':
		return slices.Equal(words, own)
	case '[':
		return slices.Equal(words, own) || len(words) > 0 && slices.Contains(starters, words[0])
	}
	foreign := strings.ContainsFunc(inside, func(r rune) bool { return r > 0x7f })
	return isOne(own) || isOne(stands) || foreign ||
		len(words) > 1 && (strings.Contains(inside, " ") || isOne(nouns))
}

// wordsIn returns the words of a name or of a phrase, in lower case.
func wordsIn(name string) []string {
	words := wordsOf.FindAllString(name, -1)
	for i, w := range words {
		words[i] = strings.ToLower(w)
	}
	return words
}

// maybeShown reports whether the call has only placeholders for values so far, or no values yet.
// The call is then held back until its first value that is not a placeholder. Nothing of it was
// sent.
func (cs *calls) maybeShown() bool {
	c := &cs.calling
	if n := c.Decided(); !c.filled && n != c.looked {
		c.filled, c.looked = fillingOf(string(c.JSON[:n]), c.tool.Type()) == filled, n
	}
	return !c.filled
}

// isShown reports whether the model only shows the call, which has ended, and does not make it. It
// returns true if the call has no marks and the user's last message contains it in some notation.
// It also returns true if each value is a placeholder that the user has not written. It returns
// false if a part of the call was sent.
func (cs *calls) isShown() bool {
	c := &cs.calling
	if c.released {
		return false
	}
	if cs.heard != nil && cs.trial.closing.Markless() &&
		cs.heard.given(chat.Call{Name: c.tool.Name, Args: c.JSON}) {
		return true
	}
	return !c.filled && fillingOf(string(c.JSON), c.tool.Type()) == blanks &&
		(cs.heard == nil || !cs.heard.wrote(string(c.JSON)))
}

// showAgain sends as text, from position from, a call that the model only shows. Placeholders are
// reported as a repair. A call that the user has written is not reported, because it is shown as it
// is.
func (cs *calls) showAgain(from int) {
	cs.Out = nil
	if c := &cs.calling; !c.filled && fillingOf(string(c.JSON), c.tool.Type()) == blanks {
		cs.Repaired("placeholders")
	}
	cs.page.solidFrom(from)
	cs.page.flushText()
}
