package dynamic

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"toolnorm/chat"
	"toolnorm/internal/clip"
	"toolnorm/tools"
)

// reading is one check of a value against the rules of the parameter p.
type reading struct {
	p    *Param
	open []any // the choices that the SELECT of an ENUM gave; nil: they are not known
	// a sentence for each place that does not fit
	wrong []string
}

// read checks a value, and returns it in the form in which the tool's SELECT or expression gets it.
// This form does not depend on the kind of database; Param.bound converts it for one. The second
// result has a sentence for each place that does not fit: the parameter, what is wanted and what
// was sent. It is empty if the value fits. The parameter choices has the values that the SELECT of
// an ENUM gave.
func (p *Param) read(v any, choices []any) (any, []string) {
	r := &reading{p: p, open: choices}
	got := r.value(p.Name, p.kind(), v)
	return got, r.wrong
}

// refuse adds a sentence to r.wrong that says what is wanted at path and what was sent there. It
// returns the value v unchanged.
func (r *reading) refuse(path string, v any, format string, args ...any) any {
	r.wrong = append(r.wrong, fmt.Sprintf("%s: want %s, got %s", path, fmt.Sprintf(format, args...),
		brief(v)))
	return v
}

// brief returns a value as JSON, cut after 80 characters, or "something else" if it cannot be
// encoded.
func brief(v any) string {
	text, err := chat.JSON(v)
	if err != nil {
		return "something else"
	}
	return shortened(string(text))
}

// shortened returns a text, cut after 80 characters.
func shortened(text string) string {
	if utf8.RuneCountInString(text) > 80 {
		return clip.Runes(text, 79) + "…"
	}
	return text
}

// value checks a value of the type k, and returns it in the form in which the tool's SELECT or
// expression gets it. It adds to r.wrong a sentence for each place of the value that does not fit.
func (r *reading) value(path string, k kind, v any) any {
	if k.lists > 0 {
		return r.list(path, k, v)
	}
	switch k.base {
	case typeInteger, typeNumber:
		return r.number(path, k, v)
	case typeBoolean:
		if _, ok := v.(bool); !ok {
			return r.refuse(path, v, "true or false")
		}
	case typeEnum:
		return r.choice(path, v)
	case typeObject:
		if _, ok := v.(map[string]any); !ok {
			return r.refuse(path, v, "an object")
		}
		r.ruled(path, v)
	default:
		text, ok := v.(string)
		if !ok {
			return r.refuse(path, v, "%s", wants[k.base])
		}
		return r.text(path, k, text)
	}
	return v
}

// wants maps types to descriptions of the texts that are wanted.
var wants = map[string]string{
	typeString: "a text", typeDate: "a date, as 2024-01-31",
	typeUUID:      "a UUID, as 123e4567-e89b-12d3-a456-426614174000",
	typeTimestamp: "a time with its zone, as 2024-01-31T09:30:00Z or 2024-01-31T18:30:00+09:00",
}

// list checks a list, and returns it in the form in which the tool's SELECT or expression gets it.
// It adds to r.wrong a sentence for each place that does not fit. The bounds on the number of
// elements apply only to the outermost list.
func (r *reading) list(path string, k kind, v any) any {
	all, ok := v.([]any)
	if !ok {
		return r.refuse(path, v, "a list")
	}
	if k.lists == r.p.kind().lists {
		switch n := len(all); {
		case n < r.p.MinItems:
			return r.refuse(path, n, "at least %d elements", r.p.MinItems)
		case r.p.MaxItems > 0 && n > r.p.MaxItems:
			return r.refuse(path, n, "at most %d elements", r.p.MaxItems)
		}
	}
	out, seen := make([]any, len(all)), map[string]int{}
	for i, one := range all {
		at := fmt.Sprintf("%s[%d]", path, i)
		out[i] = r.value(at, kind{k.base, k.lists - 1}, one)
		if key := jsonText(out[i]); r.p.Unique && k.lists == r.p.kind().lists {
			if first, twice := seen[key]; twice {
				r.wrong = append(r.wrong, fmt.Sprintf(
					"%s: elements %d and %d are equal, want each once", path, first, i))
			}
			seen[key] = i
		}
	}
	return out
}

