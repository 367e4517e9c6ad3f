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

// Grammar holds a model to calls of the offered tools while it writes, at servers that take a
// grammar.
//
// Text is GBNF, as llama.cpp reads it. It begins with the family's opening mark, so it is either
// the whole reply, where a call is wanted, or what follows from a trigger on, where the model may
// write text first. It depends on the family, the tools and whether one call is wanted alone, so it
// can be kept for as long as they stay the same. A server's own grammar for tools does less: with
// tool_choice "required" llama-server let any text stand in front of the call, and 0 of 20 replies
// of a Qwen were calls.
type Grammar struct {
	Text    string           // GBNF with the root rule "root"; empty for a family that writes calls without a mark, and for schemas of megabytes
	Trigger []Trigger        // what in the reply the grammar begins with; any of them
	Dropped []schema.Dropped // what of the schemas the grammar does not hold the model to, sorted
}

// Trigger is where text ends and the grammar begins. A server that is given a grammar without one
// holds the model to calls from the first token on, so it could not answer in words. llama-server
// takes both kinds as grammar_triggers, with grammar_lazy.
type Trigger struct {
	Word    string // a mark that means a call wherever it stands; empty: Pattern says
	Pattern string // ECMAScript: a match in the text so far triggers, and its first group is where the grammar begins
}

// Of returns the grammar of calls to the tools as the family prints them, of a single call or of
// several; see [Grammar]. Tools without a name are left out, since they cannot be called. A grammar
// larger than 8 MB is left out as a whole, and Dropped then has one entry without a place and a
// keyword, which stands for every schema. The rule "root" is the call from its mark on; text before
// it is free, and the trigger is where the grammar begins.
func Of(f *declaration.Family, tools []chat.Tool, single bool) Grammar {
	tools = slices.DeleteFunc(slices.Clone(tools), func(t chat.Tool) bool { return t.Name == "" })
	if len(tools) == 0 || f.Form != nil { // a form is read and printed, and holds nobody
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

// Opening returns the section or the call that the family begins with a mark, or nil when it has
// none whose mark shows a call. Where the family prints its calls without a mark, a further line
// with one is used. Left out are words that no name follows, fences, which hold anything, and marks
// after which anything may come ({junk}). llama3 prints {"name": …} without a mark, so its
// <|python_tag|> is where a grammar may begin.
func Opening(f *declaration.Family) *declaration.Pattern {
	for _, p := range slices.Concat(f.Sections, f.Calls) {
		word := declaration.IsProse(p.Parts[0].Lit.Text) && p.HoleAt(1) != "name"
		if !p.Markless() && !p.IsFence() && p.Hole("junk") < 0 && !word {
			return p
		}
	}
	return nil
}

// triggerWord returns the mark that a pattern begins with: its first token when it begins with one,
// else the first word of it. Signs at its end are left to the grammar, since models have tokens in
// which these are joined with what follows. react's "Action: get_weather" begins with the word
// "Action"; functionary-v3.1's <function=NAME> is cut to <function.
func triggerWord(p *declaration.Pattern) string {
	line := strings.TrimSpace(p.Family.Printed(p.Opener()))
	if first := declaration.TokenLike.FindStringIndex(line); first != nil && first[0] == 0 {
		return line[:first[1]]
	}
	return strings.TrimRight(line, `="':.`)
}

// triggerFor returns the trigger that says when the mark counts. One that looks like a token of its
// own does wherever it occurs; a tag may be talked about, so it has to begin a line or follow
// another mark; and a word must be followed by a tool's name. Each of these was paid for: "use the
// <tool_call> tag" in the middle of a sentence, held to a grammar from there on, would turn an
// explanation into a call (docs/internal/decisions/grammars.md). The names are in the pattern, so
// "Action: none of these" stays text. A server looks for a pattern in what was written so far,
// after each token.
func triggerFor(mark string, p *declaration.Pattern, tools []chat.Tool) Trigger {
	// Marks such as <｜tool▁calls▁begin｜> and ]<]minimax[>[ are nothing that people type.
	ordinary := mark[0] == '<' && len(mark) > 1 && scan.IsLetter(mark[1]) && strings.IndexFunc(mark, func(r rune) bool { return r >= 0x80 }) < 0
	quoted := regexp.QuoteMeta(mark)
	switch {
	case declaration.IsProse(mark):
		rest := strings.TrimPrefix(p.Printed(0), mark)
		return Trigger{Pattern: `(?:^|\n)[ \t]*(` + quoted + regexp.QuoteMeta(rest) + names(tools) + `)`}
	case ordinary || scan.IsLetter(mark[0]):
		return Trigger{Pattern: `(?:^|[\n>])[ \t]*(` + quoted + `)`}
	}
	return Trigger{Word: mark}
}

// headerTrigger returns a trigger for the recipient in the header of a message, after a mark or
// where the prompt opens the header. A header of another recipient, or of none, is text: gpt-oss
// opens <|channel|>analysis and <|channel|>final with the same marks. Where the prompt ends with
// <|start|>assistant the reply begins with the recipient, else with a mark and the role.
func headerTrigger(f *declaration.Family, tools []chat.Tool) Trigger {
	return Trigger{Pattern: `(?:^|>)[a-z]{0,16}(` + regexp.QuoteMeta(Recipient(f)) + names(tools) + `)`}
}

// Recipient returns what comes before the name in a message's header, from the blank on. For
// harmony it is " to=functions.", for glimmer " to=". The blank is part of it, since a model's
// token for it has the blank.
func Recipient(f *declaration.Family) string {
	before := f.Message.Parts[0].Lit.Text
	return before[strings.LastIndexByte(before, ' '):]
}

// names returns a pattern of the tools' names. They are quoted for ECMAScript, the notation of
// llama.cpp's triggers; Go's quoting escapes the same signs.
func names(tools []chat.Tool) string {
	quoted := each(tools, func(t chat.Tool) string { return regexp.QuoteMeta(t.Name) })
	return "(?:" + strings.Join(quoted, "|") + ")"
}
