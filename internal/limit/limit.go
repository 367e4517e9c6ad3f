// Package limit bounds what each caller may ask of models: requests and tokens per minute, the
// number and size of concurrent requests, and the length of a prompt. A caller is the holder of a
// key or a JWT, or an address if neither is required.
//
// A request over a limit is refused with 429 in the client's form, with Retry-After. Every answer
// has the headers from which the libraries of OpenAI and Anthropic read how much is left. Tokens
// are charged when a reply has ended, as the model server counts them. Until then a request
// reserves an estimate made from its size.
//
//	limit.go     the limiter
//	rules.go     the settings
//	window.go    the counts of the last minute
//	headers.go   what answers tell
//	replicas.go  what the replicas of the program tell each other
package limit

import (
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"toolnorm/internal/auth"
	"toolnorm/internal/fault"
	"toolnorm/internal/trace"
)

// mostCallers is the largest number of callers that are counted separately. Further callers share
// one count.
const mostCallers = 10_000

// unknownBytes is the size that is assumed for a request whose length is unknown.
const unknownBytes = 1 << 20

// Limiter counts the requests of callers. It keeps its counts when the settings change. The zero
// value is ready for use.
type Limiter struct {
	// called with the name of the limit for which a request was refused; may be nil
	Over func(limit string)
	Log  zerolog.Logger

	mu      sync.Mutex
	callers map[string]*caller
	others  map[string]*peers // the requests of the same callers to other replicas
	swept   time.Time         // when idle callers were last removed
}

var _ trace.Counter = (*Limiter)(nil)

// caller holds the counts of one caller. It is guarded by Limiter.mu.
type caller struct {
	requests, tokens window
	held             int64 // tokens reserved for requests that are being answered
	running, bytes   int64 // requests that are being answered, and their bytes
}

// ticket is a request that was admitted.
type ticket struct {
	limiter *Limiter
	limits  Limits
	guess   int64 // the estimated number of its tokens
	bytes   int64
	spent   int64 // the tokens that it used; negative: not counted yet
}

// ticketKey is the context key of a ticket.
type ticketKey struct{}

// Fits returns an error if a prompt of that many tokens is over the limit of the caller of ctx, and
// otherwise nil. The error is not a 429, because sending the same prompt again would not help.
func Fits(ctx context.Context, tokens int) error {
	t, _ := ctx.Value(ticketKey{}).(*ticket)
	if t == nil || t.limits.Context == 0 || int64(tokens) <= t.limits.Context {
		return nil
	}
	t.limiter.over("context")
	return &fault.Error{Kind: fault.Invalid, Param: "messages", Code: "context_length_exceeded",
		Tokens: tokens, Window: int(t.limits.Context),
		Message: "the prompt has about " + number(int64(tokens)) + " tokens, and your limit is " +
			number(t.limits.Context) + ": shorten the conversation, or offer fewer tools"}
}

// Begin implements trace.Counter. It does nothing.
func (l *Limiter) Begin(context.Context, string) {}

// End implements trace.Counter: it records how many tokens the request used. If a reply broke off
// before its tokens were counted, it records an estimate.
func (l *Limiter) End(ctx context.Context, s *trace.Sum) {
	t, _ := ctx.Value(ticketKey{}).(*ticket)
	if t == nil {
		return
	}
	t.spent = int64(s.Tokens.Prompt + s.Tokens.Completion)
	if t.spent == 0 && s.First > 0 {
		t.spent = t.guess
	}
}

// Wrap returns a handler that calls the handler next if the caller is within the limits of the
// given rules, and otherwise answers with a fault of kind Limited. Only requests for which asks
// returns true, that is, requests to a model, are limited. auth.Guard must run before this handler,
// since it finds out who the caller is.
func (l *Limiter) Wrap(next http.Handler, rules *Rules,
	asks func(*http.Request) bool) http.Handler {
	if len(rules.texts) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !asks(r) {
			next.ServeHTTP(w, r)
			return
		}
		name, key := who(r)
		t := &ticket{limiter: l, limits: rules.of(name), guess: max(r.ContentLength, 4) / 4,
			bytes: r.ContentLength, spent: -1}
		if t.bytes < 0 {
			t.bytes = unknownBytes
		}
		if t.limits == (Limits{}) {
			next.ServeHTTP(w, r)
			return
		}
		c, err := l.enter(w.Header(), key, t)
		if err != nil {
			// many clients read the answer only after they have sent everything
			_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, 1<<20))
			l.Log.Warn().Str("principal", name).Str("path", r.URL.Path).Err(err).Msg(
				"refused: over a limit")
			fault.WriteFor(w, r, err)
			return
		}
		defer l.leave(c, t)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), ticketKey{}, t)))
	})
}

// who returns the caller's name, by which the rules are searched, and the key under which the
// caller is counted. The name is empty without a key or JWT.
func who(r *http.Request) (name, key string) {
	if p := auth.PrincipalOf(r.Context()); p != nil {
		name = p.Subject
	}
	if key = auth.Caller(r.Context()); key != "" {
		return name, key
	}
	return name, address(r)
}

// Caller returns the key under which the caller of r is counted. It is derived from the API key,
// the JWT or the address, and is the same for all requests of one caller.
func Caller(r *http.Request) string {
	_, key := who(r)
	return key
}

