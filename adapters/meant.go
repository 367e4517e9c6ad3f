package adapters

import (
	"strings"

	"toolnorm/adapters/internal/prose"
	"toolnorm/chat"
)

// Meant reports whether the text before and after a possible call shows that the call is meant: the
// text before announces it, and the text after continues the announced work. A call without text
// around it is meant. Meant is for readers of whole replies; [Format.Decode] applies the same test.
func Meant(front, behind string) bool {
	front, behind = strings.TrimSpace(front), strings.TrimSpace(behind)
	return (front == "" || announced(front)) && (behind == "" || prose.GoesOn([]byte("\n"+behind)))
}

// announced reports whether the text before a call announces it, even if the text does not name the
// tool. If the text ends in a colon and its words are in none of the lists, it must have other
// evidence for a call.
func announced(front string) bool {
	switch said := prose.Judge([]byte(front)); said {
	case prose.ResolveColon, prose.IntentColon, prose.Open:
		return true
	case prose.ForeignColon:
		return prose.Does(front)
	default:
		return said.Announces()
	}
}

// Shown reports whether the messages before a reply contain a call as something to read, or ask how
// calls are written. A reply that has the call after some words then need not mean it.
func Shown(messages []chat.Message, call chat.Call) bool {
	h := heard{messages: messages}
	return h.evidence(call)&(prose.Pasted|prose.Taught) != 0
}
