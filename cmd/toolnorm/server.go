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

// httpServer listens, and knows the requests that are being answered.
type httpServer struct {
	http     *http.Server // nil: it does not serve yet
	listener net.Listener
	serving  sync.WaitGroup
	failed   chan error
	running  func() int              // requests that are being answered
	cut      context.CancelCauseFunc // ends those requests with a cause
	stopping atomic.Bool             // no new requests are wanted
}

// listen opens the listener at address.
func (s *httpServer) listen(address string) (err error) {
	if s.listener, err = net.Listen("tcp", address); err != nil {
		return listenError(address, err)
	}
	return nil
}

// serve answers until shutdown. No WriteTimeout is set: a reply may stream for an hour. A client
// that reads nothing is given up elsewhere, by Stall, and a body that comes too slowly by package
// front.
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

// ready answers whether requests may come, which ends when the program is being stopped. Missing
// model servers do not count: otherwise no replica would be ready, and none could report what is
// wrong.
func (s *httpServer) ready(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if s.stopping.Load() {
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, `{"status":"stopping"}`+"\n")
		return
	}
	_, _ = io.WriteString(w, `{"status":"ready"}`+"\n")
}

// drain tells load balancers that no new requests are wanted, but still answers requests until wait
// is over, so that the load balancers notice. Connections that are idle stay open until then: a
// balancer that was just sending on one would lose the request. Each ends with its next answer.
func (s *httpServer) drain(wait time.Duration, log zerolog.Logger) {
	if s.stopping.Store(true); wait <= 0 {
		return
	}
	log.Info().Stringer("for", wait).Msg("stopping: /readyz says no, and requests are still taken")
	time.Sleep(wait)
}

// last returns h, whose answers are the last of their connections once the program is stopping.
func (s *httpServer) last(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.stopping.Load() {
			w.Header().Set("Connection", "close")
		}
		h.ServeHTTP(w, r)
	})
}

// errStopping ends the requests that are still being answered when the grace period is over.
var errStopping = fault.New(fault.Unavailable, "toolnorm is being stopped; ask again")

// tellTime is how long requests that are cut have to tell their clients.
const tellTime = 2 * time.Second

// shutdown stops taking requests, and waits until ctx ends for those that are being answered. Then
// it cuts them, and each tells its client: a stream that simply stops looks like a whole reply.
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
