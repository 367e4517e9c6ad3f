package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"regexp"
	"slices"
	"strings"

	"toolnorm/chat"
)

// firstPlaceholder is the character that stands for the first text of a call. The characters after
// it stand for the further texts, up to placeholders of them. They are in Unicode's private area.
const (
	firstPlaceholder = '\ue000'
	placeholders     = 0x800
)

// isPlaceholder reports whether r is a placeholder: a character that stands for a text in the
// arguments of a call.
func isPlaceholder(r rune) bool { return r >= firstPlaceholder && r < firstPlaceholder+placeholders }

// call is a call that a model meant. Each text in its arguments is replaced by a placeholder, a
// single character that stands for the text.
type call struct {
	tool  *tool
	args  string
	texts []value
}

// random returns a random call of one of the tools, with texts of any kind.
func (l *lab) random(r *rand.Rand) *call {
	c := &call{tool: l.tools[r.Intn(len(l.tools))]}
	c.args = l.object(r, c, c.tool.shape, 0)
	return c
}

// shape is the part of a schema that random calls depend on.
type shape struct {
	Type       any
	Enum       []string
	Properties map[string]*shape
	Required   []string
	Items      *shape
}

// text reports whether the schema s allows a string.
func (s *shape) text() bool {
	if list, ok := s.Type.([]any); ok {
		return slices.Contains(list, any("string"))
	}
	return s.Type == "string"
}

// kindOf returns a random one of the types that the shape allows, or any type if it names none.
func (s *shape) kindOf(r *rand.Rand) string {
	switch t := s.Type.(type) {
	case string:
		return t
	case []any:
		return fmt.Sprint(t[r.Intn(len(t))])
	}
	return []string{"string", "string", "integer", "number", "boolean"}[r.Intn(5)]
}

// text adds a random text to the texts of the call c. It returns the JSON string that stands for it
// in the arguments: one private character in quotes, which is replaced by the text later.
func (l *lab) text(r *rand.Rand, c *call, s *shape) string {
	v := l.values[r.Intn(len(l.values))]
	if len(s.Enum) > 0 {
		v = value{"enum", s.Enum[r.Intn(len(s.Enum))]}
	}
	c.texts = append(c.texts, v)
	return fmt.Sprintf(`"%c"`, firstPlaceholder+rune(len(c.texts))-1)
}

// value returns a random value that the shape s allows, as JSON at the nesting level deep. Texts in
// it are added to the call c, and single characters stand for them in the JSON.
func (l *lab) value(r *rand.Rand, c *call, s *shape, deep int) string {
	switch s.kindOf(r) {
	case "integer":
		return fmt.Sprint(r.Intn(300) - 20)
	case "number":
		whole, broken := fmt.Sprint(r.Intn(300)), fmt.Sprintf("%d.%d", r.Intn(90), r.Intn(99)+1)
		return []string{whole, broken}[r.Intn(2)]
	case "boolean":
		return fmt.Sprint(r.Intn(2) == 0)
	case "null":
		return "null"
	case "object":
		return l.object(r, c, s, deep+1)
	case "array":
		var items []string
		for range r.Intn(4) {
			items = append(items, l.value(r, c, s.Items, deep+1))
		}
		return "[" + strings.Join(items, ", ") + "]"
	}
	return l.text(r, c, s)
}

// freeKeys are the names of members for objects whose schema names none.
var freeKeys = []string{"a", "b", "name", "n", "tags", "total", "on"}

// object returns a random object of a shape, as JSON. It has the required members and some of the
// others, in random order.
func (l *lab) object(r *rand.Rand, c *call, s *shape, deep int) string {
	var members []string
	// sorted, so that a seed gives the same calls on every run
	for _, key := range slices.Sorted(maps.Keys(s.Properties)) {
		if slices.Contains(s.Required, key) || r.Intn(2) == 0 {
			members = append(members,
				fmt.Sprintf("%q: %s", key, l.value(r, c, s.Properties[key], deep)))
		}
	}
	if len(s.Properties) == 0 {
		for _, i := range r.Perm(len(freeKeys))[:1+r.Intn(3)] {
			free := &shape{}
			if deep < 3 && r.Intn(4) == 0 {
				free = &shape{Type: "array", Items: &shape{Type: "string"}}
			}
			members = append(members, fmt.Sprintf("%q: %s", freeKeys[i], l.value(r, c, free, deep)))
		}
	}
	r.Shuffle(len(members), func(i, k int) { members[i], members[k] = members[k], members[i] })
	return "{" + strings.Join(members, ", ") + "}"
}

// quoteInner returns a text as a JSON string, without the quotes around it.
func quoteInner(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string cannot fail
	return strings.TrimSuffix(b.String(), "\n")[1 : b.Len()-2]
}

// with returns c.args with the placeholders, the characters that stand for texts, replaced by these
// texts. If the parameter only is not -1, it replaces only the placeholder with this index.
func (c *call) with(only int) string {
	return fillPlaceholders(c.args, func(i int) (string, bool) {
		if i >= len(c.texts) || only >= 0 && i != only {
			return "", false
		}
		return quoteInner(c.texts[i].text), true
	})
}

// meant returns the arguments as the model meant them: it replaces each placeholder, a character
// that stands for a text, by that text.
func (c *call) meant() string { return c.with(-1) }

// fillPlaceholders returns frame with its placeholders, private characters that stand for texts,
// replaced by the texts. The function text returns the text for the placeholder with number i,
// counted from 0. If text returns false, the placeholder stays.
func fillPlaceholders(frame string, text func(i int) (string, bool)) string {
	var b strings.Builder
	for _, r := range frame {
		if isPlaceholder(r) {
			if s, ok := text(int(r - firstPlaceholder)); ok {
				b.WriteString(s)
				continue
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}

// frame is a call as a family of models writes it, with a placeholder in place of each text, a
// character that stands for the text. Everything else in it is structure, in which the benchmark
// makes slips, the small mistakes of models.
type frame struct {
	*call
	text     string   // with placeholders
	written  []string // each text as the family writes it
	whole    bool     // no slip was made yet
	notation string
}

// write returns the call c as the family f writes it, with placeholders, which are characters that
// stand for texts, in place of its texts. It returns nil if a text changes how the family writes
// the rest of the call.
func write(f *family, c *call) *frame {
	render := func(args string) string {
		return string(f.Append(nil, chat.Call{Name: c.tool.Name, Args: json.RawMessage(args)}))
	}
	w := &frame{call: c, text: render(c.args), whole: true, notation: f.notation}
	for i := range c.texts {
		before, after, ok := strings.Cut(w.text, string(firstPlaceholder+rune(i)))
		one := render(c.with(i))
		text, ok := between(one, before, after, ok)
		if !ok {
			return nil
		}
		w.written = append(w.written, text)
	}
	if w.fill() != render(c.meant()) {
		return nil
	}
	return w
}

// fill returns w.text with each placeholder, a character that stands for a text of the call,
// replaced by that text.
func (w *frame) fill() string {
	return fillPlaceholders(w.text, func(i int) (string, bool) { return w.written[i], true })
}

// from returns the offset in the call's text at which the tool's name ends, or 0 if the text does
// not contain the name.
func (w *frame) from() int {
	if i := strings.Index(w.text, w.tool.Name); i >= 0 {
		return i + len(w.tool.Name)
	}
	return 0
}

// tokens matches tags that are a single token, so that a model writes them whole or not at all.
var tokens = regexp.MustCompile(`</?\w+:\w+|</?[|｜][^>]*>|<[^<>|]*\|>` +
	`|\]<\]minimax\[>\[|<escape>|\[[A-Z_]+\]`)
