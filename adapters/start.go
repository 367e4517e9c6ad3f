package adapters

import (
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
	"toolnorm/adapters/internal/toolset"
)

// startBehind takes over what the prompt has opened at its end: reasoning, a plain reply, the header of a message. The marks
// of the format that is read come first; those of others count too, since a prompt that ends with one was made for them.
// A prompt that ends with <think> says that the reply has no opener of its own. Without it the beginning would be shown as text
// before the closer tells.
// White space at the end is that of the template; whether a newline was among it decides if the reply owes one (skipOpener).
func (d *decoder) startBehind(prompt string) {
	text := strings.TrimRight(prompt, " \t\r\n")
	// <|start|>assistant<|channel|>analysis<|message|>
	d.openedHeader(text)
	// <think>, [THINK], <|channel>thought
	if p := d.index.OpenedReasoning(text); p != nil {
		d.think(p.Family.Think)
		d.skipOpener(p, strings.HasSuffix(prompt, "\n"))
		return
	}
	for _, f := range d.index.Families {
		// >>> and the like, which this family's prompts always end with
		if d.ahead == nil && slices.ContainsFunc(f.PromptMarks, func(mark string) bool { return strings.HasSuffix(text, mark) }) {
			d.ahead = f
		}
	}
}

// beginning reads what the prompt has opened and the reply goes on with: a message's header, a plain reply or a call.
// The header comes first, as it says which of the others can come at all.
// Nothing of it is looked for again later: what the prompt has opened, only the first bytes of the reply can go on with.
// Only a reply that begins in text comes here: behind an open thought no message and no bare name can stand.
func (d *decoder) beginning() {
	d.firstMessage()
	if f := d.ahead; f != nil {
		d.behindPrompt(f)
	} else if len(d.f.PromptMarks) > 0 {
		d.behindPrompt(d.f)
	}
}

// wordLine says whether a single word stands on the line that begins here.
// Functionary's first >>> is in its prompt, so the reply begins with the recipient alone on a line: get_weather⏎{…}.
// What follows the word is not looked at: the pattern behind says whether it is a call.
func (d *decoder) wordLine() bool {
	n := d.Run(0, toolset.MaxName, scan.IsName)
	c := d.At(n)
	return n > 0 && (c == '\n' || c < 0)
}

// behindPrompt reads what the prompt has opened: a plain reply or a call. What is neither stays text.
// "all" in the place of a tool's name is Functionary's plain reply, and its line is dropped. A call that is cut behind its name
// says nothing and is dropped as well.
func (d *decoder) behindPrompt(f *declaration.Family) {
	// all⏎It is sunny.
	for _, p := range f.Begun(f.Plain) {
		if n, a := d.literal(0, p.Parts[0].Lit); a == matched {
			d.Pos += n
			return
		}
	}
	// a name has to stand alone on its line: "all of them are sunny." is an answer, and "search { query: String }" GraphQL
	if d.tools == nil || !d.wordLine() {
		return
	}
	// get_weather⏎{"city": "Oslo"}
	for _, p := range f.Begun(f.Calls) {
		switch d.attempt(p) {
		case committed:
			return
		case incomplete:
			if d.lengthCut() && d.evidence {
				d.dropRest(0)
				return
			}
		}
	}
}
