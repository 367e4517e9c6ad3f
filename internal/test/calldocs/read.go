package calldocs

import (
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"reflect"
	"strconv"
	"strings"

	"toolnorm/chat"
	"toolnorm/internal/golden"
)

// Outcome says how a call was decoded.
type Outcome int

// The outcomes of decoding a reply that consists of one call.
const (
	None  Outcome = iota // no call ran
	Equal                // the call ran as it was meant, and nothing else
	Wrong                // another value or call, or text that was part of the value
)

// Numbers returns the seed for the documents, and how many to make for each family. They come from
// the environment variables TAG_SEED and TAG_DOCS. Without these variables the seed is 1 and the
// number is the parameter docs.
func Numbers(docs int) (seed int64, most int) {
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return otherwise
	}
	return int64(number("TAG_SEED", 1)), number("TAG_DOCS", docs)
}

// Decoder decodes a reply that arrives in the given pieces.
type Decoder func(pieces []string) iter.Seq2[chat.Event, error]

// Trips generates n calls and decodes each twice, whole and split at random places. It counts the
// outcomes and returns the texts of calls that were decoded wrongly. It fails if decoding fails, or
// if a split changes the outcome.
func (d *Docs) Trips(n int, decode Decoder) (count Count, wrong []string, err error) {
	for range n {
		call, raw := d.Call()
		got, err := Read(decode([]string{raw}), call)
		if err != nil {
			return count, wrong, err
		}
		switch cut, err := Read(decode(golden.Random(raw, d.Rand)), call); {
		case err != nil:
			return count, wrong, err
		case cut != got:
			return count, wrong, fmt.Errorf("cut otherwise the text is read otherwise: %q", raw)
		}
		if count[got]++; got == Wrong {
			wrong = append(wrong, raw)
		}
	}
	return count, wrong, nil
}

// Read compares the events of a reply with the only call that the reply should contain, and returns
// the outcome. It fails if the events contain an error.
func Read(events iter.Seq2[chat.Event, error], call chat.Call) (Outcome, error) {
	out, calls := None, 0
	var got chat.Call
	for e, err := range events {
		if err != nil {
			return out, err
		}
		switch e.Kind {
		case chat.CallStart:
			got = chat.Call{Name: e.Text}
		case chat.CallArgs:
			got.Args = append(got.Args, e.Text...)
		case chat.CallEnd:
			calls++
			if out = Wrong; calls == 1 && got.Name == call.Name && same(got.Args, call.Args) {
				out = Equal
			}
		case chat.Text:
			if strings.TrimSpace(e.Text) != "" && out == Equal {
				out = Wrong
			}
		}
	}
	return out, nil
}

// same reports whether two JSON texts have equal values. It returns false if one of them is
// invalid.
func same(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// Count holds the number of calls for each Outcome.
type Count [3]int

// Add adds the numbers of o to c.
func (c *Count) Add(o Count) {
	for k := range o {
		c[k] += o[k]
	}
}

// String returns the numbers with words, for a log line.
func (c Count) String() string {
	return fmt.Sprintf("%4d right %4d no call %4d wrong", c[Equal], c[None], c[Wrong])
}

// All returns the number of all calls.
func (c Count) All() int { return c[None] + c[Equal] + c[Wrong] }
