package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/rs/zerolog"

	"toolnorm/internal/test/locked"
	"toolnorm/internal/test/must"
	"toolnorm/tools"
)

// signing is a set with one server, p, that wants a sign-in.
type signing struct {
	*Set
	*issuer
	path, accounts string
	registry       *tools.Registry
	log            *locked.Buffer
}

// newSigning opens it, and waits for what p says.
func newSigning(t *testing.T, odd string) *signing {
	t.Helper()
	i := newIssuer(t)
	i.odd = odd
	dir := t.TempDir()
	s := &signing{issuer: i, path: filepath.Join(dir, "mcp.json"), accounts: filepath.Join(dir, "mcp.accounts"), registry: tools.New(tools.Options{}), log: new(locked.Buffer)}
	s.write(t, i.mcp)
	s.Set = Open(Config{Path: s.path, Registry: s.registry, Accounts: s.accounts, Log: zerolog.New(s.log)})
	t.Cleanup(s.Close)
	until(t, "a server that wants a sign-in", func() bool { return s.List()[0].Needs })
	return s
}

// write writes the file with p at an address.
func (s *signing) write(t *testing.T, at string) {
	t.Helper()
	must.OK(t, os.WriteFile(s.path, fmt.Appendf(nil, `{"mcpServers": {"p": {"url": %q}}}`, at), 0o600))
}

// back is where the browser comes back to in these tests.
const back = "https://toolnorm.example/admin/signed-in"

// visited begins a sign-in, opens its address as a browser does, and returns what that brings back.
func (s *signing) visited(t *testing.T) url.Values {
	t.Helper()
	to, state, err := s.BeginSignIn(t.Context(), "p", back)
	must.OK(t, err)
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := c.Get(to)
	must.OK(t, err)
	resp.Body.Close()
	at, err := resp.Location()
	if err != nil || !strings.HasPrefix(at.String(), back+"?") || at.Query().Get("state") != state {
		t.Fatalf("the browser is sent to %v: %v", at, err)
	}
	return at.Query()
}

// saved returns the file of accounts.
func (s *signing) saved() string {
	text, _ := os.ReadFile(s.accounts)
	return string(text)
}

// TestAPageSignsInAndOut goes the whole way there and back.
func TestAPageSignsInAndOut(t *testing.T) {
	s := newSigning(t, "")
	answer := s.visited(t)
	said, err := s.EndSignIn(answer)
	if err != nil || !strings.Contains(said, "Signed in to p. It is connected; tools: 4") {
		t.Fatalf("%q %v", said, err)
	}
	// At once: nothing is waited for.
	if got := called(s.registry, "p.add", `{"a":1,"b":2}`); got != "3" {
		t.Error(got)
	}
	if p := s.List()[0]; p.Needs || !p.SignedIn || p.State != "ready" {
		t.Errorf("signed in: %+v", p)
	}
	if _, err := s.EndSignIn(answer); err == nil || !strings.Contains(err.Error(), "used already") {
		t.Errorf("the same answer again: %v", err)
	}
	must.OK(t, s.SignOut("p"))
	if strings.Contains(s.saved(), "secret-") || s.registry.Snapshot().Source("p.add") != "" {
		t.Error("a sign-out leaves the tokens, or the tools")
	}
	until(t, "a server that wants a sign-in again", func() bool { return s.List()[0].Needs && !s.List()[0].SignedIn })
	if err := s.SignOut("p"); err == nil || !strings.Contains(err.Error(), "nobody is signed in") {
		t.Errorf("signed out twice: %v", err)
	}
	listed, _ := json.Marshal(s.List())
	if all := s.log.String() + string(listed); strings.Contains(all, "secret-") || strings.Contains(all, answer.Get("code")) || strings.Contains(all, answer.Get("state")) {
		t.Errorf("a token, code or state is told:\n%s", all)
	}
}

// TestASignOutTakesTheTokensBack also where they were issued, if that server can. If not, they are
// removed here all the same, and the log says so.
func TestASignOutTakesTheTokensBack(t *testing.T) {
	for odd, want := range map[string]string{"": "", "no revoking": "no address", "fails to revoke": "out of order", "away": "no address"} {
		t.Run(odd, func(t *testing.T) {
			s := newSigning(t, odd)
			if _, err := s.EndSignIn(s.visited(t)); err != nil {
				t.Fatal(err)
			}
			if odd == "away" {
				s.stop()
			}
			must.OK(t, s.SignOut("p"))
			s.issuer.mu.Lock()
			left := len(s.good) + len(s.old)
			s.issuer.mu.Unlock()
			told := s.log.String()
			if (left == 0) != (want == "") || strings.Contains(told, "not revoked") != (want != "") || !strings.Contains(told, want) {
				t.Errorf("%d tokens are still good, want %q in the log:\n%s", left, want, told)
			}
			if strings.Contains(told+s.saved(), "secret-") {
				t.Errorf("a token is left, or told: %s\n%s", s.saved(), told)
			}
		})
	}
}

