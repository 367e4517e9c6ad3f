package main

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/rs/zerolog"
)

// retry is how often a server that does not answer is asked again.
const retry = 3 * time.Second

// watch says in the log whether a model server answers, and if not, when it comes up. No request waits for it: each
// tries for itself.
// It ends with the first answer: later silences are told to those whose requests they meet.
func watch(ctx context.Context, log zerolog.Logger, name, base, url string, count func(context.Context) int) {
	log = log.With().Str("server", name).Str("at", base).Logger()
	if answers(ctx, url) {
		log.Info().Int("models", count(ctx)).Msg("the model server is up")
		return
	}
	if ctx.Err() != nil {
		return
	}
	log.Warn().Msg("the model server does not answer; retrying. The demo models work without it (demo/hermes)")
	tick := time.NewTicker(retry)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if answers(ctx, url) {
			log.Info().Int("models", count(ctx)).Msg("the model server is up now")
			return
		}
	}
}

// every calls do at each interval until ctx ends.
func every(ctx context.Context, interval time.Duration, do func()) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			do()
		}
	}
}

// answers says whether a model server is there: anything but a gateway's word that it is not will do.
// A 404 or 401 comes from a server that is there. 501 is what some answer to a path that they do not have.
func answers(ctx context.Context, url string) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<10)) // so that the connection can be used again
	return resp.StatusCode < http.StatusInternalServerError || resp.StatusCode == http.StatusNotImplemented
}
