// Package ocr restores the long-vowel marks that OCR has read as hyphens in Japanese text. For
// example, サ-ビス becomes サービス, while self-service and 03-1234-5678 stay as they are.
//
// Most hyphens are judged with a dictionary: run.go finds them (narrow.go those after half-width
// katakana), segment.go judges them, and words.go has the dictionary. A model is asked about the
// others, and only for yes or no (model.go). repair.go guesses misread characters from the rest of
// the text, and must be switched on. Only Normalize changes text, and it changes only hyphens
// directly after katakana.
//
// The dictionary judges a run of katakana with its hyphens by all readings of the run. In a
// reading, each hyphen is either a mark or stays, in which case it splits the run. A reading is
// possible if its pieces are words or sequences of words. A hyphen is certain if it is the same in
// all possible readings. For example, the possible readings of デ-タ-ベ-ス differ only in the second
// hyphen. So the first is certainly a mark, and the model is asked about the second.
//
// A wrong mark is worse than a hyphen that stays: a reader understands サ-ビス, but is misled by
// カメラーレンズ. So a hyphen certainly stays only if no word could contain it as a mark. It is ambiguous
// if no reading is possible, if whole words end at the hyphen, or if there is a single character on
// one side of it.
//
// The model can do no harm beyond a wrong answer. It never writes text, a schema restricts it to
// truth values, and an answer of another form is ignored. In the end the text is compared with the
// original, character by character.
package ocr

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxText is the length of the longest text, in characters.
const MaxText = 10_000

// The errors of Normalize, in the words of the tool's specification (HTTP 400 and 503).
var (
	//lint:ignore ST1005 the specification's own words
	ErrTooLong     = errors.New("Text too long (max 10000 chars)")
	ErrUnavailable = errors.New("LLM service unavailable")
)

// Without says what happens to ambiguous hyphens if no model answers.
type Without string

// The values of Without.
const (
	Fail     Without = "fail"     // Normalize fails with ErrUnavailable; so does the zero value
	Keep     Without = "keep"     // they stay hyphens
	Lengthen Without = "lengthen" // they become long-vowel marks
)

// Ask asks a model about hyphens of a text, given as offsets in characters. It returns true for
// each that is a long-vowel mark. If the result has another length than offsets, it counts as
// unreadable.
type Ask func(ctx context.Context, text []rune, offsets []int) ([]bool, error)

// Normalizer normalizes texts. The zero value uses only the dictionary, and fails for texts with
// hyphens that it cannot judge.
type Normalizer struct {
	Ask     Ask // nil: no model is configured
	Without Without
	Repair  bool // also replaces misread katakana by a guess from the rest of the text
}

// Change is one character that was changed.
type Change struct {
	Offset int    `json:"offset"` // in characters
	From   string `json:"from"`
	To     string `json:"to"`
	// rule, llm, repair, or policy: made a long-vowel mark since no model answered
	By string `json:"by"`
}

// Result is a corrected text, with what was changed in it.
type Result struct {
	Text      string
	Changes   []Change
	Ambiguous int      // how many hyphens the dictionary could not judge
	Warnings  []string // what was done because the model gave no usable answer
}

// verdict is what the dictionary says about a hyphen.
type verdict uint8

const (
	hyphen    verdict = iota // a hyphen
	long                     // a long-vowel mark
	ambiguous                // either
)

// longMark is the long-vowel mark.
const longMark = 'ー'