// TestWhatABrowserBringsIsChecked has one thing wrong with each answer. None of them signs in, and
// none can be used again.
func TestWhatABrowserBringsIsChecked(t *testing.T) {
	for _, tt := range []struct {
		name, odd, want string
		spoil           func(s *signing, q url.Values)
	}{
		{"a forged state", "", "no sign-in waits", func(_ *signing, q url.Values) { q.Set("state", strings.Repeat("A", len(q.Get("state")))) }},
		{"no state", "", "no sign-in waits", func(_ *signing, q url.Values) { q.Del("state") }},
		{"an expired state", "", "has expired", func(s *signing, q url.Values) { s.age(q.Get("state"), SignInTime+time.Second) }},
		{"another issuer", "another iss", "the answer comes from", nil},
		{"no issuer", "no iss", "does not say who signs in", nil},
		{"denied", "refused", "was denied at", nil},
		{"no code", "", "has no code", func(_ *signing, q url.Values) { q.Del("code") }},
		{"another code", "", "gives no token", func(_ *signing, q url.Values) { q.Set("code", "stolen") }},
		{"a server that is away", "", "does not answer: nothing listens", func(s *signing, _ url.Values) { s.stop() }},
		{"a server that was moved", "", "got another address", func(s *signing, _ url.Values) { s.write(t, "http://127.0.0.1:1/mcp") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSigning(t, tt.odd)
			q := s.visited(t)
			if tt.spoil != nil {
				tt.spoil(s, q)
			}
			for _, want := range []string{tt.want, "no sign-in waits"} {
				if said, err := s.EndSignIn(q); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%q %v, not %q", said, err, want)
				}
			}
			if s.saved() != "" {
				t.Errorf("something was saved: %s", s.saved())
			}
		})
	}
}

// age makes a sign-in older.
func (v *visits) age(state string, by time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	one := v.all[state]
	one.begun = one.begun.Add(-by)
	v.all[state] = one
}

// age makes a sign-in older.
func (s *signing) age(state string, by time.Duration) { s.visits.age(state, by) }

// TestASignInThatCannotBegin says why.
func TestASignInThatCannotBegin(t *testing.T) {
	for _, tt := range []struct{ odd, name, back, want string }{
		{"", "none", back, "no server"},
		{"", "p", "http://toolnorm.example/admin/signed-in", "only over https"},
		{"", "p", "javascript:alert(1)", "only over https"},
		{"plain http", "p", back, "neither https nor on this machine"},
		{"no registration", "p", back, "not such an address"},
		{"no PKCE", "p", back, "without PKCE"},
	} {
		s := newSigning(t, tt.odd)
		if to, _, err := s.BeginSignIn(t.Context(), tt.name, tt.back); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %q %v", tt, to, err)
		}
	}
	s := newSigning(t, "")
	s.stop()
	s.mcpServer.Close()
	if _, _, err := s.BeginSignIn(t.Context(), "p", back); err == nil || !strings.Contains(err.Error(), "nothing listens") {
		t.Errorf("a server that is away: %v", err)
	}
}

// TestOneOfManyAnswersCounts brings one answer many times at once.
func TestOneOfManyAnswersCounts(t *testing.T) {
	s := newSigning(t, "")
	answer := s.visited(t)
	var wait sync.WaitGroup
	errs := make([]error, 8)
	for n := range errs {
		wait.Go(func() { _, errs[n] = s.EndSignIn(answer) })
	}
	wait.Wait()
	good := 0
	for _, err := range errs {
		if err == nil {
			good++
		}
	}
	if good != 1 {
		t.Errorf("%d of them count: %v", good, errs)
	}
}

// TestSignInsThatWaitAreBounded begins more than are kept, and some that are long over.
func TestSignInsThatWaitAreBounded(t *testing.T) {
	v := &visits{}
	for n := range mostVisits {
		v.add(&flow{state: fmt.Sprint(n)})
		v.age(fmt.Sprint(n), time.Duration(mostVisits-n)*time.Second)
	}
	v.add(&flow{state: "new"})
	if _, err := v.take("0"); len(v.all) != mostVisits || err == nil {
		t.Errorf("%d wait, and the oldest as well", len(v.all))
	}
	v.age("7", 3*SignInTime)
	v.add(&flow{state: "newer"})
	if _, ok := v.all["7"]; ok {
		t.Error("one that is long over is kept")
	}
	if _, err := v.take("1"); err != nil {
		t.Errorf("one that waits: %v", err)
	}
}

// TestASignOutIsNotUndone has a request come back with a new token after the user has signed out.
func TestASignOutIsNotUndone(t *testing.T) {
	s := newSigning(t, "")
	if _, err := s.EndSignIn(s.visited(t)); err != nil {
		t.Fatal(err)
	}
	a := &account{entry: Entry{Name: "p", URL: s.issuer.mcp}, path: s.accounts}
	before, _, err := a.saved()
	must.OK(t, err)
	must.OK(t, s.SignOut("p"))
	a.refused("Bearer " + before.Token.AccessToken)
	a.lacks("Bearer scope=more")
	if err := a.SaveToken(t.Context(), before.Token); !errors.Is(err, transport.ErrNoToken) || strings.Contains(s.saved(), "secret-") {
		t.Errorf("%v: %s", err, s.saved())
	}
}

// TestASignInIsOfferedWhereItHelps holds that commands and servers with a key of their own are not
// signed in to.
func TestASignInIsOfferedWhereItHelps(t *testing.T) {
	for want, e := range map[bool][]Entry{
		true:  {{URL: "https://a.example/mcp"}, {URL: "https://a.example/mcp", Headers: map[string]string{"X-Team": "a"}}},
		false: {{Command: "x"}, {URL: "https://a.example/mcp", Headers: map[string]string{"authorization": "Bearer x"}}},
	} {
		for _, one := range e {
			if one.signs() != want {
				t.Errorf("%+v: %v", one, !want)
			}
		}
	}
}
