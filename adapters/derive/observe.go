package derive

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"toolnorm/chat"
)

// The texts of the probes. They do not occur in templates, and do not begin or end like marks, so a
// template that compares or trims texts does not change them.
const (
	probeAsk    = "Zq: asked :qZ"
	probeAgain  = "Zq: asked again :qZ"
	probeText   = "Zq: spoken :qZ"
	probeThink  = "Zq: thought :qZ"
	probeResult = "Zq: result :qZ"
)

// probes are two calls of the same tool, so that the text between them does not depend on a name.
// Their arguments are sorted, since servers may sort them. The ids have nine letters and digits, as
// some templates of Mistral require. The values occur nowhere else, so "wombat" in a prompt is
// always the content of the first call.
var probes = []chat.Call{
	{ID: "Zq0000001", Name: "write_file",
		Args: []byte(`{"content": "wombat", "path": "quokka.txt"}`)},
	{ID: "Zq0000002", Name: "write_file",
		Args: []byte(`{"content": "bilby", "path": "numbat.txt"}`)},
}

// probeTools are the tools that the probes call. Their schemas are plain because several templates
// refuse lists of types (Hermes, Seed), or objects without additionalProperties (Command R+). The
// second tool has an integer beside a string, and the third has no parameters. Their names are
// common ones, so that no template treats them specially.
var probeTools = []chat.Tool{
	{Name: "write_file", Description: "Writes a text file.", Schema: []byte(
		`{"type":"object","properties":{"path":{"type":"string","description":"Where."},"content":{"type":"string","description":"What."}},"required":["path","content"],"additionalProperties":false}`)},
	{Name: "find_files", Description: "Finds files.", Schema: []byte(
		`{"type":"object","properties":{"limit":{"type":"integer","description":"How many."},"path":{"type":"string","description":"Where."}},"required":["limit","path"],"additionalProperties":false}`)},
	{Name: "get_time", Description: "The time.", Schema: []byte(
		`{"type":"object","properties":{},"required":[],"additionalProperties":false}`)},
}

// typedProbe is a call with a number beside a string, and markupProbe one with markup in a text.
// The number shows whether tags have types, string="false" beside string="true". The markup shows
// whether it is put in CDATA (minicpm5).
var (
	typedProbe = []chat.Call{{ID: probes[0].ID, Name: "find_files", Args: []byte(
		`{"limit": 7531, "path": "quokka.txt"}`)}}
	markupProbe = []chat.Call{{ID: probes[0].ID, Name: "write_file", Args: []byte(
		`{"content": "a < b && c\n", "path": "quokka.txt"}`)}}
)

// answers returns the results of the first n calls. Some templates print results inside the turn of
// the call, as Gemma 4's does. Each result has the name and id of its call, because templates match
// results by one of these, and raise an error if they cannot.
func answers(n int) (out []chat.Message) {
	for _, c := range probes[:n] {
		out = append(out, chat.Message{Role: chat.ToolRole, Content: probeResult, Name: c.Name,
			CallID: c.ID})
	}
	return out
}

// request returns a new request of the user, as the messages that follow a turn. It is used in
// place of results: some templates drop reasoning before a request, and others refuse results in a
// conversation without calls.
func request(int) []chat.Message {
	return []chat.Message{{Role: chat.User, Content: probeAgain}}
}

// observed holds what a template showed when test conversations were rendered with it. An empty
// field means that it is unknown.
type observed struct {
	// one call, and two calls, without the text around them in the turn; two is empty if refused
	one, two string
	thought  string // the reasoning before a call, with its marks; empty if the template drops it
	spoken   string // a plain reply with its marks; empty if there are none
	ahead    string // the mark at the end of the prompt that begins a call
	words    string // the end of the prompt, without what a reply in a conversation begins with
	opening  string // the text between the request and the reply
	result   string // the text from a call to the model's next turn, with its result
	ends     []string
	openers  []string  // marks before calls that only the source shows
	fillers  []string  // the texts before a call without reasoning
	glue     string    // the newlines between text and a call
	types    [2]string // the texts between key and value of a number, and of a string
	cdata    bool      // markup in a value is put in CDATA
	unsaid   error     // why the call cannot be separated from its turn
	answered bool      // this view has results after the calls
	messages *messages // headers, if replies consist of messages
}

// shown returns the text that the template has printed for one call and, if it prints two calls in
// a turn, the text for two.
func (o *observed) shown() []string {
	if o.two == "" {
		return []string{o.one}
	}
	return []string{o.one, o.two}
}

// stage renders turns of the assistant. Each is between the user's request and the messages that
// follow it, which are results or a new request.
type stage struct {
	render  Render
	follows func(n int) []chat.Message
	tools   []chat.Tool
}

// turn renders one message of the assistant, and returns the text from the end of the request
// before it to the request after it, if there is one. The parameter results is the number of
// results that follow. The text after the second request is cut off, since it belongs to the next
// turn. It returns an error if the template refuses the turn.
func (s stage) turn(m chat.Message, results int) (string, error) {
	m.Role = chat.Assistant
	return s.conversation(append([]chat.Message{m}, s.follows(results)...)...)
}

// conversation renders a first request and the given messages, and returns the text after that
// request. The text before it has the tools in it and would show nothing about calls, so it is cut
// off. It returns an error if the template refuses the conversation.
func (s stage) conversation(messages ...chat.Message) (string, error) {
	all, err := s.render(append([]chat.Message{{Role: chat.User, Content: probeAsk}}, messages...),
		s.tools)
	if err != nil {
		return "", fmt.Errorf("the template refuses a conversation: %w", err)
	}
	if i := strings.LastIndex(all, probeAsk); i >= 0 {
		all = all[i+len(probeAsk):]
	}
	all, _, _ = strings.Cut(all, probeAgain)
	return all, nil
}

