// Package derive finds out how a model writes calls, by rendering conversations with the model's
// own chat template.
//
// A template is a program, so it is examined by running it. [From] renders conversations that
// differ in one thing (with and without a call, with one call and two, with and without reasoning)
// and compares them. If a known family prints and reads the same, it is used. Otherwise the
// differences become a declaration like those in adapters/families, which is tested at once: it
// must print what the template prints, and read the calls that were rendered.
//
//	derive.go      From: the views of a template, the choice of a finding, Agrees
//	observe.go     the probes, and how a template renders them
//	difference.go  the differences of two renderings, and marks in a text
//	messages.go    templates whose replies are messages with headers
//	source.go      facts that only the template's source shows
//	body.go        the position and form of a call in a text
//	lines.go       the lines of the declaration
//	arrange.go     calls that examples cannot express: the search for a form
//	frame.go       the positions of the parts of a call in a text, and the text around them
//	compose.go     the lines of forms, with each way of writing values
//	nested.go      the lines about objects, lists and texts of several lines inside arguments
//	taught.go      a single call in a text: templates that teach calls in words; CallLine for replies
//	reads.go       Reads: whether a format reads calls back as they were rendered
package derive

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolnorm/adapters"
	"toolnorm/chat"
)

// Render returns the prompt for a conversation and the offered tools, rendered with a model's own
// template. It asks a server for that (Ollama's debug rendering, llama-server's /apply-template),
// so the error may be the template's or the server's. A call takes some milliseconds. [From] makes
// about twenty calls, and some forty more if no known kind of call line fits.
type Render func(messages []chat.Message, tools []chat.Tool) (string, error)

// Template is a model's chat template.
type Template struct {
	Render Render
	Source string // its text, Jinja or a Go template, if the server shows it; else empty
}

// Finding is the result of [From]: what a model's template shows about its calls, as a declaration.
// The command `formats guess` prints it, and it is used to read a model that no family names.
type Finding struct {
	Known  string           // the known family that prints the same; empty if there is none
	Lines  string           // the declaration; for a known family it has a like line
	Format *adapters.Format // the parsed declaration, in a set with the given families
	Wrong  []error          // how the declaration differs from the template
	// if calls cannot be read: a format for reasoning, text and ends; else nil
	Rest *adapters.Format
	// the text from a call to the model's next turn, with its result; empty if not seen
	Result string
	// the calls as the template prints them: one call, and two if it prints two
	Shown []string
}

// ErrNoCalls is returned for a template that prints no calls, such as those of SmolLM3, Gemma 2 and
// Phi-3.5, which print the text of a turn only. Its model learned calls from other prompts, or not
// at all.
var ErrNoCalls = errors.New("the template does not print calls")

// ErrForm is returned for a template that prints calls in a form that a declaration cannot express.
var ErrForm = errors.New("the template writes calls in a form that a declaration cannot say")

// From finds out from a template how its model writes calls. The known families are in set. The
// finding can be used if its Wrong is empty. From returns an error if the template prints no calls,
// refuses the conversations, or prints calls in a form that cannot be expressed. It renders two
// views: with results after the calls, and with a new request after them. Gemma 2's template
// refuses the first, and others drop reasoning in the second, but either view is enough.
//
// The declaration is tested with the calls from which it was made: it must print what the template
// printed, and read the calls that were rendered. Every deviation is in Wrong, and then the finding
// must not be used.
func From(model string, set *adapters.Set, t Template) (*Finding, error) {
	var all []*observed
	var errs []error
	opening, _ := stage{t.Render, request, probeTools}.conversation()
	for i, follows := range []func(n int) []chat.Message{request, answers} {
		o, err := observe(stage{t.Render, follows, probeTools}, opening)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		o.answered = i > 0
		all = append(all, o)
	}
	var best *Finding
	for i, o := range all {
		o.completeFrom(all[len(all)-1-i])
		o.completeBy(t.Source)
		f, err := o.finding(model, set)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if best == nil || f.better(best) {
			best = f
		}
	}
	if best != nil && best.Known != "" && len(best.Wrong) == 0 {
		return best, nil
	}
	for _, o := range all {
		p := o.printer(t.Render)
		good := best != nil && len(best.Wrong) == 0 && (o.messages != nil || p.content(best))
		if good && p.otherwise(best.Format, escapedTurn) == nil {
			return best, nil
		}
		f, err := o.arranged(model, set, p)
		switch {
		case err == nil:
			return f, nil
		case good:
			return best, nil
		}
		errs = append([]error{err}, errs...)
		if best != nil {
			best.Wrong = append(best.Wrong, p.misread(best.Format)...)
		}
	}
	return rest(best, clearest(errs), all, model, set, t)
}

