package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"

	"toolnorm/internal/clip"

	"github.com/mark3labs/mcp-go/client/transport"
)

// why wraps an error. Its text is a sentence for the people who manage servers, in place of the
// original text, which comes from the protocol library.
type why struct {
	sentence string
	error
}

// Error implements error. It returns the sentence for the people who manage servers.
func (w why) Error() string { return w.sentence }

// Unwrap returns the original error.
func (w why) Unwrap() error { return w.error }

// explain wraps err in an error whose text says what is wrong and what to do. The parameter said
// has the last lines that the server's command wrote; it is empty if there are none or the server
// is not a command.
func explain(e Entry, err error, said string) error {
	text := ""
	var much excess
	var no forbidden
	switch {
	case errors.As(err, &no):
		text = no.Error()
	case errors.As(err, &much):
		text = much.Error()
	case e.Command != "" && (errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist)):
		text = fmt.Sprintf("the command %q was not found", e.Command)
		if _, gone := os.Stat(e.Dir); e.Dir != "" && gone != nil {
			text = fmt.Sprintf("its cwd %q is not there", e.Dir)
		} else if words := strings.Fields(e.Command); len(words) > 1 && len(e.Args) == 0 {
			args, _ := json.Marshal(words[1:]) // texts always encode
			text += fmt.Sprintf(
				`; write the program and its arguments apart: "command": %q, "args": %s`, words[0],
				args)
		}
	case e.Command != "" && errors.Is(err, os.ErrPermission):
		text = fmt.Sprintf("the command %q may not be run: it is no program, or not allowed",
			e.Command)
	case e.Command != "" && (said != "" || errors.Is(err, errLost) ||
		strings.Contains(err.Error(), "closed") || strings.Contains(err.Error(), "broken pipe")):
		text = "the command has ended without speaking MCP"
		if errors.Is(err, context.DeadlineExceeded) ||
			!errors.Is(err, errLost) && !strings.Contains(err.Error(), "closed") &&
				!strings.Contains(err.Error(), "broken pipe") {
			text = plainly(err)
		}
		if said != "" {
			text += "; it wrote: " + said
		}
	default:
		text = plainly(err)
	}
	return why{text, err}
}

// plainly returns a sentence for an error. For an error that joins the errors of several
// transports, it joins their sentences.
func plainly(err error) string {
	if several, ok := err.(interface{ Unwrap() []error }); ok &&
		strings.Contains(err.Error(), "\n") {
		var all []string
		for _, one := range several.Unwrap() {
			if text := plainly(one); text != otherTransport && !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
		return cmp.Or(strings.Join(all, "; "), otherTransport)
	}
	var dns *net.DNSError
	text := err.Error()
	switch status := answered4xx.FindStringSubmatch(text); {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens at its address (connection refused)"
	case errors.As(err, &dns):
		return fmt.Sprintf("the name %s is not known", dns.Name)
	case wantsSignIn(err):
		return signInSentence
	case strings.Contains(text, "waiting for endpoint"),
		strings.Contains(text, "timeout waiting for endpoint"):
		return fmt.Sprintf(
			"no MCP server of the older transport (SSE) answers there: no address for messages came within %v", endpointTime)
	case status == nil && errors.Is(err, transport.ErrLegacySSEServer):
		return otherTransport
	case status != nil:
		return fmt.Sprintf("no MCP server answers there: the status is %s", status[1])
	}
	return strings.Join(strings.Fields(text), " ")
}

// signInSentence is the sentence for a server that answers 401.
const signInSentence = "it wants a sign-in or a key (status 401): sign in on the page MCP servers of /admin, or run toolnorm mcp login with its name, or give it a key in headers"

// wantsSignIn reports whether an error means that the server demands a sign-in, or one with more
// rights. It returns false for nil.
func wantsSignIn(err error) bool {
	var no forbidden
	switch {
	case err == nil:
		return false
	case errors.As(err, &no), errors.Is(err, transport.ErrAuthorizationRequired),
		errors.Is(err, transport.ErrOAuthAuthorizationRequired):
		return true
	}
	all := answered4xx.FindAllStringSubmatch(err.Error(), -1)
	return slices.ContainsFunc(all, func(m []string) bool { return m[1] == "401" })
}

// otherTransport is the sentence for a server that refuses Streamable HTTP. It is left out if the
// error of the older transport says more.
const otherTransport = "it does not take Streamable HTTP"

// answered4xx matches an HTTP status in the texts of mcp-go's errors.
var answered4xx = regexp.MustCompile(`(?:status code|status):? ([45]\d\d)`)

// longestReason bounds a reason in bytes. That is enough to see what is wrong.
const longestReason = 600

// reason returns an error's text for those who manage servers. Values in the queries of URLs are
// replaced, because errors of net/http contain whole URLs, and a query may contain a key. Long
// texts are cut.
func reason(err error) string {
	text := queries.ReplaceAllStringFunc(err.Error(), func(url string) string {
		at, query, _ := strings.Cut(url, "?")
		return at + "?" + secretValue.ReplaceAllString(query, "=…")
	})
	return clip.Dots(text, longestReason)
}

// queries matches a URL with a query.
var queries = regexp.MustCompile(`https?://[^\s"'?]+\?[^\s"']*`)

// tail stores the last lines of a command's standard error, because they say why the command
// failed.
type tail struct {
	mu    sync.Mutex
	lines []string
}

// Bounds of a tail.
const (
	mostLines   = 30
	longestLine = 200 // bytes
	mostSaid    = 4   // lines that String returns
)

// add stores a line and drops the oldest if there are too many.
func (t *tail) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, strings.ToValidUTF8(clip.Dots(line, longestLine), "�"))
	t.lines = t.lines[max(0, len(t.lines)-mostLines):]
}

// String returns the last lines, joined by " | ", or "" if there are none. Indented lines are
// details of a stack trace, and are left out if there are others.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var told, details []string
	for _, line := range t.lines {
		switch trimmed := strings.TrimSpace(line); {
		case len(trimmed) < 2: // a closing brace
		case line[0] == ' ' || line[0] == '\t':
			details = append(details, trimmed)
		default:
			told = append(told, trimmed)
		}
	}
	if len(told) == 0 {
		told = details
	}
	return strings.Join(told[max(0, len(told)-mostSaid):], " | ")
}

// hides returns a function that removes secrets from a line that the command writes. Secrets are
// the values of the entry's environment and headers, values from this program's environment, and
// whatever looks like a key. e is the entry with its variables filled in, and the parameter written
// is the entry as it is in the file.
func (e Entry) hides(written Entry) func(string) string {
	var pairs []string
	add := func(value string) {
		if len(value) >= 6 { // shorter ones are words, and would make the line unreadable
			pairs = append(pairs, value, "…")
		}
	}
	for _, v := range e.Env {
		add(v)
	}
	for _, v := range e.Headers {
		add(v)
	}
	for _, text := range append([]string{written.Command, written.URL, written.Dir},
		written.Args...) {
		for _, m := range variable.FindAllStringSubmatch(text, -1) {
			add(os.Getenv(m[1]))
		}
	}
	known := strings.NewReplacer(pairs...)
	return func(line string) string { return keys.ReplaceAllString(known.Replace(line), "$1…") }
}

// keys matches text that looks like a key in the output of any program, such as api_key=…, "token":
// "…" or Bearer ….
var keys = regexp.MustCompile(
	`(?i)((?:key|token|secret|passwd|password|credential|authorization)s?["']?\s*[=:]\s*(?:bearer\s+|basic\s+)?["']?|bearer\s+)[^\s"',;)]{4,}`)