// number checks a number, and returns it in the form in which the tool's SELECT or expression gets
// it. It adds a sentence to r.wrong if the number does not fit. A number is whole however it is
// written: 5.0 and 5e0 are 5 for an INTEGER.
func (r *reading) number(path string, k kind, v any) any {
	want := "a number"
	if k.base == typeInteger {
		want = "a whole number"
	}
	n, ok := v.(json.Number)
	if !ok || len(n) > longestNumber {
		return r.refuse(path, v, "%s", want)
	}
	f, err := n.Float64()
	if strings.ContainsAny(string(n), ".eE") {
		if err != nil {
			return r.refuse(path, v, "%s, and this is too large", want)
		}
		if k.base == typeInteger {
			exact, ok := new(big.Rat).SetString(string(n))
			if !ok || !exact.IsInt() || f > 1e30 || f < -1e30 {
				return r.refuse(path, v, "%s", want)
			}
			n = json.Number(exact.Num().String())
		}
	}
	if low := r.p.Minimum; len(low) > 0 && order(k.base, n, low.get()) < 0 {
		return r.refuse(path, v, "%s of at least %s", want, low)
	}
	if high := r.p.Maximum; len(high) > 0 && order(k.base, n, high.get()) > 0 {
		return r.refuse(path, v, "%s of at most %s", want, high)
	}
	return n
}

// longestNumber is how many characters a number may have. PostgreSQL's numbers have up to 1,000
// digits.
const longestNumber = 1000

// uuid matches a UUID in lower case.
var uuid = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)

// text checks a text, a date, a time or a UUID, and returns it in the form in which the tool's
// SELECT or expression gets it. If the value does not fit, text adds a sentence to r.wrong.
func (r *reading) text(path string, k kind, text string) any {
	switch k.base {
	case typeString:
		r.plainText(path, text)
	case typeDate:
		day, err := time.Parse(time.DateOnly, text)
		if err != nil || day.Year() < 1 {
			return r.refuse(path, text, "%s", wants[k.base])
		}
		r.within(path, k, text)
	case typeTimestamp:
		at, err := time.Parse(time.RFC3339Nano, text)
		if year := at.UTC().Year(); err != nil || year < 1 || year > 9999 {
			return r.refuse(path, text, "%s", wants[k.base])
		}
		r.within(path, k, text)
	case typeUUID:
		if text = strings.ToLower(text); !uuid.MatchString(text) {
			return r.refuse(path, text, "%s", wants[k.base])
		}
	}
	return text
}

// within adds a sentence to r.wrong if a date or a time is outside of the parameter's minimum and
// maximum.
func (r *reading) within(path string, k kind, text string) {
	what := strings.ToLower(k.base)
	if what == "timestamp" {
		what = "time"
	}
	if low := r.p.Minimum; len(low) > 0 && order(k.base, text, low.get()) < 0 {
		r.refuse(path, text, "a %s not before %v", what, low.get())
	}
	if high := r.p.Maximum; len(high) > 0 && order(k.base, text, high.get()) > 0 {
		r.refuse(path, text, "a %s not after %v", what, high.get())
	}
}

// plainText checks a text's length, pattern and format. For each of these that is wrong, it adds a
// sentence to r.wrong.
func (r *reading) plainText(path, text string) {
	n := utf8.RuneCountInString(text)
	if n < r.p.MinLength {
		r.refuse(path, text, "a text of at least %d characters", r.p.MinLength)
	}
	if r.p.MaxLength > 0 && n > r.p.MaxLength {
		r.refuse(path, text, "a text of at most %d characters", r.p.MaxLength)
	}
	if r.p.Pattern != "" {
		if re, err := regexp.Compile(r.p.Pattern); err != nil || !re.MatchString(text) {
			r.refuse(path, text, "a text that matches %s", r.p.Pattern)
		}
	}
	if r.p.Format != "" {
		r.ruled(path, text)
	}
}

// ruled adds to r.wrong a sentence for each place that does not fit the schema of an OBJECT or the
// format of a text (see Param.rules). It adds nothing if the parameter has neither.
func (r *reading) ruled(path string, v any) {
	rules, err := r.p.rules()
	text, wrong := chat.JSON(v)
	if rules == nil || err != nil || wrong != nil {
		return
	}
	for _, one := range rules.CheckValue(text) {
		r.wrong = append(r.wrong, path+strings.TrimPrefix(one.Text, "arguments"))
	}
}