// rest returns the finding for a template whose calls no format reads without errors. If the
// template prints no calls (err is ErrNoCalls), the finding comes from the example of a call that
// the template gives in words. Otherwise best, the finding with the fewest errors, or a new one if
// best is nil, gets a format that has only the marks around reasoning and text. A best without
// errors is returned unchanged. rest returns err if the template refuses the conversations or these
// marks cannot be read.
func rest(best *Finding, err error, all []*observed, model string, set *adapters.Set, t Template) (
	*Finding, error) {
	if best == nil && (len(all) == 0 || errors.Is(err, ErrNoCalls)) {
		if errors.Is(err, ErrNoCalls) {
			return taught(model, set, t.Render)
		}
		return nil, err
	}
	if best != nil && len(best.Wrong) == 0 {
		return best, nil
	}
	lines := heading(model) + "like    generic\n" + all[0].markLines()
	if generic := set.Named("generic"); generic != nil {
		all[0].ends = append(all[0].ends, generic.Drop...)
	}
	f, parsed := set.Parse([]byte(lines + all[0].dropLine()))
	if parsed != nil {
		return best, err
	}
	if best == nil {
		best = &Finding{Wrong: []error{err}, Lines: lines, Format: f}
	}
	best.Rest = f
	return best, nil
}

// completeFrom adds to o the marks that only p showed, which is the observation of the template in
// the other kind of conversation (see [From]). Some templates print reasoning only in one kind, if
// the results of its calls come last, and some print the marks of a plain reply only in one. Marks
// that end a turn are added unless they occur in a call, because they would cut it.
func (o *observed) completeFrom(p *observed) {
	o.thought = cmp.Or(o.thought, p.thought)
	o.spoken = cmp.Or(o.spoken, p.spoken)
	o.result = cmp.Or(o.result, p.result)
	for _, mark := range p.ends {
		if !slices.Contains(o.ends, mark) && !strings.Contains(o.one+o.two, mark) {
			o.ends = append(o.ends, mark)
		}
	}
}

// completeBy adds the marks of reasoning and of calls that only the template's source shows. It
// never replaces what a conversation has shown, since the source may have branches that are not
// used. If replies consist of messages, no marks of reasoning are needed, because the messages'
// headers say what is reasoning.
func (o *observed) completeBy(source string) {
	if o.thought == "" && o.messages == nil {
		o.thought = thoughtIn(source, o.words)
	}
	for _, mark := range openersIn(source) {
		if !strings.Contains(o.one+o.two, mark) {
			o.openers = append(o.openers, mark)
		}
	}
}

// better reports whether the finding f should be used instead of the finding g. A finding with a
// known family is better than one without. Otherwise the one with fewer errors is better. The file
// of a known family was reviewed, and it covers errors that its models make and no template shows.
func (f *Finding) better(g *Finding) bool {
	if (f.Known != "") != (g.Known != "") {
		return f.Known != ""
	}
	return len(f.Wrong) < len(g.Wrong)
}

// clearest returns the most useful error: the first ErrForm, if there is none the first ErrNoCalls,
// and if there is neither all errors. So the error is ErrNoCalls if a template prints no calls in
// one kind of conversation and refuses the other.
func clearest(errs []error) error {
	for _, kind := range []error{ErrForm, ErrNoCalls} {
		for _, err := range errs {
			if errors.Is(err, kind) {
				return err
			}
		}
	}
	return errors.Join(errs...)
}

