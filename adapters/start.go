package adapters

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
)

// start reads the first bytes of a reply if they continue something that the prompt has opened at
// its end, such as a message's header or a call. After those bytes it is not used any more.
type start struct {
	below
	messages *messages
	patterns *patterns
	thinking *thinking
	ahead    *declaration.Family // the family whose marks end the prompt; nil: there are none
}

// startBehind sets up the state for the element that the prompt has opened at its end: reasoning, a
// plain reply, or the header of a message. After a prompt that ends with <think>, the reply has no
// opening tag of its own, and without this function its beginning would be shown as text until
// </think>. The marks of the format being read come first. The marks of other families are
// recognised too, since a prompt that ends with such a mark was made for that family. White space
// at the prompt's end comes from the template. If it has a newline, the reply need not begin with
// one (see skipOpener).
func (st *start) startBehind(prompt string) {
	text := strings.TrimRight(prompt, " \t\r\n")
	// <|start|>assistant<|channel|>analysis<|message|>
	st.messages.openedHeader(text)
	// <think>, [THINK], <|channel>thought
	if p := st.marks.index.OpenedReasoning(text); p != nil {
		st.thinking.think(p.Family.Think)
		st.marks.skipOpener(p, strings.HasSuffix(prompt, "\n"))
		return
	}
	for _, f := range st.marks.index.Families {
		// >>> and the like, which this family's prompts always end with
		if st.ahead == nil && slices.ContainsFunc(f.PromptMarks, func(mark string) bool {
			return strings.HasSuffix(text, mark)
		}) {
			st.ahead = f
		}
	}
}

// beginning reads the first bytes of the reply if they continue something that the prompt has
// opened: a message's header, a plain reply or a call. The header comes first, because it says
// which of the others can follow. The method is not called for a reply that begins in reasoning,
// where no message and no bare name can follow.
func (st *start) beginning() {
	st.messages.firstMessage()
	if f := st.ahead; f != nil {
		st.behindPrompt(f)
	} else if len(st.marks.f.PromptMarks) > 0 {
		st.behindPrompt(st.marks.f)
	}
}

// wordLine reports whether the line that begins here consists of a single word. Functionary's first
// >>> is in its prompt, so the reply begins with the recipient alone on a line: get_weather⏎{…}.
// The text after the line is not examined, because the pattern that is tried next decides whether
// it is a call.
func (st *start) wordLine() bool {
	n := st.Run(0, toolset.MaxName, scan.IsName)
	c := st.At(n)
	return n > 0 && (c == '\n' || c < 0)
}

// behindPrompt reads a plain reply or a call of family f that the prompt has opened, and leaves
// anything else as text. In Functionary's plain reply the word "all" is in place of a tool's name,
// and that line is dropped. A call that is cut after its name is dropped as well.
func (st *start) behindPrompt(f *declaration.Family) {
	// all⏎It is sunny.
	for _, p := range f.Begun(f.Plain) {
		if n, a := st.marks.literal(0, p.Parts[0].Lit); a == matched {
			st.Pos += n
			return
		}
	}
	// a name has to be alone on its line: "all of them are sunny." is an answer, and "search {
	// query: String }" GraphQL
	if st.tools == nil || !st.wordLine() {
		return
	}
	// get_weather⏎{"city": "Oslo"}
	for _, p := range f.Begun(f.Calls) {
		switch st.patterns.attempt(p) {
		case committed:
			return
		case incomplete:
			if st.in.lengthCut() && st.trial.evidence {
				st.calls.dropRest(0)
				return
			}
		}
	}
}
