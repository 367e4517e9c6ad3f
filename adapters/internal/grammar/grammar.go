package grammar

import (
	"regexp"
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/adapters/internal/scan"
	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// Grammar restricts a model to calls of the offered tools, on servers that accept a grammar.
//
// Text is GBNF as llama.cpp reads it, and begins with the text that opens a call, such as
// <tool_call>. So it applies to the whole reply if the client demands a call, and otherwise from a
// trigger on, so that the model may write text first. It depends only on the family, the tools, and
// whether a single call is demanded, so it can be reused while these do not change. A server's own
// grammar for tools is less strict: with tool_choice "required" llama-server allowed any text
// before the call, and 0 of 20 replies of a Qwen were calls.
type Grammar struct {
	// Text is GBNF with the root rule "root". It is empty for families that write calls without an
	// opening mark, and for very large schemas.
	Text    string
	Trigger []Trigger        // texts in the reply at which the grammar begins
	Dropped []schema.Dropped // constraints of the schemas that the grammar does not enforce, sorted
}

// Trigger describes the place in a reply from which on the server applies the grammar. The text
// before it is free. Without a trigger a server applies the grammar from the first token on, so the
// model cannot answer in words. llama-server accepts triggers of both kinds in grammar_triggers,
// with grammar_lazy.
type Trigger struct {
	Word string // a mark that begins a call anywhere; if empty, Pattern counts
	// Pattern is a regular expression of ECMAScript for the text so far. Its first group is where
	// the grammar begins.
	Pattern string
}

// Of returns the grammar for calls of the tools, written as the family prints them. The parameter
// single says whether a single call is demanded. Tools without a name are left out, because they
// cannot be called. The rule "root" begins with the text that begins a call, such as <tool_call>,
// which also activates the grammar. The result is empty if there are no tools, or if the family's
// calls have no grammar. If the grammar would exceed 8 MB, Text is empty, and Dropped has one empty
// entry, which means all schemas.
func Of(f *declaration.Family, tools []chat.Tool, single bool) Grammar {
	tools = slices.DeleteFunc(slices.Clone(tools), func(t chat.Tool) bool { return t.Name == "" })
	if len(tools) == 0 || f.Form != nil { // a form has no grammar
		return Grammar{}
	}
	g := newWriter(f, tools, single)
	var out Grammar
	if f.Header != nil {
		out.Trigger = []Trigger{headerTrigger(f, tools)}
		g.define("root", g.messages(tools))
	} else {
		p := Opening(f)
		if p == nil {
			return Grammar{}
		}
		mark := triggerWord(p)
		out.Trigger = []Trigger{triggerFor(mark, p, tools)}
		g.define("root", g.calls(p, mark, tools))
	}
	if g.work > maxWork {
		return Grammar{Dropped: []schema.Dropped{{}}} // all of it
	}
	out.Text, out.Dropped = g.source(), g.docs[tools[0].Name].Dropped()
	return out
}

// Opening returns the first example of a section or a call in the family that begins with a text
// which occurs only there, so that a grammar can begin at this text. It returns nil if there is
// none. Words without a tool's name after them, fences, and texts before {junk} may occur
// elsewhere. llama3 prints {"name": …} without such a text, so its other example, with
// <|python_tag|>, is returned.
func Opening(f *declaration.Family) *declaration.Pattern {
	for _, p := range slices.Concat(f.Sections, f.Calls) {
		word := declaration.IsProse(p.Parts[0].Lit.Text) && p.PlaceholderAt(1) != "name"
		if !p.Markless() && !p.IsFence() && p.Index("junk") < 0 && !word {
			return p
		}
	}
	return nil
}

// triggerWord returns the text at which a server begins to apply the grammar for the calls of a
// pattern. It is the special token with which the pattern begins, or otherwise its first line
// without signs such as = and : at the end. The grammar matches these signs, because models have
// tokens that join them with the text after them. For example, it is "Action" for react's "Action:
// get_weather", and <function for functionary-v3.1's <function=NAME>.
func triggerWord(p *declaration.Pattern) string {
	line := strings.TrimSpace(p.Family.Printed(p.Opener()))
	if first := declaration.TokenLike.FindStringIndex(line); first != nil && first[0] == 0 {
		return line[:first[1]]
	}
	return strings.TrimRight(line, `="':.`)
}

// triggerFor returns the trigger for calls that begin with mark: the place at which a server begins
// to apply the grammar. If mark looks like a control token, it is a trigger wherever it occurs. If
// it is a tag, it has to begin a line or follow another tag, because tags are mentioned in text.
// Otherwise "use the <tool_call> tag" would turn an explanation into a call
// (docs/internal/decisions/grammars.md). If it is a word, it must begin a line, and the name of a
// tool must follow, so that "Action: none of these" remains text. After each token a server looks
// for the pattern in the text so far.
func triggerFor(mark string, p *declaration.Pattern, tools []chat.Tool) Trigger {
	// Marks such as <｜tool▁calls▁begin｜> and ]<]minimax[>[ do not occur in prose.
	ordinary := mark[0] == '<' && len(mark) > 1 && scan.IsLetter(mark[1]) &&
		strings.IndexFunc(mark, func(r rune) bool { return r >= 0x80 }) < 0
	quoted := regexp.QuoteMeta(mark)
	switch {
	case declaration.IsProse(mark):
		rest := strings.TrimPrefix(p.Printed(0), mark)
		return Trigger{Pattern: `(?:^|\n)[ \t]*(` + quoted + regexp.QuoteMeta(rest) + names(tools) +
			`)`}
	case ordinary || scan.IsLetter(mark[0]):
		return Trigger{Pattern: `(?:^|[\n>])[ \t]*(` + quoted + `)`}
	}
	return Trigger{Word: mark}
}

// headerTrigger returns a trigger for messages whose header names one of the tools as the
// recipient. A message with another recipient, or with none, does not trigger: gpt-oss begins its
// thoughts and answers with headers as well, <|channel|>analysis and <|channel|>final. The
// recipient must follow a tag or token, with at most a role between them. It may also begin the
// reply, because the prompt may end with <|start|>assistant.
func headerTrigger(f *declaration.Family, tools []chat.Tool) Trigger {
	return Trigger{Pattern: `(?:^|>)[a-z]{0,16}(` + regexp.QuoteMeta(Recipient(f)) + names(tools) +
		`)`}
}

// Recipient returns the text before the tool's name in a message's header, from the last blank on.
// For harmony it is " to=functions.", and for glimmer " to=". The blank is included, because it
// belongs to the model's token. It panics if the family writes no messages, or if its header has no
// blank before the name.
func Recipient(f *declaration.Family) string {
	before := f.Message.Parts[0].Lit.Text
	return before[strings.LastIndexByte(before, ' '):]
}

// names returns a regular expression of ECMAScript for the tools' names, for llama.cpp's triggers.
// Special characters in names are escaped by Go's rules, which cover the same signs.
func names(tools []chat.Tool) string {
	quoted := each(tools, func(t chat.Tool) string { return regexp.QuoteMeta(t.Name) })
	return "(?:" + strings.Join(quoted, "|") + ")"
}