// finding returns a declaration made from the observations, after testing it. It returns ErrForm if
// the calls cannot be expressed. A known family that prints exactly the same is used unchanged. If
// a known family differs only in white space, its lines are used, with the template's own marks
// around reasoning and text.
func (o *observed) finding(model string, set *adapters.Set) (*Finding, error) {
	if o.unsaid != nil {
		return nil, o.unsaid
	}
	known, exactly := o.knownIn(set)
	f := &Finding{Known: known, Result: strings.ReplaceAll(o.result, probeResult, "…"),
		Shown: o.shown()}
	lines, err := o.declaration(model, known, exactly)
	if err != nil {
		return nil, err
	}
	f.Lines = lines
	if exactly {
		f.Format = set.Named(known)
		return f, nil
	}
	if f.Format, err = set.Parse([]byte(lines)); err != nil {
		return nil, fmt.Errorf("%w: %w\n%s", ErrForm, err, lines)
	}
	f.Wrong = o.try(f.Format)
	return f, nil
}

// try prints the test calls with a format, reads the template's calls with it, and returns the
// differences from the template. Printed texts are compared without white space, since the newlines
// around calls depend on the turn. Calls that are read are compared in full. A turn of two calls is
// tried too, since only such a turn shows lists, sections and the newlines between calls.
func (o *observed) try(f *adapters.Format) (wrong []error) {
	for n, want := range o.shown() {
		calls := probes[:n+1]
		if got := string(f.Append(nil, calls...)); !begins(want, got) {
			wrong = append(wrong, fmt.Errorf(
				"printed calls differ from the template's\ngot  %q\nwant %q", got, want))
		}
		if err := Reads(f, want, "", calls, probeTools); err != nil {
			wrong = append(wrong, fmt.Errorf("the template's calls are read otherwise\n%w", err))
		}
	}
	return wrong
}

// knownIn returns the name of a known family that prints and reads calls as the template does, or
// "" if there is none. If there are several, it prefers one that also agrees in white space, and
// otherwise takes the first by name. The result exactly reports whether the family agrees in white
// space.
func (o *observed) knownIn(set *adapters.Set) (name string, exactly bool) {
	for _, f := range set.All() {
		if len(o.try(f)) > 0 || !o.thinksAs(f) {
			continue
		}
		if o.printedExactly(f) {
			return f.Name, true
		}
		if name == "" {
			name = f.Name
		}
	}
	return name, false
}

// printedExactly reports whether a format prints the test calls exactly as the template does,
// including white space.
func (o *observed) printedExactly(f *adapters.Format) bool {
	for n, want := range o.shown() {
		if string(f.Append(nil, probes[:n+1]...)) != want {
			return false
		}
	}
	return true
}

// thinksAs reports whether the format f separates reasoning as the template prints it before a
// call: it must read the reasoning, no text, and the call. It returns true if the template prints
// no reasoning. The check is needed because some families differ only in the marks around
// reasoning.
func (o *observed) thinksAs(f *adapters.Format) bool {
	if o.thought == "" {
		return true
	}
	reply, err := read(f, o.thought+o.one, probeTools)
	return err == nil && strings.Contains(reply.Reasoning.String(), probeThink) &&
		strings.TrimSpace(reply.Text.String()) == "" && len(reply.Calls) == 1
}

// begins reports whether a text begins with the text of the printed calls, ignoring white space.
// Anything may follow, such as marks of the turn.
func begins(text, calls string) bool {
	return strings.HasPrefix(strings.Join(strings.Fields(text), ""),
		strings.Join(strings.Fields(calls), ""))
}

// Agrees reports whether a format that was chosen by a model's name reads the calls that the
// model's template prints. It returns true if the template prints no calls or cannot be rendered.
// The template is better evidence than the name, since a model called qwen2.5-… may be a fine-tune
// that writes in another way.
func Agrees(f *adapters.Format, t Template) bool {
	refused := 0
	for _, follows := range []func(n int) []chat.Message{request, answers} {
		_, _, region, err := stage{t.Render, follows, probeTools}.calls(1)
		switch {
		case errors.Is(err, ErrForm):
			return false
		case err != nil:
			refused++
		case Reads(f, region, "", probes[:1], probeTools) == nil:
			return true
		}
	}
	return refused == 2
}
