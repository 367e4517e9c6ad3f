package front

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"toolnorm/internal/test/must"
)

// serve starts a server with a short time for bodies.
func serve(t *testing.T, f *Front, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(f.Wrap(h))
	t.Cleanup(srv.Close)
	return srv
}

// say opens a connection, sends text, and leaves it open.
func say(t *testing.T, srv *httptest.Server, text string) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", srv.Listener.Addr().String())
	must.OK(t, err)
	t.Cleanup(func() { c.Close() })
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Second)) // only a server that hangs takes that long
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c, bufio.NewReader(c)
}

// readsAll is a handler that wants the body.
func readsAll(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprintf(w, "%d bytes", len(body))
}

// handlers are what can become of a body.
var handlers = map[string]http.HandlerFunc{
	"reads":     readsAll,
	"refuses":   func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusUnauthorized) },
	"says none": func(http.ResponseWriter, *http.Request) {},
	"flushes":   func(w http.ResponseWriter, _ *http.Request) { _ = http.NewResponseController(w).Flush() },
	"clones":    func(w http.ResponseWriter, r *http.Request) { readsAll(w, r.Clone(r.Context())) },
	"bounds": func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
		readsAll(w, r)
	},
	"stops in the middle": func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadFull(r.Body, make([]byte, 1))
		w.WriteHeader(http.StatusTeapot)
	},
	"uploads": func(w http.ResponseWriter, r *http.Request) { Upload(r); readsAll(w, r) },
}

// A body that does not come ends the request: the client gets its answer, and the connection is
// closed.
func TestASlowBodyEnds(t *testing.T) {
	const host = " HTTP/1.1\r\nHost: a\r\n"
	for name, h := range handlers {
		for _, head := range []string{
			"POST /" + host + "Content-Length: 100\r\n\r\n{", "POST /" + host + "Content-Length: 300000\r\n\r\n{",
			"GET /" + host + "Content-Length: 100\r\n\r\n", "POST /" + host + "Transfer-Encoding: chunked\r\n\r\n5\r\n{",
			"POST /" + host + "Expect: 100-continue\r\nContent-Length: 100\r\n\r\n", "POST / HTTP/1.0\r\nHost: a\r\nContent-Length: 100\r\n\r\n{",
		} {
			t.Run(name+" "+strings.ReplaceAll(head, "/", "|"), func(t *testing.T) {
				t.Parallel()
				_, in := say(t, serve(t, &Front{BodyWait: 50 * time.Millisecond}, h), head)
				resp, err := http.ReadResponse(in, nil)
				if err == nil && resp.StatusCode == http.StatusContinue {
					resp, err = http.ReadResponse(in, nil)
				}
				if err != nil {
					t.Fatalf("no answer: %v", err)
				}
				if _, err := io.Copy(io.Discard, resp.Body); err != nil {
					t.Error(err)
				}
				var timeout net.Error
				if _, err := in.ReadByte(); err == nil || errors.As(err, &timeout) && timeout.Timeout() {
					t.Errorf("the connection stays open: %v", err)
				}
			})
		}
	}
}

// A body that comes leaves no deadline behind: the connection serves on, and a long answer is not
// cut.
func TestABodyThatComesLeavesNoDeadline(t *testing.T) {
	for name, h := range handlers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := serve(t, &Front{BodyWait: 60 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
				h(w, r)
				_ = http.NewResponseController(w).Flush()
				select {
				case <-r.Context().Done():
				case <-time.After(200 * time.Millisecond):
					_, _ = io.WriteString(w, " and all")
				}
			})
			for range 2 {
				resp, err := srv.Client().Post(srv.URL, "text/plain", strings.NewReader("{}"))
				must.OK(t, err)
				text, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				if err != nil || !strings.HasSuffix(string(text), " and all") {
					t.Errorf("got %q, %v", text, err)
				}
			}
		})
	}
}

// A client that leaves while its answer is made ends the request's context, also when its body was
// not read.
func TestALeavingClientIsSeen(t *testing.T) {
	gone := make(chan struct{})
	srv := serve(t, &Front{}, func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(gone)
	})
	c, in := say(t, srv, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}")
	if _, err := in.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	c.Close()
	select {
	case <-gone:
	case <-time.After(20 * time.Second):
		t.Error("the handler does not hear of it")
	}
}

