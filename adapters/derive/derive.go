// Package derive finds out how a model writes calls from what the model's own chat template makes
// of conversations.
//
// A template is a program; what it does is seen by running it. [From] renders conversations that
// differ in one thing (with a call and without, with one call and two, with and without reasoning)
// and reads the differences. Either a known family prints and reads the same, or the differences
// become a declaration of the kind that adapters/families holds, which is tried at once: what it
// prints must be what the template prints, and what it reads must be the calls that were rendered.
//
//	derive.go      From: the views of a template, the finding that is taken, and whether a named family agrees
//	observe.go     the probes, and what a template makes of them
//	difference.go  what two renderings have of their own, and marks in a text
//	messages.go    templates whose replies are messages with headers
//	source.go      what the template's source says and no conversation shows
//	body.go        where a call stands in a text, and in which form
//	lines.go       the lines of the declaration
//	arrange.go     templates that no example says: the search for the inverse of what they print
//	frame.go       where the parts of a call stand in what is printed, and what is around them
//	compose.go     the lines of forms, with each way of writing values
//	taught.go      a single call in a text: templates that teach calls in words; CallLine, what a reply shows where there is no template
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

// Render gives the prompt that a conversation comes to with a model's own template. It is a
// server's doing (Ollama's debug rendering, llama-server's /apply-template), so an error may also
// be the server's. Rendering costs some milliseconds, and [From] asks for about twenty
// conversations, and for some forty more of a template whose form is its own.
type Render func(messages []chat.Message, tools []chat.Tool) (string, error)

// Template is a model's chat template.
type Template struct {
	Render Render
	Source string // its text, where the server gives it: Jinja or Go's; empty: only what it prints is seen
}

// Finding is what a model's template says about how the model writes. `formats guess` proposes it,
// and a model that no family claims is read by it from its first request on.
type Finding struct {
	Known  string           // the known family that prints the same; empty when none does
	Lines  string           // the declaration; of a known family: that it is like it
	Format *adapters.Format // the declaration, in a set with the families that were given
	Wrong  []error          // what the declaration does not do
	Rest   *adapters.Format // where the calls cannot be read: a format that reads thoughts, text and ends; else nil
	Result string           // what follows a call up to the model's next turn, its result in it; empty when not seen
	Shown  []string         // the calls as the template prints them: one, and two where it prints two
}

// ErrNoCalls is the error of a template that prints no calls: the model was taught them elsewhere,
// or not at all. SmolLM3's, Gemma 2's and Phi-3.5's are such: they print the text of a turn and
// nothing of its calls.
var ErrNoCalls = errors.New("the template does not print calls")

// ErrForm is the error of a template whose calls no declaration can say.
// There is no hole for it: YAML, say, or a name that stands behind the arguments.
var ErrForm = errors.New("the template writes calls in a form that a declaration cannot say")

// From finds out how a model of that name writes; set is the families that are known. What it finds
// can be used if its list of what is wrong is empty. An error means that the template prints no
// calls, refuses the conversations, or prints calls in a form that cannot be said: the message is a
// sentence about what is missing. Two views are taken, with results behind the calls and with a new
// request there. Gemma 2's template refuses the first, others drop reasoning in the second; what
// one of them shows is enough.
//
// What is proposed is tried on the calls that it was made from: printed by the declaration they
// must be what the template printed, and read by it the calls that were rendered. Whatever is not
// so is in Wrong, and the finding is not used.
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
		if best != nil && len(best.Wrong) == 0 && (o.messages != nil || p.content(best)) {
			return best, nil
		}
		f, err := o.arranged(model, set, p)
		if err == nil {
			return f, nil
		}
		errs = append([]error{err}, errs...)
		if best != nil {
			best.Wrong = append(best.Wrong, p.misread(best.Format)...)
		}
	}
	return rest(best, clearest(errs), all, model, set, t)
}

