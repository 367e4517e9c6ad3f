package remote

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"toolnorm/internal/fault"
)

// SignInTime is how long a sign-in that began on a page waits for the browser to return.
const SignInTime = 10 * time.Minute

// mostVisits bounds the sign-ins that wait at the same time. If there are more, the oldest is given
// up.
const mostVisits = 50

// visits contains the sign-ins that began on pages, by their OAuth states. The zero value is ready
// to use. They are only in memory, because a file would keep OAuth's verifiers longer than they are
// used.
type visits struct {
	mu  sync.Mutex
	all map[string]visit
}

// visit is a sign-in whose browser has not returned yet.
type visit struct {
	flow  *flow
	begun time.Time
}

// add stores a sign-in, and drops sign-ins whose browser has not returned for long.
func (v *visits) add(f *flow) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.all == nil {
		v.all = map[string]visit{}
	}
	oldest := ""
	for state, one := range v.all {
		// One that is late by less is kept, so that its browser learns why it failed.
		if time.Since(one.begun) > 2*SignInTime {
			delete(v.all, state)
		} else if oldest == "" || one.begun.Before(v.all[oldest].begun) {
			oldest = state
		}
	}
	if len(v.all) >= mostVisits {
		delete(v.all, oldest)
	}
	v.all[f.state] = visit{f, time.Now()}
}

// take removes the sign-in that began with this OAuth state and returns it, so that a state works
// only once. It returns an error if there is none or it has expired.
func (v *visits) take(state string) (*flow, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	one, ok := v.all[state]
	delete(v.all, state)
	switch {
	case !ok:
		return nil, fault.New(fault.Invalid,
			"no sign-in waits for this answer: it has been used already, or toolnorm was restarted meanwhile")
	case time.Since(one.begun) > SignInTime:
		return nil, fault.New(fault.Invalid,
			"this sign-in has expired: it began more than %.0f minutes ago", SignInTime.Minutes())
	}
	return one.flow, nil
}

// BeginSignIn begins a sign-in to a server from a page, as SignIn does from a terminal. It returns
// the address that the user must open, and the state by which EndSignIn recognizes the sign-in. The
// browser returns to the address back, which is https or on this machine. BeginSignIn returns an
// error if the server does not answer within a minute or cannot be signed in to.
func (s *Set) BeginSignIn(ctx context.Context, name, back string) (to, state string, err error) {
	if s.cfg.Accounts == "" {
		return "", "", fault.New(fault.Unable,
			"the sign-in could not be kept: nothing can be written into the data folder")
	}
	e, err := entryOf(s.cfg.Path, name)
	if err != nil {
		return "", "", err
	}
	ctx, cancel := withinMinute(ctx)
	defer cancel()
	f, to, err := e.beginSignIn(ctx, s.cfg.Accounts, back)
	if err != nil {
		return "", "", fault.New(fault.Unable, "%s", reason(err))
	}
	s.visits.add(f)
	return to, f.state, nil
}

// withinMinute returns a context that ends after a minute, for the requests in one step of a
// sign-in.
func withinMinute(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, time.Minute, errors.New("no answer within a minute"))
}

// EndSignIn ends a sign-in with the query that the browser has brought back, and connects to the
// server at once. It returns a sentence that says whether the server can be used now. An error says
// why the user is not signed in. A state works only once, whatever the outcome.
func (s *Set) EndSignIn(back url.Values) (said string, err error) {
	f, err := s.visits.take(back.Get("state"))
	if err != nil {
		return "", err
	}
	begun := f.account.entry
	if e, err := entryOf(s.cfg.Path, begun.Name); err != nil || e.URL != begun.URL {
		return "", fault.New(fault.Unable, "%s was removed or got another address meanwhile",
			begun.Name)
	}
	// Not the request's context: a code counts once, and would be lost with a tab that is closed.
	ctx, cancel := withinMinute(s.ctx)
	defer cancel()
	if err := f.finish(ctx, back); err != nil {
		return "", fault.New(fault.Unable, "%s", reason(err))
	}
	s.cfg.Log.Info().Str("mcp_server", begun.Name).Msg("the user has signed in to the MCP server")
	s.mu.Lock()
	l := s.links[begun.Name]
	s.mu.Unlock()
	if l == nil {
		return fmt.Sprintf("Signed in to %s, which is switched off.", begun.Name), nil
	}
	for range 2 { // an attempt that began before the sign-in may still be under way
		if _, err = l.connection(ctx); !wantsSignIn(err) {
			break
		}
	}
	if err != nil {
		return fmt.Sprintf("Signed in to %s, but it cannot be used yet: %s.", begun.Name,
			reason(err)), nil
	}
	return fmt.Sprintf("Signed in to %s. It is connected; tools: %d.", begun.Name,
		len(l.offered())), nil
}

// SignOut removes the tokens and the tools of a server, and connects to the server again without a
// sign-in. It returns an error if there is no such server, nobody is signed in, or the file cannot
// be changed. After that, SignOut asks the server that issued the tokens to revoke them, and waits
// a few seconds for it. If that fails, the failure is only logged.
func (s *Set) SignOut(name string) error {
	s.mu.Lock()
	at := s.file.find(name)
	if at < 0 || s.file.servers[at].err != nil {
		s.mu.Unlock()
		return noServer(name)
	}
	w := s.file.servers[at]
	was, err := removeAccount(s.cfg.Accounts, w.entry.Name)
	if l := s.links[w.entry.Name]; err == nil && l != nil {
		l.withdraw()
		s.connect(w)
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	s.cfg.Log.Info().Str("mcp_server", w.entry.Name).Msg(
		"the user has signed out of the MCP server")
	e, err := w.entry.filled()
	if err == nil && was.Token != nil {
		e.URL = was.URL // the tokens are of that server, also if the entry has got another address
		err = (&account{entry: e, path: s.cfg.Accounts}).revoke(s.ctx, was)
	}
	if err != nil {
		s.cfg.Log.Warn().Str("mcp_server", w.entry.Name).Str("error", reason(err)).Msg(
			"signed out, but the tokens were not revoked and are good until they expire")
	}
	return nil
}

// signs reports whether a sign-in would be used for the entry. It would not for a command, or if
// the entry has an Authorization header of its own.
func (e Entry) signs() bool {
	for name := range e.Headers {
		if strings.EqualFold(name, "Authorization") {
			return false
		}
	}
	return e.URL != ""
}
