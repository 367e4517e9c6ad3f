package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"toolnorm/internal/fault"
)

// httpServer listens and answers, and knows the requests that are being answered.
type httpServer struct {
	http     *http.Server // nil: it does not answer yet
	listener net.Listener
	serving  sync.WaitGroup
	failed   chan error
	running  func() int              // returns the number of requests that are being answered
	cut      context.CancelCauseFunc // aborts those requests with a cause
	stopping atomic.Bool             // whether new requests are no longer wanted
}

// listen opens the listener at this address, or returns an error that explains why it cannot.
func (s *httpServer) listen(address string) (err error) {
	if s.listener, err = net.Listen("tcp", address); err != nil {
		return listenError(address, err)
	}
	return nil
}

// serve answers requests in the background until shutdown. A later failure is sent to the channel
// failed. No WriteTimeout is set, because a reply may stream for an hour. Clients that read nothing
// are cut off by the setting client-timeout, and slow request bodies by package front.
func (s *httpServer) serve(h http.Handler, log zerolog.Logger) {
	requests, cut := context.WithCancelCause(context.Background())
	s.cut = cut
	s.http = &http.Server{
		Handler:           s.last(h),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		BaseContext:       func(net.Listener) context.Context { return requests },
		ErrorLog:          stdlog.New(log.With().Str("part", "http").Logger(), "", 0),
	}
	s.serving.Go(func() { // ends when the server is closed; shutdown waits for it
		if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- fmt.Errorf("serve: %w", err)
		}
	})
}

// onLoopback reports whether only this machine can reach the server.
// A loopback address that is mapped into IPv6 (::ffff:127.0.0.1) counts as loopback.
func (s *httpServer) onLoopback() bool {
	addr, err := netip.ParseAddrPort(s.listener.Addr().String())
	return err == nil && addr.Addr().Unmap().IsLoopback()
}

// ready answers whether the server takes new requests: status 200, or 503 once the program is being
// stopped. Missing model servers do not change that, because otherwise no replica would be ready,
// and none could report what is wrong.
func (s *httpServer) ready(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if s.stopping.Load() {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `{"status":"stopping"}`+"\n")
		return
	}
	_, _ = io.WriteString(w, `{"status":"ready"}`+"\n")
}

// drain makes the method ready answer 503 and then waits for the time wait, so that load balancers
// notice. Meanwhile other requests are answered, each as the last one of its connection. Idle
// connections stay open, because a balancer that was just sending a request on one would lose it.
func (s *httpServer) drain(wait time.Duration, log zerolog.Logger) {
	if s.stopping.Store(true); wait <= 0 {
		return
	}
	log.Info().Stringer("for", wait).Msg("stopping: /readyz says no, and requests are still taken")
	time.Sleep(wait)
}

// last returns a handler that calls h. Once the program is stopping, it makes each answer the last
// one of its connection.
func (s *httpServer) last(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.stopping.Load() {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}

// errStopping is the cause with which shutdown aborts requests that are still being answered after
// the grace period.
var errStopping = fault.New(fault.Unavailable, "toolnorm is being stopped; ask again")

// tellTime is how long aborted requests have to tell their clients.
const tellTime = 2 * time.Second

// shutdown stops taking requests, and waits for running ones until ctx ends. Then it aborts them,
// and each tells its client, because a stream that simply stops looks like a whole reply. It
// returns an error if the listener cannot be closed.
func (s *httpServer) shutdown(ctx context.Context, grace time.Duration, log zerolog.Logger) error {
	defer s.serving.Wait()
	if n := s.running(); n > 0 {
		log.Info().Int("requests", n).Stringer("at_most", grace).Msg(
			"stopping when what is being answered has ended; Ctrl-C again ends at once")
	}
	err := s.http.Shutdown(ctx)
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	log.Warn().Int("requests", s.running()).Stringer("after", grace).Msg(
		"cutting the replies that are still running")
	s.cut(errStopping)
	last, cancel := context.WithTimeout(context.Background(), tellTime)
	defer cancel()
	if s.http.Shutdown(last) == nil {
		return nil
	}
	return s.http.Close()
}
