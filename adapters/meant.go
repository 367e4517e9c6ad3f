package adapters

import (
	"strings"

	"toolnorm/adapters/internal/prose"
	"toolnorm/chat"
)

// Meant reports whether the words around what may be a call mean it: those in front announce it,
// and those behind go on from it. Blank words mean nothing else, so a call that stands alone is
// meant. It is for readers of whole replies; [Format.Decode] asks the same.
func Meant(front, behind string) bool {
	front, behind = strings.TrimSpace(front), strings.TrimSpace(behind)
	return (front == "" || announced(front)) && (behind == "" || prose.GoesOn([]byte("\n"+behind)))
}

// announced reports whether a text announces a call of a tool that it is about. In front of a colon
// that no list of words explains its words must say so.
func announced(front string) bool {
	said, e := prose.Judge([]byte(front)), prose.Related
	if said == prose.ForeignColon {
		e = prose.Weigh(front, prose.Tool{})
	}
	return said.Announces(e)
}

// Shown reports whether the messages in front of a reply hold a call as something to read, or ask
// how calls are written: then a reply that holds it behind words need not mean it.
func Shown(messages []chat.Message, call chat.Call) bool {
	h := heard{messages: messages}
	return h.evidence(call)&(prose.Pasted|prose.Taught) != 0
}
