package derive

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"toolnorm/chat"
)

// What the probes say. Nothing of it occurs in a template, nor begins or ends as a mark does.
// "Zq" and "qZ" begin no word, so a template that compares or trims texts finds nothing to do.
const (
	probeAsk    = "Zq: asked :qZ"
	probeAgain  = "Zq: asked again :qZ"
	probeText   = "Zq: spoken :qZ"
	probeThink  = "Zq: thought :qZ"
	probeResult = "Zq: result :qZ"
)

// probes are two calls of one tool: all that differs between them is said here. The arguments are
// sorted, since servers may sort them; an id has nine letters and digits, since some templates of
// Mistral's insist. The words occur nowhere else: where "wombat" stands in a prompt is where the
// template prints the content. Both call the same tool, so the text between them is the family's
// and not a name's.
var probes = []chat.Call{
	{ID: "Zq0000001", Name: "write_file", Args: []byte(`{"content": "wombat", "path": "quokka.txt"}`)},
	{ID: "Zq0000002", Name: "write_file", Args: []byte(`{"content": "bilby", "path": "numbat.txt"}`)},
}

// probeTools are what the probes call, in the plainest schema there is: several templates refuse
// lists of types (Hermes, Seed), or objects that do not say whether they take more members (Command
// R+). The second has an integer beside a string, the third no parameters. What they are called and
// do is common, so that no template has an opinion about it.
var probeTools = []chat.Tool{
	{Name: "write_file", Description: "Writes a text file.", Schema: []byte(`{"type":"object","properties":{"path":{"type":"string","description":"Where."},"content":{"type":"string","description":"What."}},"required":["path","content"],"additionalProperties":false}`)},
	{Name: "find_files", Description: "Finds files.", Schema: []byte(`{"type":"object","properties":{"limit":{"type":"integer","description":"How many."},"path":{"type":"string","description":"Where."}},"required":["limit","path"],"additionalProperties":false}`)},
	{Name: "get_time", Description: "The time.", Schema: []byte(`{"type":"object","properties":{},"required":[],"additionalProperties":false}`)},
}

// Further calls: with a number beside a string, and with text that is markup. The number tells
// string="true" from string="false", the markup whether CDATA stands around it (minicpm5).
var (
	typedProbe  = []chat.Call{{ID: probes[0].ID, Name: "find_files", Args: []byte(`{"limit": 7531, "path": "quokka.txt"}`)}}
	markupProbe = []chat.Call{{ID: probes[0].ID, Name: "write_file", Args: []byte(`{"content": "a < b && c\n", "path": "quokka.txt"}`)}}
)

// answers returns the results of the first n calls. Some templates print them as a part of the turn
// that called. Gemma 4 prints results inside the turn of the model, and goes on after them. Each
// result has the name and id of its call: templates pair them by one of these, or raise for an
// orphan.
func answers(n int) (out []chat.Message) {
	for _, c := range probes[:n] {
		out = append(out, chat.Message{Role: chat.ToolRole, Content: probeResult, Name: c.Name, CallID: c.ID})
	}
	return out
}

// request goes on without any result. Some templates drop thinking in front of it; others refuse
// results without calls, which the probe that only speaks would have.
func request(int) []chat.Message {
	return []chat.Message{{Role: chat.User, Content: probeAgain}}
}

// observed is what was seen of a template.
// An empty field is a question that the template left open, not a no.
type observed struct {
	one, two string // one call, and two of them, without what surrounds the turn; two is empty where the template refuses
	thought  string // the thinking in front of a call, its marks around it; empty when the template drops it
	spoken   string // a plain reply with the marks around it; empty when there are none
	ahead    string // the mark that the prompt ends with and that a call begins with
	words    string // that the prompt ends with, and that a reply in a conversation does not begin with
	opening  string // what stands between the request and the reply
	result   string // what follows a call up to the model's next turn, its result in it
	ends     []string
	openers  []string  // marks that the source writes in front of calls, and the probes did not show
	fillers  []string  // what stands in front of a call for a missing thought
	glue     string    // the newlines between text and a call
	types    [2]string // what stands between key and value of a number, and of a string, where they differ
	cdata    bool      // markup in a value stands in CDATA
	unsaid   error     // why the call cannot be told from the rest of its turn
	answered bool      // results stood behind the calls
	messages *messages // headers, where replies are made of messages
}

// shown returns the calls as the template prints them, by their number.
func (o *observed) shown() []string {
	if o.two == "" {
		return []string{o.one}
	}
	return []string{o.one, o.two}
}

// stage renders turns of the assistant between a request and what follows.
type stage struct {
	render  Render
	follows func(n int) []chat.Message
	tools   []chat.Tool
}

