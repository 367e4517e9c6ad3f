package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/ollama/ollama/api"

	ollamaapi "toolnorm/engine/ollama"
)

// passthrough is the parser of Ollama that leaves everything as the model wrote it, and so names no marks.
const passthrough = "passthrough"

// llamaRunner is the first version of Ollama whose models are run by a llama-server, which leaves control tokens out of the
// text and out of its probabilities unless it is asked for them by name. It is also the first whose probabilities hold the bytes of a
// character that is split over tokens: 0.24 writes U+FFFD for each part, so tap, which reads tokens, is not chosen there.
const llamaRunner = "0.30.0"

// shown says how the control tokens among a family's marks can be had, where raw text does not hold them.
type shown uint8

const (
	asRaw    shown = iota // raw text holds them, or nothing does
	asTokens              // the server's own reader has their names
	asChat                // the same, but it refuses calls of tools that it has not been told of, as it is only in a chat
	asTap                 // the server names the mark that its template writes calls with
	asNative              // llama-server reads calls by the model's own template
)

// order are the strategies that are chosen by probing, the one that shows most of a reply first, with tools or without.
func (s shown) order(tools bool) []string {
	switch {
	case s == asChat && tools:
		return []string{Tap, Tokens, Native, Raw, Prompt}
	case s == asTokens, s == asChat:
		return []string{Tokens, Tap, Native, Raw, Prompt}
	case s == asTap:
		return []string{Tap, Raw, Native, Prompt}
	case s == asNative:
		return []string{Native, Raw, Prompt}
	}
	return []string{Raw, Tap, Native, Prompt}
}

// tokens says that the server names the marks in a prompt of ours as well.
func (s shown) tokens() bool { return s == asTokens || s == asChat }

// hidden finds out which marks of the model's family are control tokens, how they can be had, and whether tokens show the text whole. The vocabulary is long: it is
// asked for once, with the rest of a probe. Of a server that does not tell it none are known.
func (o *ollama) hidden(ctx context.Context, t *turn, show *api.ShowResponse, f *facts) (err error) {
	f.hidden, err = o.client.Controls(ctx, t.pulse, t.model, t.format.Own())
	if err != nil && isRefusal(err) {
		t.engine.cfg.Log.Warn().Str("model", t.model).Err(err).Msg("the vocabulary is not known: marks that are control tokens are not seen")
		err = nil
	}
	if err != nil || len(f.hidden) == 0 && !f.tools {
		return err
	}
	version, err := o.client.Version(ctx)
	if err != nil {
		return err
	}
	if known := ollamaapi.VersionNumbers(version) != [3]int{}; known && ollamaapi.Older(version, llamaRunner) {
		return nil
	}
	if f.tap = f.tools; len(f.hidden) > 0 {
		f.lacks, f.shown = true, howShown(show, f.hidden)
	}
	return nil
}

// strict are the readers of Ollama that refuse a call of a tool that they have not been told of.
var strict = []string{"ministral", "glimmer"}

// howShown is how a server of that version or a later one lets the marks be had.
func howShown(show *api.ShowResponse, marks []string) shown {
	parser := ollamaapi.Parser(show)
	switch {
	case parser != "" && parser != passthrough && len(show.Messages) > 0:
		return asTap // the messages would come twice in a prompt of ours
	case slices.Contains(strict, parser):
		return asChat
	case parser != "" && parser != passthrough:
		return asTokens
	case strings.Contains(show.Template, "{%"):
		return asNative
	case slices.Contains(marks, toolMark(show.Template)):
		return asTap
	}
	return asRaw
}

// toolMark is the mark with which a Go template opens a call, as Ollama finds it: what its text behind the first condition on
// calls begins with. It is empty where that is no mark.
func toolMark(template string) string {
	_, rest, ok := strings.Cut(template, ".ToolCalls")
	for ok {
		if _, rest, ok = strings.Cut(rest, "}}"); !ok {
			break
		}
		text, _, _ := strings.Cut(rest, "{{")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		for _, pair := range []string{"<>", "[]"} {
			if i := strings.IndexByte(text, pair[1]); text[0] == pair[0] && i > 0 {
				return text[:i+1]
			}
		}
		return ""
	}
	return ""
}
