// Package post sends JSON to a server from the settings, for example one for embeddings, and reads
// its answer.
package post

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"toolnorm/chat"
)

// Refused is the error for an answer whose status is not 200.
type Refused struct {
	Code int
	Text string // the status line and the beginning of the body
}

// Error implements error: it returns the server's status line and the beginning of its body.
func (e *Refused) Error() string { return "the server answered " + e.Text }

// JSON posts body as JSON and returns the beginning of the answer. The parameter most is the
// maximum length of that in bytes. A key that is not empty is sent as a bearer token. A nil client
// means http.DefaultClient. If the status of the answer is not 200, the error is a [Refused]. JSON
// also fails if body cannot be encoded, the URL is wrong or the server does not answer. No error
// shows the URL or the key, because a URL may contain a key as well, and these errors appear in
// results that models read.
func JSON(ctx context.Context, client *http.Client, address, key string, body any, most int64) (
	[]byte, error) {
	text, err := chat.JSON(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(text))
	if err != nil {
		return nil, errors.New("the server's URL cannot be read")
	}
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := cmp.Or(client, http.DefaultClient).Do(req)
	if err != nil {
		var where *url.Error
		if errors.As(err, &where) {
			err = where.Err
		}
		return nil, err
	}
	defer resp.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(resp.Body, most))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = &Refused{resp.StatusCode, fmt.Sprintf("%s: %.300s", resp.Status,
			bytes.TrimSpace(reply))}
	}
	return reply, err
}