// turn returns what the template makes of one message of the assistant, from the end of the request
// before it to the request after it, if there is one. results is how many results answer it. The
// text after the second request is cut off: a generation prompt follows there, and is another
// turn's.
func (s stage) turn(m chat.Message, results int) (string, error) {
	m.Role = chat.Assistant
	return s.conversation(append([]chat.Message{m}, s.follows(results)...)...)
}

// conversation returns what the template makes of messages after the first request: the system text
// before it is long, has the tools in it, and would differ for reasons that say nothing about
// calls.
func (s stage) conversation(messages ...chat.Message) (string, error) {
	all, err := s.render(append([]chat.Message{{Role: chat.User, Content: probeAsk}}, messages...), s.tools)
	if err != nil {
		return "", fmt.Errorf("the template refuses a conversation: %w", err)
	}
	if i := strings.LastIndex(all, probeAsk); i >= 0 {
		all = all[i+len(probeAsk):]
	}
	all, _, _ = strings.Cut(all, probeAgain)
	return all, nil
}

// observe renders the probes and reads their differences. A template that refuses reasoning or two
// calls at once has been seen; one call and one plain reply are the least. Everything is a
// difference of two renderings that differ in one thing, so marks are found without a list of known
// ones. The opening is what the prompt ends with where nothing is said yet, which is the same in
// both views. It ends as a reply begins, so what it has beyond a spoken turn is opened there.
func observe(s stage, opening string) (*observed, error) {
	o := new(observed)
	spoken, one, region, err := s.calls(1)
	if o.unsaid = err; err != nil && !errors.Is(err, ErrForm) {
		return nil, err
	}
	o.one = region
	// Llama 3's templates refuse two calls, gpt-oss's print the first alone: one has to do.
	var two string
	if _, called, region, err := s.calls(2); err == nil && strings.Contains(region, "numbat") {
		o.two, two = region, called
	}
	o.opening, o.words = opening, opening[commonPrefix(opening, spoken):]
	thinking, err := s.turn(chat.Message{Reasoning: probeThink, Calls: probes[:1]}, 1)
	if o.messages = headers(opening, spoken, one, thinking); o.messages == nil {
		if err == nil {
			speaking, _ := s.turn(chat.Message{Reasoning: probeThink, Content: probeText}, 1)
			o.think(one, thinking, speaking)
		}
		o.begun(opening, one)
		o.speaks(spoken, one)
	} else {
		o.one, o.two = o.messages.whole(opening, one, o.one), o.messages.whole(opening, two, o.two)
	}
	o.details(s)
	if at := strings.Index(one, o.one); at >= 0 && strings.Contains(one[at:], probeResult) {
		o.result = one[at+len(o.one):]
	}
	return o, nil
}

// calls renders a turn that speaks and one that makes so many calls instead, and gives both with
// what the second has of its own. Everything that calls and text have in common is the turn's. What
// is left must hold the name, or stand directly behind it, and both values: half of a call cannot
// be told from the rest.
func (s stage) calls(n int) (spoken, called, region string, err error) {
	if spoken, err = s.turn(chat.Message{Content: probeText}, n); err != nil {
		return "", "", "", err
	}
	if !strings.Contains(spoken, probeText) { // the server shows something else than a conversation
		return "", "", "", ErrNoCalls
	}
	if called, err = s.turn(chat.Message{Calls: probes[:n]}, n); err != nil {
		return "", "", "", err
	}
	// SmolLM3's template prints the turn, empty.
	if !strings.Contains(called, "quokka") {
		return "", "", "", ErrNoCalls
	}
	region = difference(spoken, called)
	if !strings.Contains(region, probes[0].Name) && !nameEnds(called, region) || !strings.Contains(region, "quokka") || !strings.Contains(region, "wombat") {
		return spoken, called, region, fmt.Errorf("%w: it cannot be told from the rest of the turn", ErrForm)
	}
	return spoken, called, region, nil
}

// nameEnds reports whether the tool's name stands directly in front of a region of a turn.
func nameEnds(turn, region string) bool {
	front, _, ok := strings.Cut(turn, region)
	return ok && strings.HasSuffix(front, probes[0].Name)
}

