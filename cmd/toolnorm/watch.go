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

// watch says in the log whether Ollama answers, and if not, when it comes up. No request waits for it: each tries for
// itself.
func watch(ctx context.Context, log zerolog.Logger, ollama string) {
	if answers(ctx, ollama) {
		log.Info().Str("ollama", ollama).Msg("ollama answers")
		return
	}
	if ctx.Err() != nil {
		return
	}
	log.Warn().Str("ollama", ollama).Msg("ollama does not answer; still trying, and the demo models work")
	tick := time.NewTicker(retry)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if answers(ctx, ollama) {
			log.Info().Str("ollama", ollama).Msg("ollama answers now")
			return
		}
	}
}

// answers says whether a model server is there.
func answers(ctx context.Context, ollama string) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, ollama+"/api/version", nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<10)) // so that the connection can be used again
	return resp.StatusCode == http.StatusOK
}