// address returns the address from which a request comes. If a proxy on this machine forwarded the
// request, that is the address in the proxy's header. For IPv6, address returns the network, since
// one machine can use any number of addresses in it.
func address(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	ip, err := netip.ParseAddr(host)
	if err == nil && ip.Unmap().IsLoopback() {
		all := r.Header.Values("X-Forwarded-For")
		if len(all) > 0 {
			hops := strings.Split(all[len(all)-1], ",")
			if last, wrong := netip.ParseAddr(strings.TrimSpace(hops[len(hops)-1])); wrong == nil {
				ip = last
			}
		}
	}
	if err != nil {
		return host
	}
	if ip = ip.Unmap().WithZone(""); ip.Is6() {
		return netip.PrefixFrom(ip, 64).Masked().String()
	}
	return ip.String()
}

// enter admits a request and returns its caller, or returns a fault that names the exceeded limit.
// In both cases it sets headers in h that say how much is left.
func (l *Limiter) enter(h http.Header, key string, t *ticket) (*caller, error) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	c, o := l.caller(key, now), l.others[key]
	if o == nil {
		o = new(peers)
	}
	for _, w := range []*window{&c.requests, &c.tokens, &o.requests, &o.tokens} {
		w.pass(now)
	}
	if t.limits.Tokens > 0 {
		// a request that exceeds the whole limit must wait for an empty minute
		t.guess = min(t.guess, t.limits.Tokens)
	}
	kind, after, sentence := c.over(now, t, o)
	if kind == "" {
		c.running++
		c.held += t.guess
		c.bytes += t.bytes
		c.requests.add(now, 1)
	}
	tell(h, c, o, t.limits, now)
	if kind != "" {
		l.over(kind)
		return nil, &fault.Error{Kind: fault.Limited, Message: sentence, Retry: after}
	}
	return c, nil
}

// over returns the name of the limit that a request exceeds, the time after which it may be sent
// again, and the sentence for the client. If it exceeds none, kind is "".
func (c *caller) over(now time.Time, t *ticket, o *peers) (
	kind string, after time.Duration, sentence string) {
	l, running, bytes := t.limits, c.running+o.running, c.bytes+o.bytes
	requests, tokens, held := c.requests.total+o.requests.total, c.tokens.total+o.tokens.total,
		c.held+o.held
	switch {
	case l.AtOnce > 0 && running >= l.AtOnce:
		return "at_once", time.Second, "you have " + number(running) +
			" requests running, and your limit is " + number(l.AtOnce) +
			" at once: wait for one to end"
	// a request that exceeds the whole limit waits until no other is running
	case l.Bytes > 0 && bytes > 0 && bytes+t.bytes > l.Bytes:
		return "bytes", time.Second, "you have requests of " + number(bytes) +
			" bytes running, and your limit is " + number(l.Bytes) + " at once: wait for one to end"
	case l.Requests > 0 && requests >= l.Requests:
		after = until(now, l.Requests-1, &c.requests, &o.requests)
		return "requests", after, "your limit is " + number(l.Requests) +
			" requests a minute: try again in " + seconds(after)
	case l.Tokens > 0 && tokens+held > 0 && tokens+held+t.guess > l.Tokens:
		after = max(until(now, max(l.Tokens-t.guess-held, 0), &c.tokens, &o.tokens), time.Second)
		return "tokens", after, "your limit is " + number(l.Tokens) +
			" tokens a minute: try again in " + seconds(after)
	}
	return "", 0, ""
}

// over reports a refusal to the hook Over, if it is set.
func (l *Limiter) over(kind string) {
	if l.Over != nil {
		l.Over(kind)
	}
}

// leave ends a request of a caller. It gives back what the request reserved, and adds the tokens
// that it used, or the estimate if the server did not count them.
func (l *Limiter) leave(c *caller, t *ticket) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	c.running--
	c.held -= t.guess
	c.bytes -= t.bytes
	spent := t.spent
	if spent < 0 {
		spent = t.guess
	}
	c.tokens.add(now, spent)
}

// caller returns the counts of the caller with the given key, and creates them if necessary. If
// there are too many callers, the new ones have one count in common, which it returns. l.mu must be
// held.
func (l *Limiter) caller(key string, now time.Time) *caller {
	if c := l.callers[key]; c != nil {
		return c
	}
	if len(l.callers) >= mostCallers && now.Sub(l.swept) > sweepEvery {
		l.swept = now
		maps.DeleteFunc(l.callers, func(_ string, c *caller) bool { return c.idle(now) })
	}
	if len(l.callers) >= mostCallers {
		key = "" // further callers share one count
	}
	if c := l.callers[key]; c != nil {
		return c
	}
	if l.callers == nil {
		l.callers = map[string]*caller{}
	}
	c := &caller{}
	l.callers[key] = c
	return c
}

// sweepEvery is the interval at which idle callers are removed.
const sweepEvery = 10 * time.Second

// idle reports whether all counts of a caller are zero.
func (c *caller) idle(now time.Time) bool {
	c.requests.pass(now)
	c.tokens.pass(now)
	return c.running == 0 && c.requests.total == 0 && c.tokens.total == 0
}