// think finds the marks around reasoning in a turn that thinks and calls, beside the same turn
// without the thought and one that thinks and speaks, and takes the empty marks that some templates
// print for a missing thought off the calls. GLM-4.7 prints </think> alone in front of a call
// without a thought, Qwen3 <think>\n\n</think>: both are the template's filler, not the beginning
// of a call.
func (o *observed) think(without, with, speaking string) {
	before, after, ok := strings.Cut(with, probeThink)
	if !ok {
		return
	}
	opens := before[markStart(before, commonPrefix(without, with)):]
	if !hasMark(opens) { // printed for a missing thought, too
		opens = lastMark(before)
	}
	closes := firstMark(after)
	if _, spoken, ok := strings.Cut(speaking, probeThink); ok { // without the newlines that are the call's
		spoken, _, _ = strings.Cut(spoken, probeText)
		closes = cmp.Or(firstMark(spoken), closes)
	}
	if opens == "" || closes == "" {
		return
	}
	o.thought = opens + probeThink + closes
	o.fillers = []string{opens + closes, strings.TrimSpace(opens) + closes, closes}
	for _, empty := range o.fillers {
		o.one, o.two = trimSpaced(o.one, empty), trimSpaced(o.two, empty)
	}
}

// speaks finds the marks around a plain reply that a call does not have, and those that end a turn.
// hunyuan's <answer>…</answer> and command-r7b's <|START_RESPONSE|> are such marks. A mark that
// also stands in a call is none of a reply. A turn of Command R7B ends with
// <|END_RESPONSE|><|END_OF_TURN_TOKEN|>: the first closes the reply, the second the turn.
func (o *observed) speaks(spoken, called string) {
	before, after, _ := strings.Cut(spoken, probeText)
	opens := before[markStart(before, min(commonPrefix(spoken, called), len(before))):]
	if thought, closes, ok := strings.Cut(o.thought, probeThink); ok {
		opens = trimSpaced(trimSpaced(opens, thought+closes), closes)
	}
	if at := strings.LastIndex(before, o.ahead); o.ahead != "" && at >= 0 {
		o.spoken = before[at:] + probeText
	} else if closes := firstMark(after); hasMark(opens) && hasMark(closes) && !strings.Contains(o.one+o.two, strings.TrimSpace(closes)) {
		o.spoken = strings.TrimLeft(opens, "\n") + probeText + closes
		after = after[len(closes):]
	}
	if role := trailingRole.FindString(o.opening); role != "" && hasMark(o.spoken) { // between reasoning and text stands the turn's opener once more
		o.ends = append(o.ends, role)
	}
	if mark := strings.TrimSpace(firstMark(after)); mark != "" && !strings.Contains(o.one, mark) {
		o.ends = append(o.ends, mark)
	}
}

// begun finds a mark that the prompt ends with already although a call begins with it, as
// functionary's ">>>" does. A mark is two to eight bytes long here, the longest first, and must
// stand in front of both names: of the second call it is in the text, of the first in the prompt.
func (o *observed) begun(opening, called string) {
	at := strings.Index(called, o.one)
	if at <= 0 || o.two == "" {
		return
	}
	second := strings.LastIndex(o.two, probes[1].Name)
	for n := 8; n >= 2; n-- {
		if second < n || at < n {
			continue
		}
		mark := o.two[second-n : second]
		if strings.HasSuffix(called[:at], mark) && strings.HasSuffix(opening, mark) && strings.HasPrefix(o.one, probes[0].Name) && strings.TrimSpace(mark) == mark {
			o.ahead = mark
			o.one, o.two = mark+o.one, mark+o.two
			return
		}
	}
}

// details looks at what only some calls show: text in front, a number among the arguments, markup
// in one. A template that refuses one of these turns leaves its question open. The text in front of
// a call shows the glue: hermes puts one newline between, qwen3-coder two.
func (o *observed) details(s stage) {
	if mixed, err := s.turn(chat.Message{Content: probeText, Calls: probes[:1]}, 1); err == nil {
		_, after, _ := strings.Cut(mixed, probeText)
		call := strings.TrimLeft(o.one, "\n")
		if glue := newlines(after); strings.HasPrefix(after[len(glue):], call[:min(len(call), 12)]) {
			o.glue = glue
		}
	}
	if typed, err := s.turn(chat.Message{Calls: typedProbe}, 1); err == nil {
		o.types = [2]string{amid(typed, "limit", "7531"), amid(typed, "path", "quokka.txt")}
	}
	if markup, err := s.turn(chat.Message{Calls: markupProbe}, 1); err == nil {
		o.cdata = strings.Contains(markup, "<![CDATA[a < b")
	}
}

// amid returns the text between a key and its value. In DeepSeek's tags it is `" string="false">`
// for a number and `" string="true">` for a string.
func amid(text, key, value string) string {
	at := strings.LastIndex(text, value)
	if at < 0 {
		return ""
	}
	k := strings.LastIndex(text[:at], key)
	if k < 0 {
		return ""
	}
	return text[k+len(key) : at]
}
