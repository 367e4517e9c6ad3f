package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"toolnorm/internal/test/must"
)

// TestLongArgumentsComeBeforeTheirEnd holds the last token of a 10 KiB call back, between Ollama
// and toolnorm, until 99 % of the argument's bytes have come out at the client's end. No clock
// decides, but for giving up.
func TestLongArgumentsComeBeforeTheirEnd(t *testing.T) {
	l := open(t)
	g := &gate{}
	target := must.Have(url.Parse(l.newest.base))(t)
	front := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: g.hold,
		FlushInterval:  -1,
	})
	defer front.Close()
	base := l.toolnorm(t, "--ollama", front.URL)
	for _, sc := range l.scripts {
		if !strings.HasSuffix(sc.Name, "_long") {
			continue
		}
		g.open = make(chan struct{})
		g.gaveUp.Store(false)
		enough := len(sc.Reply.Calls[0].Args) * 99 / 100
		got := readArguments(t, post(t, t.Context(), base, l.ask("hermes", sc, true)), enough, g.open)
		if g.gaveUp.Load() {
			t.Errorf("%s: fewer than %d argument bytes came before the last token", sc.Name, enough)
		}
		if canonical(got) != canonical(sc.Reply.Calls[0].Args) {
			t.Errorf("%s: wrong arguments: %s", sc.Name, clip(got))
		}
	}
}

// gate stands between Ollama and toolnorm.
type gate struct {
	open   chan struct{} // closed when the last token may pass
	gaveUp atomic.Bool   // it was not, and the token passed all the same
}

// hold lets a stream of records pass but for the last record that carries text: that one waits with
// the end for the gate, 20 s at most.
func (g *gate) hold(resp *http.Response) error {
	if resp.Request.URL.Path != "/api/generate" {
		return nil
	}
	in, open := resp.Body, g.open
	out, w := io.Pipe()
	resp.Body = out
	go func() { // ends with the upstream's body, or when toolnorm closes its end of the pipe
		defer in.Close()
		lines := bufio.NewReader(in)
		var held []byte
		for {
			line, err := lines.ReadBytes('\n')
			if bytes.Contains(line, []byte(`"done":true`)) {
				select {
				case <-open:
				case <-time.After(20 * time.Second):
					g.gaveUp.Store(true)
				}
				held, line = append(held, line...), nil
			}
			if _, failed := w.Write(held); failed != nil || err != nil {
				w.CloseWithError(err)
				return
			}
			held = line
		}
	}()
	return nil
}

// readArguments joins the arguments of a stream, and opens the gate when enough bytes have come.
func readArguments(t *testing.T, resp *http.Response, enough int, open chan struct{}) (args string) {
	t.Helper()
	defer resp.Body.Close()
	opened := false
	lines := bufio.NewReader(resp.Body)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return args
		}
		args += argumentFragment(t, line)
		if !opened && len(args) >= enough {
			opened = true
			close(open)
		}
	}
}

// argumentFragment is the part of a call's arguments that a line of a stream carries.
func argumentFragment(t *testing.T, line string) (args string) {
	t.Helper()
	var chunk struct {
		Choices []struct {
			Delta struct {
				ToolCalls []toolCall `json:"tool_calls"`
			}
		}
	}
	data, ok := strings.CutPrefix(line, "data: {")
	if !ok {
		return ""
	}
	if err := json.Unmarshal([]byte("{"+data), &chunk); err != nil {
		t.Fatalf("chunk %q: %v", line, err)
	}
	for _, choice := range chunk.Choices {
		for _, call := range choice.Delta.ToolCalls {
			args += call.Function.Arguments
		}
	}
	return args
}