// observe returns what a template shows when test calls and replies are rendered with it. It finds
// marks by comparing two renderings, without a list of known marks. The parameter opening is the
// end of the prompt before a reply, and is the same in both kinds of conversation (see [From]). If
// a plain reply in a conversation begins with only a part of it, the rest opens something in the
// reply, such as reasoning. observe returns an error if the template refuses a call or a plain
// reply, or prints no calls; templates may refuse reasoning or two calls.
func observe(s stage, opening string) (*observed, error) {
	o := new(observed)
	spoken, one, region, err := s.calls(1)
	if o.unsaid = err; err != nil && !errors.Is(err, ErrForm) {
		return nil, err
	}
	o.one = region
	// Llama 3's templates refuse two calls, gpt-oss's print the first alone: one has to be enough.
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

// calls renders a turn with text and a turn with n calls, which are the results spoken and called.
// The result region is the part of called that is not in spoken, since what both have belongs to
// the turn. The error is ErrNoCalls if the turn shows no calls. It is ErrForm if the region lacks
// one of the test call's arguments, or if the tool's name is neither in it nor directly before it.
func (s stage) calls(n int) (spoken, called, region string, err error) {
	if spoken, err = s.turn(chat.Message{Content: probeText}, n); err != nil {
		return "", "", "", err
	}
	if !strings.Contains(spoken, probeText) { // the server does not show the conversation
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
	if !strings.Contains(region, probes[0].Name) && !nameEnds(called, region) ||
		!strings.Contains(region, "quokka") || !strings.Contains(region, "wombat") {
		return spoken, called, region, fmt.Errorf("%w: it cannot be told from the rest of the turn",
			ErrForm)
	}
	return spoken, called, region, nil
}

// nameEnds reports whether the tool's name is directly before region, which is a part of the text
// turn.
func nameEnds(turn, region string) bool {
	front, _, ok := strings.Cut(turn, region)
	return ok && strings.HasSuffix(front, probes[0].Name)
}

// think finds the marks around reasoning, such as <think> and </think>, by comparing three turns.
// The first has only a call, the second has reasoning before the same call, and the third has
// reasoning before text. For missing reasoning some templates print the marks alone: before such a
// call, GLM-4.7 prints </think>, and Qwen3 <think>\n\n</think>. think removes these from the calls.
func (o *observed) think(without, with, speaking string) {
	before, after, ok := strings.Cut(with, probeThink)
	if !ok {
		return
	}
	opens := before[markStart(before, commonPrefix(without, with)):]
	if !hasMark(opens) { // printed without reasoning, too
		opens = lastMark(before)
	}
	closes := firstMark(after)
	// without the newlines that belong to the call
	if _, spoken, ok := strings.Cut(speaking, probeThink); ok {
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

// speaks records the marks that are only around a plain reply, such as hunyuan's
// <answer>…</answer>, and those that end a turn. A mark that also occurs in a call does not belong
// to a reply. A turn of Command R7B ends with <|END_RESPONSE|><|END_OF_TURN_TOKEN|>: the first
// closes the reply, the second the turn.
func (o *observed) speaks(spoken, called string) {
	before, after, _ := strings.Cut(spoken, probeText)
	opens := before[markStart(before, min(commonPrefix(spoken, called), len(before))):]
	if thought, closes, ok := strings.Cut(o.thought, probeThink); ok {
		opens = trimSpaced(trimSpaced(opens, thought+closes), closes)
	}
	if at := strings.LastIndex(before, o.ahead); o.ahead != "" && at >= 0 {
		o.spoken = before[at:] + probeText
	} else if closes := firstMark(after); hasMark(opens) && hasMark(closes) &&
		!strings.Contains(o.one+o.two, strings.TrimSpace(closes)) {
		o.spoken = strings.TrimLeft(opens, "\n") + probeText + closes
		after = after[len(closes):]
	}
	// the turn's opener is repeated between reasoning and text
	if role := trailingRole.FindString(o.opening); role != "" && hasMark(o.spoken) {
		o.ends = append(o.ends, role)
	}
	if mark := strings.TrimSpace(firstMark(after)); mark != "" && !strings.Contains(o.one, mark) {
		o.ends = append(o.ends, mark)
	}
}

// begun looks for a mark that begins a call but is already written by the prompt, such as
// functionary's ">>>". It stores that mark in o.ahead, and adds it to the texts of the calls. The
// mark precedes the names of both calls: it ends the prompt before the first, and is in the text
// before the second. Of two to eight bytes, the longest is taken.
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
		if strings.HasSuffix(called[:at], mark) && strings.HasSuffix(opening, mark) &&
			strings.HasPrefix(o.one, probes[0].Name) && strings.TrimSpace(mark) == mark {
			o.ahead = mark
			o.one, o.two = mark+o.one, mark+o.two
			return
		}
	}
}

// details renders three more turns with calls, and records how the template prints them. In the
// first, text precedes the call, which shows how many newlines are between both: one in hermes, two
// in qwen3-coder. The other two have a number and markup in an argument. What a turn would show
// stays unknown if the template refuses it.
func (o *observed) details(s stage) {
	if mixed, err := s.turn(chat.Message{Content: probeText, Calls: probes[:1]}, 1); err == nil {
		_, after, _ := strings.Cut(mixed, probeText)
		call := strings.TrimLeft(o.one, "\n")
		if glue := newlines(after); strings.HasPrefix(after[len(glue):],
			call[:min(len(call), 12)]) {
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

// amid returns the text between a key and its value, or "" if they do not occur in the text. For
// example, in DeepSeek's tags this is `" string="false">` for a number and `" string="true">` for a
// string.
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
