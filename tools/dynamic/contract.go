package dynamic

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"toolnorm/chat"
	"toolnorm/internal/clip"
	"toolnorm/tools"
)

// examplesTime bounds the time for all examples of one tool together.
const examplesTime = 30 * time.Second

// Verdict says whether one example of a tool had the expected result.
type Verdict struct {
	Number int  `json:"number"` // from 1
	OK     bool `json:"ok"`
	// the example could not be run, since its database does not answer
	Unknown bool     `json:"unknown,omitempty"`
	Message string   `json:"message,omitempty"` // what is wrong, in one sentence
	Diff    []string `json:"diff,omitempty"`    // a line for each place where the result differs
	Got     string   `json:"got"`               // the result, or the error, as text
	Millis  float64  `json:"duration_ms"`
}

// Sentence returns what is wrong, including the places where the result differs.
func (v *Verdict) Sentence() string {
	text := fmt.Sprintf("example %d: %s", v.Number, v.Message)
	if len(v.Diff) > 0 {
		text += ": " + strings.Join(v.Diff, "; ")
	}
	return text
}

// Examine runs the examples of a draft, which need not be saved, and returns their verdicts. The
// result problems has what is wrong with the draft itself. If the draft cannot be run at all, there
// are no verdicts.
func (s *Set) Examine(ctx context.Context, d Draft) (all []Verdict, problems []Problem) {
	c, p := s.compile(ctx, d, true)
	if c == nil {
		return nil, p
	}
	return s.examined(ctx, c, p), p
}

// examined runs the examples of a compiled draft through a registry like that of a saved tool, and
// returns their verdicts. Verdicts are Unknown if the tool's connection does not answer, which is
// then one of the problems p, or if the time for the examples is over.
func (s *Set) examined(ctx context.Context, c *compiled, p problems) (all []Verdict) {
	if len(c.draft.Examples) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, examplesTime)
	defer cancel()
	down := slices.IndexFunc(p, func(one Problem) bool { return one.Rule == "connection" })
	alone := tools.New(tools.Options{Fit: s.config.Fit})
	err := alone.Set(source, c.tool(s.config.Audit))
	for i, one := range c.draft.Examples {
		v := Verdict{Number: i + 1}
		switch {
		case err != nil:
			v.Message = err.Error()
		case down >= 0:
			v.Unknown, v.Message = true, "it could not be run: "+p[down].Message
		case ctx.Err() != nil:
			v.Unknown, v.Message = true, fmt.Sprintf(
				"it was not run: the examples of a tool have %v together", examplesTime)
		default:
			v.run(ctx, alone, c, one)
		}
		all = append(all, v)
	}
	return all
}

// run makes the call that an example describes, and records the outcome in v. The parameter one is
// the example, and in is the registry that has the tool.
func (v *Verdict) run(ctx context.Context, in *tools.Registry, c *compiled, one Example) {
	var noted atomic.Pointer[Run]
	start := time.Now()
	res := in.Call(context.WithValue(ctx, noteKey{}, &noted), c.draft.Name, one.Arguments)
	v.Millis = float64(time.Since(start).Microseconds()) / 1000
	note := noted.Load()
	v.Got = clip.Dots(shownResult(res), 4096)
	v.Message, v.Diff = one.judge(res, note, c.draft.Type == typeSQL)
	v.OK = v.Message == ""
}

// shownResult returns the result of a call in the form that examples use. This is the structured
// value if the call succeeded and has one, and otherwise the text.
func shownResult(res tools.Result) string {
	if res.Structured != nil && !res.IsError {
		return string(res.Structured)
	}
	return res.Text()
}

// judge compares a result with what the example expects. The result message says what differs, or
// is "" if nothing differs, and diff lists the places that differ. The parameter note is the log of
// the call, and sql says whether the tool runs a SELECT.
func (e *Example) judge(res tools.Result, note *Run, sql bool) (message string, diff []string) {
	text := shownResult(res)
	switch {
	case e.Error != "" && !res.IsError:
		return fmt.Sprintf("expected an error with %q, got a result: %s", e.Error,
			clip.Dots(text, 200)), nil
	case e.Error != "" && !strings.Contains(text, e.Error):
		return fmt.Sprintf("expected an error with %q, got another: %s", e.Error,
			clip.Dots(text, 400)), nil
	case e.Error != "":
		return "", nil
	case res.IsError:
		return "expected a result, got an error: " + clip.Dots(text, 400), nil
	}
	if len(e.Result) > 0 {
		if diff = e.differs(res); len(diff) > 0 {
			return "expected another result", diff
		}
	}
	if e.Rows != "" {
		op, n, err := readCount(e.Rows)
		got, countable := countRows(res, note, sql)
		switch {
		case err != nil:
			return err.Error(), nil
		case !countable:
			return "rows counts the rows of a SELECT or the members of a list, and the result is neither: " + clip.Dots(text, 200), nil
		case !holds(op, got, n):
			return fmt.Sprintf("expected rows %s, got %d", e.Rows, got), nil
		}
	}
	if whole := res.Text(); e.Contains != "" && !strings.Contains(whole, e.Contains) &&
		!strings.Contains(text, e.Contains) {
		return fmt.Sprintf("expected a result that contains %q, got %s", e.Contains,
			clip.Dots(text, 400)), nil
	}
	return "", nil
}

