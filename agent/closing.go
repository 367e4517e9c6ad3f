package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolnorm/agent/internal/worded"
	"toolnorm/chat"
	"toolnorm/tools"
)

// close asks the model for an answer in words from the results so far, and asks once more if the
// reply is not one. The reply is not shown before it is known to be an answer. If the model gives
// none, the results of the tools become the text of the run. It returns an error if the model fails
// and the run has nothing to show.
func (r *run) close(ctx context.Context) error {
	r.quiet = true
	defer func() { r.quiet = false }()
	text := ""
	for range 2 {
		r.out.Steps++
		if err := r.step(ctx, false); err != nil {
			return r.failed(ctx, err)
		}
		if text = r.last.got.Text.String(); r.isAnswer(text) && (r.again || !r.advises(text)) {
			r.say(strings.TrimSpace(worded.Answer(text)))
			return nil
		}
		r.again = true
	}
	if len(r.facts) == 0 {
		if r.out.Stop == Final {
			r.out.Stop = Empty
		}
		return nil
	}
	r.out.Warnings = append(r.out.Warnings,
		"the model gave no answer in words; text is what the tools found")
	r.say(r.found())
	return nil
}

// say makes a text the answer of the run, with misspelled names corrected, and shows it to the
// client.
func (r *run) say(text string) {
	r.quiet = false
	if s := spellerOf(r); s != nil {
		text = s.correct(text)
	}
	r.out.Text = text
	e := chat.Event{Kind: chat.Text, Text: text}
	if r.pass != nil {
		r.pass(e)
	}
	r.tell(Progress{Step: r.out.Steps, Kind: "text", Text: text})
}

// closing returns the request for an answer: the caller's conversation without tools, with the
// results of the tools as text in its last turn. A small model that sees its own calls makes
// another one, and a model that sees a turn without content writes nothing.
func (r *run) closing() *chat.Request {
	request := r.ask.Request
	request.Messages, request.Tools = slices.Clone(request.Messages), nil
	ask := ""
	if last := len(request.Messages) - 1; last >= 0 && request.Messages[last].Role == chat.User {
		ask = request.Messages[last].Content + "\n\n"
		request.Messages[last].Content = ""
	} else {
		request.Messages = append(request.Messages, chat.Message{Role: chat.User})
	}
	if found := r.found(); found != "" {
		ask += "I looked these facts up:\n" + found +
			"\n\nAnswer the question from them, in one or two sentences."
	}
	if r.again || len(r.facts) == 0 {
		ask += " Answer in words. Call no tool."
	}
	request.Messages[len(request.Messages)-1].Content = strings.TrimSpace(ask)
	return &request
}

// found returns each call that has run with its result, on separate lines, or "" if none has run.
func (r *run) found() string {
	var lines []string
	for i, f := range r.facts {
		// A call that has run twice is listed once, with its last result.
		if !slices.ContainsFunc(r.facts[i+1:], func(later fact) bool {
			return later.call.Same(f.call)
		}) {
			lines = append(lines, f.call.Name+" "+string(compact(f.call.Args))+": "+
				f.text+r.pointed(f.text))
		}
	}
	return strings.Join(lines, "\n")
}

// advises reports whether a text must not be taken as the answer, for one of three reasons. It
// tells the user to call a tool, which only the model can do: it names tools although the question
// names none, and uses no result or names a tool that should run first. Or it ignores the records
// that the run has read (see groundless). Or the next step must call a tool (see owed).
func (r *run) advises(text string) bool {
	named := r.tools.spokenOf(text)
	if groundless(r, text) || owed(r, text) != "" {
		return true
	}
	return len(named) > 0 && len(r.tools.spokenOf(r.saidLast())) == 0 &&
		(len(r.facts) > 0 && !r.quotes(text) || r.advised(text) != "")
}

// fewWords is how many words an answer may have that uses none of the results, such as "yes" or
// "done".
const fewWords = 4

// groundless reports whether an answer of one line ignores the records that the tools of the run
// have read. It does if it repeats no number of the question, and shares no word or number with the
// records except those that the question has too. groundless returns false if a tool has done
// anything but read records. It also returns false for answers of at most fewWords words, or with a
// colon at the end.
func groundless(r *run, text string) bool {
	found, asked := "", folded(r.saidLast())
	for _, f := range r.facts {
		if !r.tools.reads(f.call.Name) || !strings.HasPrefix(f.text, "{") {
			return false
		}
		found += folded(f.text) + "\n"
	}
	text = strings.TrimSpace(text)
	words := strings.FieldsFunc(folded(text), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c)
	})
	if found == "" || len(words) <= fewWords || strings.Contains(text, "\n") ||
		strings.HasSuffix(text, ":") {
		return false
	}
	return !slices.ContainsFunc(words, func(w string) bool {
		digits := strings.ContainsFunc(w, unicode.IsDigit)
		if len(w) < 3 && !digits {
			return false
		}
		return digits && holds(asked, w) || holds(found, w) && !holds(asked, w)
	})
}

// quotes reports whether a text contains a value from the tools' results that the question does not
// have: "get_time says 10:15" is an answer.
func (r *run) quotes(text string) bool {
	text = folded(text)
	asked := folded(r.saidLast())
	return slices.ContainsFunc(r.facts, func(f fact) bool {
		return slices.ContainsFunc(piecesOf(json.RawMessage(f.text)), func(piece string) bool {
			piece = folded(piece)
			return utf8.RuneCountInString(piece) > 2 && holds(text, piece) && !holds(asked, piece)
		})
	})
}

// owed returns the tool that the next step must call, because a text without a call is not an
// answer yet. It returns "" if the text may be an answer, or if an earlier step of this run was
// forced to call a tool.
func owed(r *run, text string) string {
	if r.pressed {
		return ""
	}
	return cmp.Or(r.advised(text), missing(r, text))
}

// advised returns the tool that a text tells the user to call, or "" if there is none, if that tool
// does more than read, or if it has already run. If the text names several tools, as when it
// repeats the results of a search, advised returns the one that fits the question best.
func (r *run) advised(text string) string {
	named := r.tools.spokenOf(text)
	if len(named) == 0 || len(r.tools.spokenOf(r.saidLast())) > 0 {
		return ""
	}
	best := named[0]
	if len(named) > 1 {
		ranked := r.tools.rank(chat.Asked(r.saidLast()))
		if i := slices.IndexFunc(ranked, func(t tools.Tool) bool {
			return slices.Contains(named, t.Name)
		}); i >= 0 {
			best = ranked[i].Name
		}
	}
	if !r.tools.reads(best) || slices.ContainsFunc(r.facts, func(f fact) bool {
		return f.call.Name == best
	}) {
		return ""
	}
	return best
}

// isAnswer reports whether a text still has words after labels such as "Final Answer:" and all
// calls of tools are removed. Calls of tools that do not exist are removed too.
func (r *run) isAnswer(text string) bool {
	text = strings.TrimSpace(worded.Answer(text))
	if text == "" {
		return false
	}
	reader := r.tools.reader(nil)
	if r.tools.empty() {
		reader.Tools = []chat.Tool{{Name: "tool"}}
	}
	calls, front := reader.Calls(text, chat.Stop)
	return len(calls) == 0 || strings.TrimSpace(front) != ""
}
