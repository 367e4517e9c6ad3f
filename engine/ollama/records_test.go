package ollama

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/engine/wait"
	"toolnorm/internal/test/must"
	"toolnorm/internal/test/upstreamtest"
)

// textRecord is a record of the raw text as Ollama writes it.
const textRecord = `{"model":"qwen2.5-coder:7b","created_at":"2026-11-21T07:44:28.593644493Z","response":"\u003ctok","done":false}` + "\n"

// looped gives one text for ever.
type looped struct {
	text string
	at   int
}

func (l *looped) Read(b []byte) (int, error) {
	n := copy(b, l.text[l.at:])
	l.at = (l.at + n) % len(l.text)
	return n, nil
}

// streamOf reads records from r without a network.
func streamOf(t testing.TB, r io.Reader) *stream {
	ctx, p := wait.NewPulse(t.Context(), nil, wait.Timeouts{})
	t.Cleanup(p.Stop)
	s := &stream{Stream: new(upstream.Scratches).Stream(ctx, io.NopCloser(r), p.Reader(r, wait.Limit{}, wait.Limit{}))}
	s.Read = s.read
	return s
}

// TestRecordsCostNoAllocation allows for the blocks that the text goes into: one in a thousand
// records.
func TestRecordsCostNoAllocation(t *testing.T) {
	s := streamOf(t, &looped{text: textRecord})
	got := testing.AllocsPerRun(20_000, func() {
		if ev, err := s.Next(); err != nil || ev.Text != "<tok" {
			t.Fatalf("Next = %v, %v", ev, err)
		}
	})
	if got > 0.01 {
		t.Errorf("%v allocations a record, want none", got)
	}
}