// countRows returns how many rows or list elements a result has. The result ok is false if the
// tool's result is neither rows nor a list.
func countRows(res tools.Result, note *Run, sql bool) (n int, ok bool) {
	if sql && note != nil {
		return note.Rows, true
	}
	var list []json.RawMessage
	if res.Structured == nil || json.Unmarshal(res.Structured, &list) != nil || list == nil {
		return 0, false
	}
	return len(list), true
}

// differs returns a line for each place where a result differs from the expected result. After
// mostDifferences lines, one line says how many more there are. It returns nil if nothing differs.
func (e *Example) differs(res tools.Result) (diff []string) {
	want, err := decode(e.Result)
	if err != nil {
		return []string{err.Error()}
	}
	var got any = res.Text()
	if res.Structured != nil {
		if got, err = decode(res.Structured); err != nil {
			return []string{err.Error()}
		}
	}
	compare("result", want, got, &diff)
	if len(diff) > mostDifferences {
		diff = append(diff[:mostDifferences],
			fmt.Sprintf("and %d more places", len(diff)-mostDifferences))
	}
	return diff
}

// mostDifferences is the largest number of places that are reported.
const mostDifferences = 10

// compare appends to diff a line for each place where two values differ. The parameter at is the
// path of the values, for the lines. The order of members does not matter, and 1 and 1.0 are equal.
func compare(at string, want, got any, diff *[]string) {
	switch w := want.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			compareObjects(at, w, g, diff)
			return
		}
	case []any:
		if g, ok := got.([]any); ok {
			for i := range min(len(w), len(g)) {
				compare(fmt.Sprintf("%s[%d]", at, i), w[i], g[i], diff)
			}
			if len(w) != len(g) {
				*diff = append(*diff, fmt.Sprintf("%s: expected %d members, got %d", at, len(w),
					len(g)))
			}
			return
		}
	case json.Number:
		if g, ok := got.(json.Number); ok && sameNumber(string(w), string(g)) {
			return
		}
	default:
		if want == got {
			return
		}
	}
	*diff = append(*diff,
		fmt.Sprintf("%s: expected %s, got %s", at, inSentence(want), inSentence(got)))
}

// compareObjects appends to diff a line for each place where two objects differ.
func compareObjects(at string, want, got map[string]any, diff *[]string) {
	both := maps.Clone(want)
	maps.Copy(both, got)
	for _, name := range slices.Sorted(maps.Keys(both)) {
		w, wanted := want[name]
		g, there := got[name]
		switch {
		case !there:
			*diff = append(*diff, fmt.Sprintf("%s.%s: expected %s, and it is not there", at, name,
				inSentence(w)))
		case !wanted:
			*diff = append(*diff, fmt.Sprintf("%s.%s: got %s, which was not expected", at, name,
				inSentence(g)))
		default:
			compare(at+"."+name, w, g, diff)
		}
	}
}

// sameNumber reports whether two texts are equal as numbers, however they are written. Very long
// numbers, and texts that are no numbers, are equal only if their characters are.
func sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	x, okX := rational(a)
	y, okY := rational(b)
	return okX && okY && x.Cmp(y) == 0
}

// rational parses a number. It returns false for text that is not a number, and for a number so
// long that it would fill the memory.
func rational(text string) (*big.Rat, bool) {
	_, exp, _ := strings.Cut(strings.ToLower(text), "e")
	if len(text) > 100 || len(strings.TrimLeft(exp, "+-0")) > 3 {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// inSentence returns a value as JSON for a sentence, cut after 200 bytes.
func inSentence(value any) string {
	text, err := chat.JSON(value)
	if err != nil {
		return cmp.Or(err.Error(), "?")
	}
	return clip.Dots(string(text), 200)
}