// An upload may take longer than a body, as long as it comes.
func TestAnUploadThatComesGoesOn(t *testing.T) {
	srv := serve(t, &Front{BodyWait: 300 * time.Millisecond}, handlers["uploads"])
	const pieces = 8
	c, in := say(t, srv, fmt.Sprintf("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", pieces*uploadStep))
	for range pieces {
		time.Sleep(60 * time.Millisecond) // longer than the body's time in all
		if _, err := c.Write(make([]byte, uploadStep)); err != nil {
			t.Fatal(err)
		}
	}
	resp, err := http.ReadResponse(in, nil)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%v, %v", resp, err)
	}
}

func TestTheErrorOfASlowBodyNamesTheLimit(t *testing.T) {
	srv := serve(t, &Front{BodyWait: 20 * time.Millisecond}, func(w http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%v %v", err, errors.Is(err, os.ErrDeadlineExceeded))
	})
	_, in := say(t, srv, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{")
	resp, err := http.ReadResponse(in, nil)
	must.OK(t, err)
	if text, _ := io.ReadAll(resp.Body); !strings.HasPrefix(string(text), "not all of it came within 20ms") || !strings.HasSuffix(string(text), "true") {
		t.Errorf("got %q", text)
	}
}

// A handler that panics is told to the client in a form that it reads, and its stack is logged
// once.
func TestAPanicReachesTheClient(t *testing.T) {
	for _, tt := range []struct {
		name, path, form, said string // what the handler says of itself before
		status                 int
		want                   string
	}{
		{"before the answer", "/v1/models", "text/html", "", 500, `{"error":{"message":"toolnorm failed inside; its log says where","type":"server_error","param":null,"code":"internal_error"}}` + "\n"},
		{"before the answer, MCP", "/mcp", "", "", 500, `{"error":{"message":"toolnorm failed inside; its log says where","type":"server_error","param":null,"code":"internal_error"}}` + "\n"},
		{"before the answer, Ollama", "/api/tags", "", "", 500, `{"error":"toolnorm failed inside; its log says where"}` + "\n"},
		{"in events", "/v1/chat/completions", "text/event-stream; charset=utf-8", "data: {}\n\n", 200, "data: {}\n\n\n\ndata: {\"error\":{\"message\":\"toolnorm failed inside; its log says where\",\"type\":\"server_error\",\"param\":null,\"code\":\"internal_error\"}}\n\n"},
		{"in records", "/api/chat", "application/x-ndjson", "{}\n", 200, "{}\n\n{\"error\":\"toolnorm failed inside; its log says where\"}\n"},
		{"in a document", "/v1/models", "application/json", `{"data":[`, 200, "cut"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			srv := serve(t, &Front{Log: zerolog.New(&log)}, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tt.form)
				if tt.said != "" {
					_, _ = io.WriteString(w, tt.said)
					_ = http.NewResponseController(w).Flush()
				}
				var none *Front
				none.BodyWait++
			})
			resp, err := srv.Client().Get(srv.URL + tt.path)
			must.OK(t, err)
			text, err := io.ReadAll(resp.Body)
			if err != nil {
				text = []byte("cut")
			}
			if resp.StatusCode != tt.status || string(text) != tt.want {
				t.Errorf("got %d %q, want %d %q", resp.StatusCode, text, tt.status, tt.want)
			}
			srv.Close() // nothing is logged any more
			if n := strings.Count(log.String(), "a handler panicked"); n != 1 || !strings.Contains(log.String(), "front_test.go") {
				t.Errorf("%d lines: %s", n, log.String())
			}
		})
	}
}

func TestAnAnswerThatBreaksOffIsNoPanic(t *testing.T) {
	var log bytes.Buffer
	srv := serve(t, &Front{Log: zerolog.New(&log)}, func(http.ResponseWriter, *http.Request) { mustBreakOff() })
	if resp, err := srv.Client().Get(srv.URL); err == nil {
		t.Errorf("got %v", resp)
	}
	srv.Close()
	if log.Len() > 0 {
		t.Errorf("logged %s", log.String())
	}
}

// TestTheEndOfABodyStaysTheEnd reads on after the answer has begun, as a client that passes the body
// on in a goroutine does to see its end.
func TestTheEndOfABodyStaysTheEnd(t *testing.T) {
	var n int
	var err error
	srv := httptest.NewServer(new(Front).Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.ReadFull(r.Body, make([]byte, 5))
		io.WriteString(w, "begun")
		http.NewResponseController(w).Flush()
		n, err = r.Body.Read(make([]byte, 5))
	})))
	resp, failed := http.Post(srv.URL, "", strings.NewReader("whole"))
	if failed != nil {
		t.Fatal(failed)
	}
	resp.Body.Close()
	srv.Close() // waits for the handler
	if n != 0 || err != io.EOF {
		t.Errorf("%d, %v", n, err)
	}
}