// TestRecordsThatCameTogetherAreOneEvent has one read bring five records and the beginning of a
// sixth. What is not plain, and what has not come whole, is read by itself, and no byte of text is
// lost or moves.
func TestRecordsThatCameTogetherAreOneEvent(t *testing.T) {
	plain := func(text string) string { return `{"model":"m","response":"` + text + `","done":false}` + "\n" }
	all := plain("a") + plain("") + plain("b") + `{"response":"\ud83d\ude42","done":false}` + "\n" + plain("c") + plain("d")[:20]
	s := streamOf(t, io.MultiReader(strings.NewReader(all), strings.NewReader(plain("d")[20:]+`{"response":"","done":true,"eval_count":6}`)))
	var got []string
	for {
		ev, err := s.Next()
		if err == io.EOF {
			break
		}
		must.OK(t, err)
		got = append(got, ev.Text)
	}
	if want := []string{"ab", "🙂", "c", "d", "", chat.Stop}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestARepetitionIsCountedByRecord has the same token 30 times in one read, and no last record: it
// is the server's end, as when the records came one by one.
func TestARepetitionIsCountedByRecord(t *testing.T) {
	for _, n := range []int{repeatLimit - 1, repeatLimit} {
		s := streamOf(t, strings.NewReader(strings.Repeat(textRecord, n)))
		var end chat.Event
		var err error
		for err == nil {
			var ev chat.Event
			if ev, err = s.Next(); err == nil {
				end = ev
			}
		}
		if ended := end.Kind == chat.Finish; ended != (n == repeatLimit) {
			t.Errorf("%d records of one token: the last event is %v, and the error %v", n, end, err)
		}
	}
}

// BenchmarkRecord has each record come by a read of its own, as lone tokens do, so the pulse is in
// the figure.
func BenchmarkRecord(b *testing.B) {
	for _, row := range []struct{ name, record string }{
		{"generate 4 B", textRecord},
		{"chat 4 B", `{"model":"m","created_at":"2026-11-21T07:44:28.593644493Z","message":{"role":"assistant","content":"abcd"},"done":false}` + "\n"},
		{"generate 1 KiB", `{"model":"m","created_at":"2026-11-21T07:44:28.593644493Z","response":"` + strings.Repeat("x", 1024) + `","done":false}` + "\n"},
	} {
		b.Run(row.name, func(b *testing.B) {
			s := streamOf(b, &looped{text: row.record})
			b.SetBytes(int64(len(row.record)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Next(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestConnectionsInParallel runs streams side by side, so that the race detector sees pooled
// buffers that are shared.
func TestConnectionsInParallel(t *testing.T) {
	c := upstreamtest.Read(t, "testdata/captures/raw-text.json")
	o := fake(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, c.Body) })
	want := ask(t, o, c.Path)
	done := make(chan string)
	const streams = 16
	for range streams {
		go func() {
			for range 10 {
				if got := ask(t, o, c.Path); got != want {
					done <- got
					return
				}
			}
			done <- want
		}()
	}
	for range streams {
		if got := <-done; got != want {
			t.Errorf("events:\n%swant:\n%s", got, want)
		}
	}
}

// plainRecord is a record as encoding/json sees it.
type plainRecord struct {
	Error    json.RawMessage `json:"error"`
	Response string          `json:"response"`
	Thinking string          `json:"thinking"`
	Done     bool            `json:"done"`
}

// FuzzRecords reads any bytes, whole and byte by byte: both must give the same events and errors,
// never panic, and for records that encoding/json understands alike, the same text.
func FuzzRecords(f *testing.F) {
	files, _ := filepath.Glob("testdata/captures/*.json")
	for _, file := range files {
		f.Add([]byte(upstreamtest.Read(f, file).Body))
	}
	f.Add([]byte(textRecord))
	f.Add([]byte(`{"message":{"content":"a","tool_calls":[{"id":"x","function":{"name":"f","arguments":{"a":1.50}}}]},"done":true}`))
	f.Add([]byte("{\"response\":\"\\ud83d\\ude00\"}\n{\"error\":{\"message\":\"x\"}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		whole := upstreamtest.Drain(streamOf(t, bytes.NewReader(data)))
		if split := upstreamtest.Drain(streamOf(t, iotest.OneByteReader(bytes.NewReader(data)))); split != whole {
			t.Fatalf("byte by byte:\n%swhole:\n%s", split, whole)
		}
		text, ok := plainText(data)
		if !ok {
			return
		}
		if got := textOf(streamOf(t, bytes.NewReader(data))); got != text {
			t.Fatalf("text %q, encoding/json reads %q", got, text)
		}
	})
}

// plainText is the visible text of records that have only plain members, as encoding/json reads
// them.
func plainText(data []byte) (string, bool) {
	var b strings.Builder
	for line := range bytes.Lines(data) {
		var r plainRecord
		var members map[string]json.RawMessage
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if json.Unmarshal(line, &r) != nil || json.Unmarshal(line, &members) != nil || members == nil {
			return "", false
		}
		for k, v := range members {
			if k != "response" && k != "done" && k != "model" || bytes.ContainsRune(v, '\ufffd') || bytes.Contains(v, []byte(`\u`)) {
				return "", false // other members, and escapes that the two read in their own ways
			}
		}
		if bytes.Count(line, []byte(`"response"`)) > 1 || bytes.Count(line, []byte(`"done"`)) > 1 {
			return "", false // encoding/json takes the last, fastjson the first
		}
		b.WriteString(r.Response)
		if r.Done {
			break
		}
	}
	return b.String(), true
}

// textOf is the visible text of a stream.
func textOf(s *stream) string {
	var b strings.Builder
	for {
		ev, err := s.Next()
		if err != nil {
			return b.String()
		}
		if ev.Kind == chat.Text {
			b.WriteString(ev.Text)
		}
	}
}

// TestOversizedBuffersAreNotKept reads one long record and looks at what would go back to the pool.
func TestOversizedBuffersAreNotKept(t *testing.T) {
	for _, row := range []struct {
		size int
		kept bool
	}{{1000, true}, {upstream.KeepRecord + 1, false}} {
		src := streamOf(t, strings.NewReader(`{"response":"`+strings.Repeat("x", row.size)+`"}`+"\n"+`{"done":true}`+"\n"))
		s := src.Scratch
		upstreamtest.Drain(src)
		if s.Grown == row.kept {
			t.Errorf("a record of %d bytes: grown is %v", row.size, s.Grown)
		}
	}
}

// TestPlainRecordsAreReadAsParsedOnes has what is read by its quotes and what is not.
func TestPlainRecordsAreReadAsParsedOnes(t *testing.T) {
	for line, want := range map[string]string{
		`{"model":"m","created_at":"t","response":"a","done":false}`:                               "a",
		`{"response":"","done":false}`:                                                             "",
		`{"response":"\u003c\"\\\/\b\f\n\r\t\u0041","done":false}`:                                 "<\"\\/\b\f\n\r\tA",
		`{"response":"é€","model":"m","done":false}`:                                               "é€",
		`{"model":"m","response":"a","done":true}`:                                                 "-",
		`{"model":"m","done":false}`:                                                               "-",
		`{"response":"a","response":"b","done":false}`:                                             "-",
		`{"response":"\u00e9","done":false}`:                                                       "é",
		`{"response":"\ud83d\ude00","done":false}`:                                                 "-",
		`{"response":"\x","done":false}`:                                                           "-",
		`{"response":"a\`:                                                                          "-",
		`{"response":"a"`:                                                                          "-",
		`{"response":"a","thinking":"b","done":false}`:                                             "-",
		`{"model":"m\"","response":"a","done":false}`:                                              "-",
		`{"response":"a" ,"done":false}`:                                                           "-",
		`{"model":"m","created_at":"t","message":{"role":"assistant","content":"a"},"done":false}`: "-",
	} {
		got, ok := quickText(nil, []byte(line))
		if text := string(got); ok && text != want || !ok && want != "-" {
			t.Errorf("%s: %q, %v, want %q", line, text, ok, want)
		}
	}
}
