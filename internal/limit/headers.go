package limit

import (
	"net/http"
	"strconv"
	"time"
)

// number is n in digits.
func number(n int64) string { return strconv.FormatInt(n, 10) }

// seconds is a time in whole seconds, rounded up.
func seconds(d time.Duration) string { return number(int64((d+time.Second-1)/time.Second)) + " s" }

// tell puts what is left into the head of an answer: under the names of OpenAI, which count the time until a limit is whole again
// as 1m0s, and under Anthropic's, which name the moment.
func tell(h http.Header, c *caller, o *peers, l Limits, now time.Time) {
	one := func(what string, limit, used int64, w, others *window) {
		if limit == 0 {
			return
		}
		left, whole := max(limit-used, 0), until(now, 0, w, others)
		h.Set("X-Ratelimit-Limit-"+what, number(limit))
		h.Set("X-Ratelimit-Remaining-"+what, number(left))
		h.Set("X-Ratelimit-Reset-"+what, whole.Round(time.Millisecond).String())
		h.Set("Anthropic-Ratelimit-"+what+"-Limit", number(limit))
		h.Set("Anthropic-Ratelimit-"+what+"-Remaining", number(left))
		h.Set("Anthropic-Ratelimit-"+what+"-Reset", now.Add(whole).UTC().Format(time.RFC3339))
	}
	one("Requests", l.Requests, c.requests.total+o.requests.total, &c.requests, &o.requests)
	one("Tokens", l.Tokens, c.tokens.total+c.held+o.tokens.total+o.held, &c.tokens, &o.tokens)
}
