package adapters

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"toolnorm/chat"
)

// chunks is a source that delivers a text in pieces of four bytes without allocating.
type chunks struct {
	text string
	pos  int
	done bool
}

func (c *chunks) Next() (chat.Event, error) {
	if c.pos < len(c.text) {
		end := min(c.pos+4, len(c.text))
		e := chat.Event{Kind: chat.Text, Text: c.text[c.pos:end]}
		c.pos = end
		return e, nil
	}
	c.done = true
	return chat.Event{Kind: chat.Finish, Text: chat.Stop}, nil
}

func (c *chunks) Close() error { return nil }

const sample = "The quick brown fox jumps over the lazy dog, and 3 < 4 as everybody knows.\nNobody calls a function here; it's only text with (some) punctuation: a, b, c.\n"

// BenchmarkDecode reads prose and one call with a long string argument, in deltas of four bytes.
func BenchmarkDecode(b *testing.B) {
	tools := testTools(b)
	for _, f := range All() {
		for _, size := range []int{1 << 10, 10 << 10, 100 << 10, 1 << 20} {
			text := strings.Repeat(sample, size/len(sample)+1)[:size]
			quoted, _ := json.Marshal(text)
			call := string(f.Append(nil, chat.Call{Name: "write_file", Args: json.RawMessage(`{"path":"a.txt","content":` + string(quoted) + `}`)}))
			for _, c := range []struct{ name, text string }{{"prose", text}, {"call", call}} {
				b.Run(fmt.Sprintf("%s/%s/%dKiB", f.Name, c.name, size>>10), func(b *testing.B) {
					b.ReportAllocs()
					n := len(c.text) / 4
					for b.Loop() {
						for range f.Decode(&chunks{text: c.text}, Options{Tools: tools}) {
						}
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/chunk")
				})
			}
		}
	}
}
