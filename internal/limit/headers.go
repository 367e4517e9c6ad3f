package limit

import (
	"net/http"
	"strconv"
	"time"
)

// number returns n in decimal digits.
func number(n int64) string { return strconv.FormatInt(n, 10) }

// seconds returns a duration in words, in whole seconds rounded up, for example "5 s".
func seconds(d time.Duration) string { return number(int64((d+time.Second-1)/time.Second)) + " s" }

// names holds the six header names of one limit, in the spelling of http.Header. The first three
// are OpenAI's, in which the time until the limit is reset is a duration such as 1m0s. The others
// are Anthropic's, in which it is a date.
type names [6]string

var (
	requestNames = namesOf("Requests")
	tokenNames   = namesOf("Tokens")
)

// namesOf returns the header names of a limit, for example "Requests".
func namesOf(what string) names {
	return names{"X-Ratelimit-Limit-" + what, "X-Ratelimit-Remaining-" + what,
		"X-Ratelimit-Reset-" + what,
		"Anthropic-Ratelimit-" + what + "-Limit", "Anthropic-Ratelimit-" + what + "-Remaining",
		"Anthropic-Ratelimit-" + what + "-Reset"}
}

// tell sets the headers that say how much of each limit is left. A limit that is not set has no
// headers.
func tell(h http.Header, c *caller, o *peers, l Limits, now time.Time) {
	one := func(of *names, limit, used int64, w, others *window) {
		if limit == 0 {
			return
		}
		whole := until(now, 0, w, others)
		most, left := number(limit), number(max(limit-used, 0))
		values := &names{most, left, whole.Round(time.Millisecond).String(), most, left,
			now.Add(whole).UTC().Format(time.RFC3339)}
		for i := range of {
			h[of[i]] = values[i : i+1 : i+1]
		}
	}
	one(&requestNames, l.Requests, c.requests.total+o.requests.total, &c.requests, &o.requests)
	one(&tokenNames, l.Tokens, c.tokens.total+c.held+o.tokens.total+o.held, &c.tokens, &o.tokens)
}
