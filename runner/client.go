package runner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"toolnorm/chat"
	"toolnorm/tools"
)

// Client asks a proxy to run calls. The token of its address may also be an API key. A Client never
// runs a call twice. If a connection breaks, the call may have run, so the caller gets an error.
type Client struct {
	Address
}

// mostAnswer is the most bytes of an answer that are read, because another program at the port
// could write without end.
const mostAnswer = 16 << 20

// ErrNotThere is returned if no proxy that runs calls is at an address. It guarantees that nothing
// was run, so toolrun may do the work itself.
var ErrNotThere = errors.New("no toolnorm is running")

// wire is an HTTP client that reaches a proxy on this machine at once or not at all. A call may
// take long, so only a context limits the wait for an answer.
var wire = &http.Client{
	Transport: &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 3 * time.Second}).DialContext,
		TLSHandshakeTimeout: 5 * time.Second,
		Proxy:               http.ProxyFromEnvironment,
	},
	// the token is for one server
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// Tools returns the tools that the proxy offers. It returns an error that wraps ErrNotThere if no
// proxy answers at the address.
func (c *Client) Tools(ctx context.Context) (all []Described, err error) {
	text, err := c.ask(ctx, http.MethodGet, pathList, nil)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, fmt.Errorf("%w at %s: the answer is not a list of tools", ErrNotThere, c.URL)
	}
	return all, nil
}

// Answers reports whether the proxy of an address is running. That proxy must know the token,
// because the port may be another program's by now. A proxy that takes longer than ctx allows
// counts as running, since a slow machine is no reason to remove its address.
func (a Address) Answers(ctx context.Context) bool {
	c := Client{Address: a}
	_, err := c.Tools(ctx)
	return err == nil || errors.Is(err, context.DeadlineExceeded)
}

// Call runs a tool and returns its outcome. If the tool fails, that is part of the outcome and not
// an error. It returns an error if there is no outcome. If the error wraps ErrNotThere, nothing was
// run. Arguments that are not JSON are sent as a string, which the registry repairs.
func (c *Client) Call(ctx context.Context, name string, args json.RawMessage) (
	tools.Outcome, error) {
	if len(args) > 0 && !json.Valid(args) {
		text, err := json.Marshal(string(args))
		if err != nil {
			return tools.Outcome{}, err
		}
		args = text
	}
	return c.outcome(ctx, question{Name: name, Arguments: args})
}

// CallPending runs the pending call with this id and returns its outcome. If the tool fails, that
// is part of the outcome and not an error. It returns an error if the id is unknown or if there is
// no outcome.
func (c *Client) CallPending(ctx context.Context, id string) (tools.Outcome, error) {
	return c.outcome(ctx, question{ID: id})
}

// outcome sends a question, which is a call to run or the id of a pending one, and returns the
// outcome of the call. It returns an error if the request fails, if the status is not 200, or if
// the answer is not an outcome.
func (c *Client) outcome(ctx context.Context, q question) (o tools.Outcome, err error) {
	body, err := chat.JSON(q) // the arguments go as they are
	if err != nil {
		return o, err
	}
	text, err := c.ask(ctx, http.MethodPost, pathCall, body)
	if err != nil {
		return o, err
	}
	if err := json.Unmarshal(text, &o); err != nil {
		return o, fmt.Errorf("%s: the answer is not an outcome: %w", c.URL, err)
	}
	return o, nil
}

// ask sends one request and returns the body of its answer. It returns an error for any status but
// 200. Only an error of dialling proves that nothing was run. After other errors the call may have
// run.
func (c *Client) ask(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.URL, "/")+path,
		bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if c.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.Token)
	}
	resp, err := wire.Do(req)
	if err != nil {
		var dial *net.OpError
		if errors.As(err, &dial) && dial.Op == "dial" {
			return nil, fmt.Errorf("%w at %s: %w", ErrNotThere, c.URL, err)
		}
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.URL, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, c.refused(resp, text)
	}
	return text, nil
}

// refused returns the error for an answer that is not a success. If the proxy does not know the
// path or the token, the error wraps ErrNotThere, because another program may have the port by now.
// The proxy's own 404 about an unknown pending call does not wrap ErrNotThere.
func (c *Client) refused(resp *http.Response, text []byte) error {
	var ours struct {
		Error *struct{ Message, Code string }
	}
	err := fmt.Errorf("%s answers %s", c.URL, resp.Status)
	if json.Unmarshal(text, &ours) == nil && ours.Error != nil && ours.Error.Message != "" {
		err = errors.New(ours.Error.Message)
		if ours.Error.Code == codeNotPending {
			return err
		}
	}
	switch resp.StatusCode {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusUnauthorized,
		http.StatusForbidden:
		return fmt.Errorf("%w at %s: %w", ErrNotThere, c.URL, err)
	}
	return err
}
