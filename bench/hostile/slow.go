package hostile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"toolnorm/bench/drive"
)

// target is the server that is attacked.
type target struct {
	p    *drive.Proxy
	open []net.Conn
}

// dial opens a connection. It stays open until the method leave closes all connections. dial
// returns an error if it cannot connect.
func (t *target) dial() (net.Conn, error) {
	c, err := net.DialTimeout("tcp", strings.TrimPrefix(t.p.URL, "http://"), 5*time.Second)
	if err == nil {
		t.open = append(t.open, c)
	}
	return c, err
}

// leave closes all connections that are still open.
func (t *target) leave() {
	for _, c := range t.open {
		c.Close()
	}
}

// slow opens a connection for each of the heads, and sends the head of a request and one byte of
// the body that it promises. With this byte the server begins to read the body. slow returns an
// error unless, soon after the server's time limit, each request has got an answer and its
// connection is closed.
func (t *target) slow(heads ...string) error {
	var all sync.WaitGroup
	errs := make([]error, len(heads))
	for i, head := range heads {
		c, err := t.dial()
		if err != nil {
			return err
		}
		all.Go(func() { errs[i] = sendHead(c, head) })
	}
	all.Wait()
	open := slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(open) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %d are not ended, the first: %w", len(open), len(heads), open[0])
}

// sendHead sends the head of a request. It returns an error unless the answer and the end of the
// connection come in time. The connection must end, because a server that waits for the rest of the
// body can be occupied by any client.
func sendHead(c net.Conn, head string) error {
	what, _, _ := strings.Cut(head, "\r\n")
	if _, err := io.WriteString(c, head); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	_ = c.SetReadDeadline(time.Now().Add(bodyWait + bodyGrace))
	in := bufio.NewReader(c)
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		return fmt.Errorf("%s: no answer: %w", what, err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	if _, err := in.ReadByte(); err != io.EOF && !errors.Is(err, net.ErrClosed) &&
		!strings.Contains(fmt.Sprint(err), "reset") {
		return fmt.Errorf("%s: answered by %d, and the connection stays open: %w", what,
			resp.StatusCode, err)
	}
	return nil
}

// head returns the request line and the headers of a request that promises a body of the given
// length, and the first byte of that body.
func head(method, path, host string, length int) string {
	return fmt.Sprintf(
		"%s %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: %d\r\n\r\n{", method, path, host, length)
}

// slowHeads returns the beginnings of requests to every API, whose bodies never come. The requests
// promise short and long bodies, by POST and GET. Some handlers, such as those of GET, read no body
// and may answer without it.
func slowHeads() (all []string) {
	for _, path := range []string{
		"/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/models", "/v1/none",
		"/api/chat", "/api/generate", "/api/show", "/api/embed", "/api/tags", "/api/pull",
		"/api/delete", "/api/blobs/sha256:0", "/mcp", "/sse/message", "/runner/call",
		"/runner/tools", "/debug", "/healthz", "/",
	} {
		all = append(all, head("POST", path, "localhost", 100), head("GET", path, "localhost", 100),
			head("POST", path, "localhost", 300<<10))
	}
	for _, method := range []string{"PUT", "DELETE", "OPTIONS", "HEAD"} {
		all = append(all, head(method, "/v1/chat/completions", "localhost", 100))
	}
	chunked := "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"
	return append(all, chunked, head("POST", "/v1/chat/completions", "evil.example", 100), head(
		"POST", "/mcp", "evil.example", 100))
}