// Normalize returns a text with its long-vowel marks restored. It fails with ErrTooLong for more
// than MaxText characters, and with ErrUnavailable if hyphens are ambiguous, no model answers and
// n.Without is Fail. It also fails if ctx ends. If it fails, the result is empty.
func (n *Normalizer) Normalize(ctx context.Context, text string) (Result, error) {
	if utf8.RuneCountInString(text) > MaxText {
		return Result{}, ErrTooLong
	}
	letters, at := wide([]rune(text))
	found := map[int]Change{} // by offset
	var open []int
	for _, r := range runsOf(letters) {
		verdicts := r.judge(words())
		// A guess that has a reason in the text wins over the dictionary's mark, which only says
		// that a word exists.
		if to := n.repaired(letters, r, verdicts); to != 0 {
			last := len(verdicts) - 1
			found[r.hyphens[last]+r.at] = Change{By: "repair", To: string(to)}
			verdicts[last] = hyphen // so that it is not decided again
		}
		for i, v := range verdicts {
			switch offset := r.at + r.hyphens[i]; v {
			case long:
				found[offset] = Change{By: "rule", To: string(longMark)}
			case ambiguous:
				open = append(open, offset)
			}
		}
	}
	res := Result{Ambiguous: len(open)}
	if err := n.settle(ctx, letters, open, found, &res); err != nil {
		return Result{}, err
	}
	return res, res.apply(text, inPlace([]rune(text), at, found))
}

// settle decides about the hyphens that the dictionary could not judge, and adds changes to the map
// found. The argument open lists the offsets of these hyphens. settle asks the model. If there is
// no answer, it does what n.Without says, and adds a warning or returns ErrUnavailable. If ctx has
// ended, it returns the cause.
func (n *Normalizer) settle(ctx context.Context, letters []rune, open []int, found map[int]Change,
	res *Result) error {
	if len(open) == 0 {
		return nil
	}
	answers, err := n.asked(ctx, letters, open)
	// If the caller's context ended, that is not the model's fault, and no reason to keep or
	// lengthen anything.
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	by, none := "llm", "no model is configured"
	if err != nil {
		none = "the model cannot be asked"
	}
	switch {
	case answers != nil:
	case errors.Is(err, errUnreadable):
		res.Warnings = append(res.Warnings, fmt.Sprintf(
			"the model's answer cannot be read: %d ambiguous hyphens are unchanged", len(open)))
		return nil
	case n.Without == Keep:
		res.Warnings = append(res.Warnings, fmt.Sprintf("%s: %d ambiguous hyphens are unchanged",
			none, len(open)))
		return nil
	case n.Without == Lengthen:
		res.Warnings = append(res.Warnings, fmt.Sprintf(
			"%s: %d ambiguous hyphens are long-vowel marks now", none, len(open)))
		by, answers = "policy", make([]bool, len(open))
		for i := range answers {
			answers[i] = true
		}
	case err != nil:
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	default:
		return ErrUnavailable
	}
	for i, yes := range answers {
		if yes {
			found[open[i]] = Change{By: by, To: string(longMark)}
		}
	}
	return nil
}

// apply makes the changes that were found, and sets res.Text to the result. The keys of the map are
// the indexes of characters in text. Bytes between the changes are copied as they are, so invalid
// UTF-8 is preserved. It fails if the method verify finds that something else has changed.
func (res *Result) apply(text string, found map[int]Change) error {
	var b strings.Builder
	b.Grow(len(text))
	offset := 0
	for at := 0; at < len(text); offset++ {
		_, size := utf8.DecodeRuneInString(text[at:])
		was := text[at : at+size]
		if c, ok := found[offset]; ok {
			c.Offset, c.From = offset, was
			res.Changes = append(res.Changes, c)
			was = c.To
		}
		b.WriteString(was)
		at += size
	}
	res.Text = b.String()
	return verify(text, res.Text)
}

// verify returns an error if the two texts differ in anything but hyphens after katakana, or if
// such a hyphen has become more than one katakana character. So this package never changes anything
// else, whatever a model or other code did.
func verify(before, after string) error {
	old, now := []rune(before), []rune(after)
	if len(old) != len(now) {
		return errors.New("ocr: the text changed its length")
	}
	for i, r := range old {
		narrow := i > 0 && isNarrow(old[i-1]) && strings.ContainsRune(hyphens, r) &&
			now[i] == narrowMark
		if r != now[i] && !narrow &&
			!(isCandidate(old, i) && (now[i] == longMark || isKatakana(now[i]))) {
			return fmt.Errorf("ocr: the character at %d may not change", i)
		}
	}
	return nil
}
