package adapters

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolnorm/adapters/internal/prose"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
)

// said reports whether the user's last message contains a value unchanged, as whole words. It
// returns false for values of fewer than three bytes.
func (h *heard) said(value string) bool {
	text := h.asked()
	at := strings.Index(text, value)
	if len(value) < 3 || at < 0 {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at+len(value):])
	return !partOfWord(before) && !partOfWord(after)
}

// partOfWord reports whether a character can be part of a word.
func partOfWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// portion is how many of a call's values a conversation mentions.
type portion uint8

const (
	silent portion = iota // none, or the user asks how calls are written
	partly
	mostly // a word of every second value
	wholly // every value as it is
)

// speaksOf returns how many of a call's values the user's messages and the results of tools
// mention. It returns the constant silent if the user's last message names a data format, or names
// the tool and a parameter as calls do. It also does so if that message names the tool but lacks
// one of the values.
func (h *heard) speaksOf(call chat.Call) portion {
	values := leaves(string(call.Args))
	last, all := strings.ToLower(h.asked()), ""
	for _, m := range h.messages {
		if m.Role == chat.User || m.Role == chat.ToolRole {
			all += strings.ToLower(m.Content[:min(len(m.Content), maxHeard)]) + "\n"
		}
	}
	names := strings.Contains(last, strings.ToLower(call.Name))
	if prose.AboutData(last) || names && writes(last, call) {
		return silent
	}
	whole := !slices.ContainsFunc(values, func(v string) bool {
		return !strings.Contains(last, strings.ToLower(v))
	})
	switch {
	case whole:
		return wholly
	case names:
		return silent
	}
	some := 0
	for _, v := range values {
		if shares(all, v) {
			some++
		}
	}
	switch {
	case some == 0:
		return silent
	case 2*some < len(values):
		return partly
	}
	return mostly
}

// writes reports whether a text in lower case has a parameter of a call with a sign beside it, as
// in a notation for calls: --city, city=, "city".
func writes(text string, call chat.Call) bool {
	return slices.ContainsFunc(scan.Fields(string(call.Args)), func(f scan.Field) bool {
		return signed(text, strings.ToLower(f.Key))
	})
}

// signed reports whether a text has a name with a sign beside it, as calls have: -city, city= or
// city:.
func signed(text, name string) bool {
	for rest := text; ; {
		before, behind, ok := strings.Cut(rest, name)
		if !ok {
			return false
		}
		if strings.HasSuffix(before, "-") || assigns(strings.TrimLeft(behind, "\"'`>")) ||
			strings.HasPrefix(behind, ">") {
			return true
		}
		rest = behind
	}
}

// shares reports whether a text in lower case contains a word or a number of a value. Short words
// are ignored.
func shares(text, value string) bool {
	for word := range strings.FieldsFuncSeq(strings.ToLower(value),
		func(r rune) bool { return !partOfWord(r) }) {
		n := utf8.RuneCountInString(word)
		long := n > 2 || n > 1 && word[0] >= utf8.RuneSelf || word[0] >= '0' && word[0] <= '9'
		if long && strings.Contains(text, word) {
			return true
		}
	}
	return false
}
