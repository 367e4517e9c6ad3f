package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"toolnorm/internal/test/must"
	"toolnorm/tools"
)

func TestStdioAnswersLineByLine(t *testing.T) {
	f := serve(t, Config{Bounds: Bounds{MaxBody: 1 << 10}})
	in := strings.Join([]string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
		``,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"ping","params":{"x":"` + strings.Repeat("x", 2000) + `"}}`,
		`no JSON`,
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"echo","arguments":{"a":1}}}`,
	}, "\n") // the last line has no end
	var out bytes.Buffer
	must.OK(t, f.Stdio(t.Context(), strings.NewReader(in), &out, time.Second))
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	for _, want := range []string{`"id":1,"result":{"protocolVersion":"2025-06-18"`, `"id":null,"error":{"code":-32600`, `"id":null,"error":{"code":-32700`, `"id":3,"result"`} {
		if n := strings.Count(out.String(), want); n != 1 || len(lines) != 4 {
			t.Errorf("%d times %s in\n%s", n, want, out.String())
		}
	}
}

// duplex is a client on the other end of two pipes.
type duplex struct {
	t     *testing.T
	in    *io.PipeWriter
	lines *bufio.Scanner
	ended chan error
}

// piped starts a client.
func (f *face) piped() *duplex {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	d := &duplex{f.t, inW, bufio.NewScanner(outR), make(chan error, 1)}
	go func() {
		d.ended <- f.Stdio(context.Background(), inR, outW, time.Second)
		outW.Close()
	}()
	f.t.Cleanup(func() { inW.Close() })
	return d
}

func (d *duplex) send(line string) {
	d.t.Helper()
	if _, err := io.WriteString(d.in, line+"\n"); err != nil {
		d.t.Fatal(err)
	}
}

func (d *duplex) next(want string) {
	d.t.Helper()
	if !d.lines.Scan() || !strings.Contains(d.lines.Text(), want) {
		d.t.Fatalf("%s, want %s", d.lines.Text(), want)
	}
}

func TestABatchIsAnsweredMessageByMessage(t *testing.T) {
	const batch = `[{"jsonrpc":"2.0","id":7,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"1.0","id":8,"method":"ping"},{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo"}}]`
	begin := func(version string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + version + `","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	}
	for version, want := range map[string][]string{
		"2025-03-26": {`"id":7,"result":{}`, `"id":8,"error":{"code":-32600`, `"id":9,"result":{"content"`},
		"2025-06-18": {`"id":null,"error":{"code":-32600,"message":"a batch of messages is only known to revision 2025-03-26"`},
	} {
		f := serve(t, Config{})
		d, c := f.piped(), f.connect()
		d.send(begin(version))
		d.next(`"id":1,"result"`)
		d.send(batch)
		c.send(begin(version), 202)
		c.message()
		var got, legacy string
		for range want {
			d.lines.Scan()
			got += d.lines.Text() + "\n"
		}
		if c.send(batch, map[bool]int{true: 202, false: 400}[len(want) > 1]); len(want) > 1 {
			for range want {
				legacy += c.message() + "\n"
			}
		}
		for _, one := range want {
			if strings.Count(got, one) != 1 || strings.Count(legacy, one) != 1 && len(want) > 1 {
				t.Errorf("%s: %s is not there once:\n%s%s", version, one, got, legacy)
			}
		}
	}
}

func TestStdioSpeaksTheNewRevisionToo(t *testing.T) {
	f := serve(t, Config{})
	d := f.piped()
	d.send(`{"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"promptsListChanged":true},` + modernMeta + `}}`)
	d.next(`"method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"s"},"notifications":{"toolsListChanged":true}}`)
	d.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo",` + modernMeta + `}}`)
	d.next(`"id":2,"result":{"resultType":"complete"`)
	soon(t, "a listener", func() bool {
		f.engine.hub.mu.Lock()
		defer f.engine.hub.mu.Unlock()
		return len(f.engine.hub.listeners) == 2
	})
	must.OK(t, f.cfg.Registry.Set("more", tools.Tool{Name: "more", Call: func(context.Context, json.RawMessage) (tools.Result, error) { return tools.TextOf("x"), nil }}))
	d.next(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"s"}}}`)
	d.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"s"}}`)
	d.send(`{"jsonrpc":"2.0","id":3,"method":"server/discover","params":{` + modernMeta + `}}`)
	d.next(`"id":3,"result":`)
	d.in.Close()
	if err := <-d.ended; err != nil {
		t.Error(err)
	}
}