// rest returns what is left where no format reads the calls: the marks around thoughts and text, or
// what the template teaches in words where it prints no calls.
func rest(best *Finding, err error, all []*observed, model string, set *adapters.Set, t Template) (*Finding, error) {
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

// completeFrom adds what another view of the template showed and this one did not: some print
// reasoning only while the results of its calls are the last that was said, some drop the marks of
// a plain reply there. Marks that end a turn are added unless they occur in a call: dropped there,
// they would cut it.
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

// completeBy adds what the source alone says. In message families the headers tell reasoning, so no
// marks around it are looked for. The source can only add: what a conversation showed is what the
// model sees, and the source may hold branches that are dead.
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

// better reports whether f should be taken instead of g: one that a known family confirms, else the
// one with less wrong. A known family's file has been read by people and has the slips of its
// models, which no template shows.
func (f *Finding) better(g *Finding) bool {
	if (f.Known != "") != (g.Known != "") {
		return f.Known != ""
	}
	return len(f.Wrong) < len(g.Wrong)
}

// clearest returns the error that says most: that a form cannot be expressed, before that there are
// no calls, before a refusal. A template that refuses one view and prints no calls in the other
// counts as a template without calls.
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

// finding makes a declaration of what was seen, and tries it. A family that prints exactly the same
// is taken as it stands. One that differs in white space lends its lines, and the marks around
// reasoning and text are the template's own.
func (o *observed) finding(model string, set *adapters.Set) (*Finding, error) {
	if o.unsaid != nil {
		return nil, o.unsaid
	}
	known, exactly := o.knownIn(set)
	f := &Finding{Known: known, Result: strings.ReplaceAll(o.result, probeResult, "…"), Shown: o.shown()}
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

// try prints and reads the probes with a format, and says what comes out otherwise than from the
// template. Printing is compared without white space, since marks of the turn and newlines around
// them are the template's; reading is compared in full. Two calls are tried besides one, since
// lists, glue and sections show with the second.
func (o *observed) try(f *adapters.Format) (wrong []error) {
	for n, want := range o.shown() {
		calls := probes[:n+1]
		if got := string(f.Append(nil, calls...)); !begins(want, got) {
			wrong = append(wrong, fmt.Errorf("printed calls differ from the template's\ngot  %q\nwant %q", got, want))
		}
		if err := Reads(f, want, "", calls, probeTools); err != nil {
			wrong = append(wrong, fmt.Errorf("the template's calls are read otherwise\n%w", err))
		}
	}
	return wrong
}

// knownIn returns the name of the known family that prints and reads the same, or "", and whether
// it agrees in white space too. One that does comes first. Families are asked in the order of their
// names, so that the answer is the same every time.
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

// printedExactly compares with white space.
func (o *observed) printedExactly(f *adapters.Format) bool {
	for n, want := range o.shown() {
		if string(f.Append(nil, probes[:n+1]...)) != want {
			return false
		}
	}
	return true
}

// thinksAs reports whether f takes the reasoning off that the template printed in front of the
// call. A template that prints none leaves the question open. Families that print the same calls
// may differ in the marks around reasoning alone. A reply that thinks and calls must come apart
// into the thought, no text, and the call.
func (o *observed) thinksAs(f *adapters.Format) bool {
	if o.thought == "" {
		return true
	}
	reply, err := read(f, o.thought+o.one, probeTools)
	return err == nil && strings.Contains(reply.Reasoning.String(), probeThink) && strings.TrimSpace(reply.Text.String()) == "" && len(reply.Calls) == 1
}

// begins reports whether a text begins with calls as they are printed, white space aside: marks of
// the turn may follow.
func begins(text, calls string) bool {
	return strings.HasPrefix(strings.Join(strings.Fields(text), ""), strings.Join(strings.Fields(calls), ""))
}

// Agrees reports whether a format reads the calls that a template prints, as its name may have
// promised. A template that prints none, or that cannot be asked, says nothing against it. A model
// called qwen2.5-… may be somebody's tune that writes another way; then the template counts, not
// the name.
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
