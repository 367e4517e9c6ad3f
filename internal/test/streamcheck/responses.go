package streamcheck

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// Response is a response of the Responses API, assembled from its stream.
type Response struct {
	Status   string // completed, incomplete or failed
	Text     string // of all complete messages
	Thought  string
	Calls    []Item // the complete calls
	Items    []Item // all complete items, including the calls
	Total    int    // tokens
	Code     string // of the error
	Comments []string
	Final    json.RawMessage // the last response object
	Events   []string        // the types of all events, in order
}

// Item is one item of a response's output.
type Item struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	Status    string `json:"status"`
	CallID    string `json:"call_id"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Input     string `json:"input"`

	// a string for a function call, an object for a search
	Arguments json.RawMessage `json:"arguments"`
	Content   []Part          `json:"content"`
	Summary   []Part          `json:"summary"`
}

// Part is one part of the content of a message or of reasoning.
type Part struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// Whole returns the complete text of an item, which its deltas must join to.
func (it *Item) Whole() string {
	switch {
	case len(it.Content) > 0:
		return it.Content[0].Text
	case len(it.Summary) > 0:
		return it.Summary[0].Text
	case it.Type == "function_call":
		var text string
		_ = json.Unmarshal(it.Arguments, &text) // doneItem reports a value that is not a string
		return text
	}
	return it.Input
}

// responseEvent has the members of an event that the rules concern.
type responseEvent struct {
	Type     string           `json:"type"`
	Sequence *int             `json:"sequence_number"`
	Index    int              `json:"output_index"`
	ItemID   string           `json:"item_id"`
	Item     *json.RawMessage `json:"item"`
	Part     *Part            `json:"part"`
	Delta    *string          `json:"delta"`
	Text     *string          `json:"text"`
	Args     *string          `json:"arguments"`
	Input    *string          `json:"input"`
	Response json.RawMessage  `json:"response"`
}

// responseChecker reads a stream and collects the violations of rules.
type responseChecker struct {
	Response
	broken []string
	id     string
	named  string // the type in the last event: line
	next   int    // the next sequence number
	added  int    // the number of items that were added
	open   *Item  // the item that is being sent; nil: none is
	grown  strings.Builder
	done   *string // the whole text according to the event at its end
	parted bool    // whether the open item has a part
	seen   map[string]bool
	items  []json.RawMessage
	ended  bool
}

// CheckResponses reads a whole stream of the Responses API. It returns the assembled response, and
// a line for each violation of a rule. The rules are what clients need: Codex, the SDKs of OpenAI
// and Vercel, and pi. Items are sent one after the other. Each event has its name, its sequence
// number and the index of its item. The deltas, joined, are the text in the last event. A stream
// has exactly one end. A reply that did not end well has no call that could be run.
func CheckResponses(h http.Header, body string) (Response, []string) {
	c := &responseChecker{seen: map[string]bool{}}
	if ct := h.Get("Content-Type"); ct != "text/event-stream" {
		c.breaks("Content-Type %q", ct)
	}
	if !utf8.ValidString(body) {
		c.breaks("the stream is not UTF-8")
	}
	for line := range strings.SplitSeq(body, "\n") {
		switch {
		case line == "":
		case strings.HasPrefix(line, ":"):
			c.Comments = append(c.Comments, line)
		case strings.HasPrefix(line, "event: "):
			c.named = line[len("event: "):]
		case strings.HasPrefix(line, "data: "):
			c.data(line[len("data: "):])
		default:
			c.breaks("line %q", line)
		}
	}
	if !c.ended {
		c.breaks("the stream has no end")
	}
	return c.Response, c.broken
}

// breaks records a violation of a rule.
func (c *responseChecker) breaks(format string, args ...any) {
	c.broken = append(c.broken, fmt.Sprintf(format, args...))
}

// data checks the data of one event, and records each violation of a rule.
func (c *responseChecker) data(data string) {
	var e responseEvent
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		c.breaks("%v in %s", err, data)
		return
	}
	if e.Type != c.named {
		c.breaks("event %q is called %q", e.Type, c.named)
	}
	c.named = ""
	if e.Sequence == nil || *e.Sequence != c.next {
		c.breaks("sequence_number of %s, want %d", data, c.next)
	}
	if opening := []string{"response.created", "response.in_progress"}; c.next < 2 &&
		e.Type != opening[c.next] {
		c.breaks("event %d is %s", c.next, e.Type)
	}
	c.next++
	if c.ended {
		c.breaks("%s behind the end", e.Type)
	}
	c.Events = append(c.Events, e.Type)
	switch e.Type {
	case "response.created", "response.in_progress", "response.completed", "response.incomplete",
		"response.failed":
		c.object(&e)
	case "response.output_item.added":
		c.addedItem(&e)
	case "response.output_item.done":
		c.doneItem(&e)
	default:
		c.grows(&e)
	}
}

// object checks an event that contains the whole response so far. The last such event must agree
// with all earlier events.
func (c *responseChecker) object(e *responseEvent) {
	var o struct {
		ID, Status string
		Error      *struct{ Code string }
		Output     []json.RawMessage
		Usage      *struct {
			Input  int `json:"input_tokens"`
			Output int `json:"output_tokens"`
			Total  int `json:"total_tokens"`
		}
	}
	if err := json.Unmarshal(e.Response, &o); err != nil {
		c.breaks("%s: %v", e.Type, err)
		return
	}
	if c.id == "" {
		c.id = o.ID
	}
	if o.ID != c.id || o.ID == "" {
		c.breaks("%s: id %q, before %q", e.Type, o.ID, c.id)
	}
	want := strings.TrimPrefix(e.Type, "response.")
	if want == "created" || want == "in_progress" {
		if o.Status != "in_progress" || len(o.Output) > 0 {
			c.breaks("%s: %s", e.Type, e.Response)
		}
		return
	}
	c.ended, c.Final, c.Status = true, e.Response, o.Status
	if o.Status != want || (want == "failed") != (o.Error != nil) ||
		(want == "completed" && c.open != nil) {
		c.breaks("%s: status %q, error %v, open %v", e.Type, o.Status, o.Error, c.open)
	}
	if o.Error != nil {
		c.Code = o.Error.Code
	}
	if want != "completed" && len(c.Calls) > 0 {
		c.breaks("%s, and %d calls can be run", want, len(c.Calls))
	}
	if !slices.EqualFunc(o.Output, c.items, func(a, b json.RawMessage) bool {
		return bytes.Equal(a, b)
	}) {
		c.breaks("the output at the end %s is not what was done %s", o.Output, c.items)
	}
	if o.Usage != nil {
		if c.Total = o.Usage.Total; c.Total != o.Usage.Input+o.Usage.Output {
			c.breaks("usage %+v", *o.Usage)
		}
	} else if want != "failed" {
		c.breaks("%s without usage", want)
	}
}

// addedItem checks the event that begins an item. The item before must be complete, unless it is a
// call that was cut off.
func (c *responseChecker) addedItem(e *responseEvent) {
	it := c.item(e)
	if c.open != nil && c.open.CallID == "" || e.Index != c.added || c.seen[it.ID] || it.ID == "" ||
		it.Status != "in_progress" || it.Whole() != "" {
		c.breaks("added %+v at %d, %d were added, open %+v", it, e.Index, c.added, c.open)
	}
	if isCall := strings.HasSuffix(it.Type, "_call"); isCall &&
		(it.CallID == "" || c.seen[it.CallID]) {
		c.breaks("call id %q", it.CallID)
	}
	c.seen[it.ID], c.seen[it.CallID] = true, true
	c.added++
	c.open, c.done, c.parted = &it, nil, false
	c.grown.Reset()
}

// item returns the item of an event.
func (c *responseChecker) item(e *responseEvent) (it Item) {
	if e.Item == nil || json.Unmarshal(*e.Item, &it) != nil {
		c.breaks("%s without an item", e.Type)
	}
	return it
}

// grows checks an event that adds to the open item.
func (c *responseChecker) grows(e *responseEvent) {
	if c.open == nil || e.ItemID != c.open.ID || e.Index != c.added-1 {
		c.breaks("%s of %q at %d, open is %+v", e.Type, e.ItemID, e.Index, c.open)
		return
	}
	switch kind := e.Type; {
	case strings.HasSuffix(kind, "_part.added"):
		if c.parted || e.Part == nil || e.Part.Text != "" {
			c.breaks("%s: part %+v", kind, e.Part)
		}
		c.parted = true
	case strings.HasSuffix(kind, "_part.done"):
		if e.Part == nil || e.Part.Text != c.grown.String() || c.done == nil {
			c.breaks("%s: part %+v of %q", kind, e.Part, c.grown.String())
		}
	case strings.HasSuffix(kind, ".delta"):
		if e.Delta == nil || *e.Delta == "" || c.done != nil || !c.parted && c.open.CallID == "" {
			c.breaks("%s: delta %v", kind, e.Delta)
			return
		}
		c.grown.WriteString(*e.Delta)
	case strings.HasSuffix(kind, ".done"):
		for _, text := range []*string{e.Text, e.Args, e.Input} {
			if text != nil {
				c.done = text
			}
		}
		if c.done == nil || *c.done != c.grown.String() {
			c.breaks("%s: the deltas are %q", kind, c.grown.String())
		}
	default:
		c.breaks("event %s", kind)
	}
}

// doneItem checks the event that ends the open item, and records the item.
func (c *responseChecker) doneItem(e *responseEvent) {
	it := c.item(e)
	if c.open == nil || it.ID != c.open.ID || it.CallID != c.open.CallID ||
		it.Name != c.open.Name || e.Index != c.added-1 {
		c.breaks("done %+v at %d, open is %+v", it, e.Index, c.open)
		return
	}
	if it.Type != "tool_search_call" && (c.done == nil || it.Whole() != *c.done) {
		c.breaks("%s is %q, and its deltas %q", it.ID, it.Whole(), c.grown.String())
	}
	var args map[string]json.RawMessage
	if it.Type == "function_call" && json.Unmarshal([]byte(it.Whole()), &args) != nil {
		c.breaks("the arguments %s are no object", it.Arguments)
	}
	switch {
	case it.Type == "message":
		c.Text += it.Whole()
	case it.Type == "reasoning":
		c.Thought += it.Whole()
	default:
		c.Calls = append(c.Calls, it)
	}
	c.items, c.Items = append(c.items, *e.Item), append(c.Items, it)
	c.open = nil
}
