package retrieval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"toolnorm/internal/post"
	"toolnorm/tools/kb/kbstore"
)

// ErrRemote is the specification's error of a backend that is down, whatever it is called.
//
//lint:ignore ST1005 the specification's own words
var ErrRemote = errors.New("Failed to connect to api-admin service")

// Remote is a Backend in which another service searches: POST {query, kb_id, threshold, top_k} with
// the caller's own token, which that service checks. Nothing is sent for a caller without a token.
type Remote struct {
	URL     string        // the full URL, such as http://api-admin:8003/admin/search/hybrid
	Timeout time.Duration // 0: 15 seconds; the service states about 2.7
	HTTP    *http.Client  // nil: the default one
}

var _ Backend = (*Remote)(nil)

const (
	remoteTimeout = 15 * time.Second
	mostRemote    = 16 << 20 // bytes of a reply: 50 passages take far less
)

// Search asks the service with the caller's own token, and returns its result. Without a token it
// returns ErrUnauthenticated: with a token of this program, the service would see another caller
// than the one who asks. If the service refuses the caller or knows no such base, Search returns
// the same error as Local.Search would, and for any other failure ErrRemote.
func (r *Remote) Search(ctx context.Context, q Query) (*Result, error) {
	if q.Principal == nil || q.Principal.Token == "" {
		return nil, ErrUnauthenticated
	}
	timeout := r.Timeout
	if timeout == 0 {
		timeout = remoteTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	reply, err := r.post(ctx, q)
	if err != nil {
		return nil, err
	}
	return readRemote(q, reply)
}

// post sends the query and returns the reply. The token goes only to the configured URL, because
// Go's client drops the header on a redirect to another host. It returns ErrUnauthenticated,
// kbstore.ErrDenied or kbstore.ErrNotFound for the statuses 401, 403 and 404, and ErrRemote with
// the reason, which is for the log, for everything else.
func (r *Remote) post(ctx context.Context, q Query) ([]byte, error) {
	body := map[string]any{"query": q.Text, "kb_id": q.Base, "threshold": q.Threshold,
		"top_k": q.Max}
	reply, err := post.JSON(ctx, r.HTTP, r.URL, q.Principal.Token, body, mostRemote)
	var refused *post.Refused
	if errors.As(err, &refused) {
		switch refused.Code {
		case http.StatusUnauthorized:
			return nil, ErrUnauthenticated
		case http.StatusForbidden:
			return nil, kbstore.ErrDenied
		case http.StatusNotFound:
			return nil, kbstore.ErrNotFound
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRemote, err)
	}
	return reply, nil
}

// readRemote returns the result in a reply, or ErrRemote if the reply is not valid. The
// specification says only that a reply has the form of the tool's own result. The threshold and the
// limit are applied here as well, since the service may interpret them in its own way. Scores that
// the service does not send are null.
func readRemote(q Query, reply []byte) (*Result, error) {
	var body struct {
		Results []Found
		Stages  []Report
	}
	if err := json.Unmarshal(reply, &body); err != nil {
		return nil, fmt.Errorf("%w: its answer is no result: %w", ErrRemote, err)
	}
	s := &search{Query: q, reports: map[string]*Report{}}
	for _, f := range body.Results {
		s.passages = append(s.passages, &passage{Metadata: f.Metadata, text: f.Content,
			score: f.Score, source: s.source})
		if f.Metadata.CrossEncoder != nil {
			s.source = "cross_encoder"
		}
	}
	for _, p := range s.passages {
		p.source = s.source // the kind of the scores is not known
	}
	for _, stage := range append([]stage{rights}, stages...) {
		s.reports[stage.number] = &Report{Number: stage.number, Name: stage.name, Status: skipped,
			Reason: "left to the service, which does not report it"}
	}
	result := s.result()
	if len(body.Stages) > 0 {
		result.Stages = body.Stages
	}
	return result, nil
}
