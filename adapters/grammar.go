package adapters

import (
	"toolnorm/adapters/internal/grammar"
	"toolnorm/chat"
)

// Grammar holds a model to calls of the offered tools while it writes, at servers that take a grammar.
type Grammar = grammar.Grammar

// Trigger is where text ends and the grammar begins.
type Trigger = grammar.Trigger

// GrammarOptions bound what a grammar lets through. The zero value suits real models, which know when to end.
type GrammarOptions = grammar.Options

// Grammar writes the grammar of calls to the tools, spelled as Append spells them. Members of small objects come in any
// order, those of large ones in the schema's. What a schema demands and a grammar cannot say is left open and reported.
func (f *Format) Grammar(tools []chat.Tool, o GrammarOptions) Grammar {
	return grammar.Of(f.Family, tools, o)
}
