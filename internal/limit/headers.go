package limit

import (
	"net/http"
	"strconv"
	"time"
)

// number formats n in digits.
func number(n int64) string { return strconv.FormatInt(n, 10) }

// seconds formats a time in whole seconds, rounded up.
func seconds(d time.Duration) string { return number(int64((d+time.Second-1)/time.Second)) + " s" }

// names are those of the headers of one limit, as http.Header spells them: of OpenAI, which counts
// the time until a limit is whole again as 1m0s, and of Anthropic, which names the moment.
type names [6]string

var (
	requestNames = namesOf("Requests")
	tokenNames   = namesOf("Tokens")
)

// namesOf returns the names of a limit.
func namesOf(what string) names {
	return names{"X-Ratelimit-Limit-" + what, "X-Ratelimit-Remaining-" + what, "X-Ratelimit-Reset-" + what,
		"Anthropic-Ratelimit-" + what + "-Limit", "Anthropic-Ratelimit-" + what + "-Remaining", "Anthropic-Ratelimit-" + what + "-Reset"}
}

// tell puts what is left into the head of an answer.
func tell(h http.Header, c *caller, o *peers, l Limits, now time.Time) {
	one := func(of *names, limit, used int64, w, others *window) {
		if limit == 0 {
			return
		}
		whole := until(now, 0, w, others)
		most, left := number(limit), number(max(limit-used, 0))
		values := &names{most, left, whole.Round(time.Millisecond).String(), most, left, now.Add(whole).UTC().Format(time.RFC3339)}
		for i := range of {
			h[of[i]] = values[i : i+1 : i+1]
		}
	}
	one(&requestNames, l.Requests, c.requests.total+o.requests.total, &c.requests, &o.requests)
	one(&tokenNames, l.Tokens, c.tokens.total+c.held+o.tokens.total+o.held, &c.tokens, &o.tokens)
}