// choice returns the choice of an ENUM that a value means. The case of letters does not matter if
// only one choice can be meant, and a number may be written as a text. If the value means no
// choice, choice adds a sentence to r.wrong and returns the value. If the choices are not known, it
// returns the value as well, since the database decides.
func (r *reading) choice(path string, v any) any {
	choices := r.open
	for _, one := range r.p.Choices {
		choices = append(choices, one.get())
	}
	if choices == nil { // they are not known, and the database has the last word
		switch v.(type) {
		case string, json.Number, bool:
			return v
		}
		return r.refuse(path, v, "a text or a number")
	}
	var meant []any
	for _, one := range choices {
		if one == v {
			return v
		}
		_, number := one.(json.Number)
		if strings.EqualFold(choiceText(one), choiceText(v)) ||
			number && sameNumber(choiceText(one), choiceText(v)) {
			meant = append(meant, one)
		}
	}
	if len(meant) == 1 {
		return meant[0]
	}
	var names []string
	for _, one := range choices[:min(len(choices), mostNamed)] {
		names = append(names, brief(one))
	}
	if more := len(choices) - len(names); more > 0 {
		names = append(names, "… ("+strconv.Itoa(len(choices))+" in all)")
	}
	return r.refuse(path, v, "one of %s", strings.Join(names, ", "))
}

// mostNamed is how many choices a sentence lists.
const mostNamed = 20

// choiceText returns a choice as a text. For a value that cannot be a choice, it returns a text
// that equals no choice.
func choiceText(v any) string {
	switch v := v.(type) {
	case string, json.Number, bool:
		return strings.TrimSpace(fmt.Sprint(v))
	}
	return "\x00" + brief(v) // no choice
}

// refuse implements tools.Tool.Refuse. For arguments that do not fit, it returns a failure that
// names the parameter, what is wanted and what was sent. It returns false if there is nothing to
// refuse, and also for arguments that the registry's Fit function can repair.
func (c *compiled) refuse(ctx context.Context, text json.RawMessage) (tools.Result, bool) {
	args, err := decodeArgs(text)
	if err != nil || c.fit == nil {
		return tools.Result{}, false
	}
	choices := c.choicesFor(ctx)
	var all []string
	for i := range c.draft.Params {
		p := &c.draft.Params[i]
		v := args[p.Name]
		if v == nil || p.Caller != "" {
			continue
		}
		known := choices(p, v)
		if _, wrong := p.read(v, known); len(wrong) > 0 && !c.repairable(p, v, known) {
			all = append(all, wrong...)
		}
	}
	if len(all) == 0 {
		return tools.Result{}, false
	}
	return tools.Failure(c.misfitting(all)), true
}

// repairable reports whether the registry's Fit function can convert the value v into one of the
// parameter's type, such as "5" into a number. Bounds that no schema can express are checked later,
// when the tool is called.
func (c *compiled) repairable(p *Param, v any, choices []any) bool {
	one, err := p.property(choices)
	text, wrong := chat.JSON(map[string]any{p.Name: v})
	if err != nil || wrong != nil {
		return false
	}
	schema := fmt.Appendf(nil, `{"type":"object","properties":{%q:%s},"required":[%[1]q]}`, p.Name,
		one)
	_, err = c.fit(tools.Tool{Name: c.draft.Name, Schema: schema}, text)
	return err == nil
}

// misfitting joins up to mostTold sentences about wrong arguments into one message.
func (c *compiled) misfitting(all []string) string {
	return "the arguments of " + c.draft.Name + " do not fit: " +
		strings.Join(all[:min(len(all), mostTold)], "; ")
}

// mostTold is the largest number of mistakes that are reported at once.
const mostTold = 5

// misfits returns a sentence for each argument that does not fit, in the order of the parameters,
// and all arguments in the form in which the tool's SELECT or expression gets them. It fills in
// defaults, and parameters whose values come from the caller's identity.
func (c *compiled) misfits(ctx context.Context, args map[string]any,
	choices func(*Param, any) []any) (all []string, read map[string]any) {
	read = map[string]any{}
	for i := range c.draft.Params {
		p := &c.draft.Params[i]
		v := args[p.Name]
		if p.Caller != "" {
			v = p.ofCaller(ctx)
		}
		if v == nil {
			v = p.Default.get()
		}
		if v == nil {
			switch read[p.Name] = nil; {
			case p.Required && p.Caller != "":
				all = append(all, fmt.Sprintf("%s: it is filled from the caller, who has no %s",
					p.Name, p.Caller))
			case p.Required:
				all = append(all, p.Name+": is missing")
			}
			continue
		}
		got, wrong := p.read(v, choices(p, v))
		all, read[p.Name] = append(all, wrong...), got
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if !slices.ContainsFunc(c.draft.Params, func(p Param) bool {
			return p.Name == name && p.Caller == ""
		}) {
			all = append(all, name+": is not a parameter")
		}
	}
	return all, read
}
