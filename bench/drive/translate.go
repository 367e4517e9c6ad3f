package drive

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"time"

	"toolnorm/internal/jsontree"
)

// The text that the translator writes around the text of a record.
const (
	chunkHead = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1767225600,"model":"m","choices":[{"index":0,"delta":{"content":"`
	chunkTail = `"},"finish_reason":null}]}` + "\n\n"
	lastChunk = `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1767225600,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
)

// Translate serves a proxy that turns Ollama's streams into OpenAI's with the least work that any
// such proxy must do; the others are measured against it. It sends a request's body unchanged to
// /api/chat. It copies each text of Ollama's answer into an OpenAI event without decoding it, does
// not look for calls, and sends all events together that are ready. ReverseProxy alone would be an
// unfair measure, because it converts nothing. Translate runs until the process ends, and returns
// the error of serving.
func Translate(addr, target string) error {
	c := &http.Client{Transport: &http.Transport{MaxIdleConns: 1024, MaxIdleConnsPerHost: 1024,
		DisableCompression: true}}
	server := &http.Server{Addr: addr, ReadHeaderTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(io.LimitReader(r.Body, 8<<20))
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			req, err := http.NewRequestWithContext(r.Context(), http.MethodPost, target+"/api/chat",
				bytes.NewReader(body))
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadGateway)
				return
			}
			resp, err := c.Do(req)
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadGateway)
				return
			}
			defer resp.Body.Close()
			w.Header().Set("Content-Type", "text/event-stream")
			translate(w, bufio.NewReaderSize(resp.Body, 4096))
		})}
	return server.ListenAndServe()
}

// translate writes an OpenAI event for each line of Ollama's stream, and flushes when no more lines
// have arrived. If lines come faster than they are written, several events are sent in one write,
// up to the 4096 bytes of the reader's buffer.
func translate(w http.ResponseWriter, in *bufio.Reader) {
	out := make([]byte, 0, 8192)
	flusher, _ := w.(http.Flusher)
	for {
		line, err := in.ReadSlice('\n')
		if text := textOf(line); len(text) > 0 {
			out = append(append(append(out, chunkHead...), text...), chunkTail...)
		}
		done := err != nil || bytes.Contains(line, []byte(`"done":true`))
		if done {
			out = append(out, lastChunk...)
		}
		if done || in.Buffered() == 0 || len(out) > 4096 {
			_, err := w.Write(out)
			if flusher.Flush(); done || err != nil {
				return
			}
			out = out[:0]
		}
	}
}

// textOf returns the text in a line of Ollama's stream, without its quotes but with its escapes, or
// nil if the line has none. The escapes need no decoding, because the output is JSON as well.
func textOf(line []byte) []byte {
	_, rest, found := bytes.Cut(line, []byte(`"content":`))
	if end := jsontree.StringEnd(rest); found && end > 2 {
		return rest[1 : end-1]
	}
	return nil
}
