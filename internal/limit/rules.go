package limit

import (
	"fmt"
	"strconv"
	"strings"

	"toolnorm/internal/pattern"
)

// Limits are the limits of one caller. Zero means no limit.
type Limits struct {
	Requests int64 // per minute
	Tokens   int64 // per minute, of prompts and replies together
	AtOnce   int64 // requests that are being answered at the same time
	Bytes    int64 // of all requests that are being answered
	Context  int64 // tokens of a prompt
}

// Rules are the limits of all callers, by patterns of their names.
type Rules struct {
	texts  map[string]string
	limits map[string]Limits
}

// Parse reads rules. Each key is a caller's name, in which * matches any text. Each value lists
// limits, for example rpm=60,tpm=100000,at-once=2,bytes=4000000,context=32768, or is the word none,
// which means no limits. The error names the first word that is not a limit.
func Parse(texts map[string]string) (*Rules, error) {
	r := &Rules{texts, map[string]Limits{}}
	for name, text := range texts {
		var l Limits
		for word := range strings.SplitSeq(text, ",") {
			key, value, _ := strings.Cut(strings.TrimSpace(word), "=")
			to := map[string]*int64{"rpm": &l.Requests, "tpm": &l.Tokens, "at-once": &l.AtOnce,
				"bytes": &l.Bytes, "context": &l.Context}[key]
			if text == "none" {
				break
			}
			n, err := strconv.ParseInt(value, 10, 64)
			if to == nil || err != nil || n < 1 {
				return nil, fmt.Errorf(
					"%s: %q is no limit; write rpm=60, tpm=100000, at-once=2, bytes=4000000, context=32768, or several with commas between", name, word)
			}
			*to = n
		}
		r.limits[text] = l
	}
	return r, nil
}

// of returns the limits of a caller. They are zero if no rule fits the name.
func (r *Rules) of(name string) Limits {
	text, _ := pattern.Find(r.texts, name)
	return r.limits[text]
}
