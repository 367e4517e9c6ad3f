package upstream

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"

	"toolnorm/internal/test/must"
)

// TestAKeptConnectionMayBeClosed asks a server that ends each connection behind its first request
// without saying so, as a llama-server does behind its hundredth: a second one that was sent
// meanwhile is sent again, or the client would see an error of no cause.
func TestAKeptConnectionMayBeClosed(t *testing.T) {
	l := must.Listen(t, "127.0.0.1:0")
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go answerOnce(c)
		}
	}()
	for _, body := range []any{nil, struct{}{}} {
		c := Caller{HTTP: HTTP(nil)}
		for i := range 3 {
			var got struct{ OK bool }
			if err := c.Quick(t.Context(), "http://"+l.Addr().String(), body, &got); err != nil || !got.OK {
				t.Errorf("request %d with body %v: %v", i, body, err)
			}
		}
	}
}

// answerOnce answers the first request of a connection and closes it when the second has come.
func answerOnce(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	for i := range 2 {
		r, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, r.Body); i > 0 || errors.Is(err, io.ErrUnexpectedEOF) {
			return
		}
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{\"ok\":true}")
	}
}
