package drive

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"toolnorm/bench/fake"
	"toolnorm/bench/text"
)

// client is an HTTP client that keeps enough connections for every stream of a load.
var client = &http.Client{Transport: &http.Transport{MaxIdleConns: 1024, MaxIdleConnsPerHost: 1024,
	DisableCompression: true}}

// Reply has the figures of one stream.
type Reply struct {
	First time.Duration // from the request to the first text or call
	// the longest time between two lines, the wait for the first one not counted
	Silence time.Duration
	Ended   bool    // [DONE] has come
	Finish  string  // why the reply ended, by its own word
	Arrived []Piece // pieces of arguments, if they are wanted
}

// Piece is a fragment of a call's arguments and the time at which it came.
type Piece struct {
	At   time.Time
	Text string
}

// Request says how large a request is, besides its script. Editors send a dozen tools and long
// histories, so the cost of a request is measured with these, too.
type Request struct {
	Tools   int // number of offered tools
	History int // bytes of the messages before the script, 2 KiB each
}

// body returns the body of a request that makes the server play a script. It returns an error if
// the script cannot be encoded.
func (q Request) body(sc fake.Script) ([]byte, error) {
	script, err := json.Marshal(sc)
	if err != nil {
		return nil, err
	}
	var messages []map[string]string
	for left, i := q.History, 0; left > 0; left, i = left-2048, i+1 {
		part := text.Prose("hermes", min(left, 2048))
		messages = append(messages, map[string]string{"role": []string{"user", "assistant"}[i%2],
			"content": strings.ReplaceAll(part, "\n", " ")})
	}
	messages = append(messages, map[string]string{"role": "user", "content": string(script)})
	var tools []map[string]any
	for i := range q.Tools {
		name, schema := text.Tool, text.Schema
		if i > 0 {
			name, schema = "edit_"+strconv.Itoa(i), text.EditSchema
		}
		tools = append(tools,
			map[string]any{"type": "function", "function": map[string]any{"name": name,
				"parameters": json.RawMessage(schema)}})
	}
	return json.Marshal(map[string]any{"model": fake.Model, "stream": true, "messages": messages,
		"tools": tools})
}

// Stream plays a script through the server at url and reads the whole reply. If pieces is true, the
// Reply has the pieces of the arguments. It returns an error if the request fails or the reply is
// not whole.
func Stream(url string, sc fake.Script, pieces bool) (Reply, error) {
	body, err := Request{Tools: 1}.body(sc)
	if err != nil {
		return Reply{}, err
	}
	return play(url, body, pieces)
}

// play sends a body and reads the whole reply. If pieces is true, the Reply has the pieces of the
// arguments. A line may have 4 MiB, because some proxies send a long call in one line. It returns
// an error if the request fails or the reply is not whole.
func play(url string, body []byte, pieces bool) (Reply, error) {
	start := time.Now()
	resp, err := client.Post(url+"/v1/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		return Reply{}, err
	}
	defer resp.Body.Close()
	in := bufio.NewScanner(resp.Body)
	in.Buffer(make([]byte, 64<<10), 4<<20)
	if resp.StatusCode != http.StatusOK {
		in.Scan()
		return Reply{}, fmt.Errorf("%s: %s: %s", url, resp.Status, in.Bytes())
	}
	return read(in, start, pieces)
}

// read reads a reply line by line. It only searches the lines for some bytes, and decodes nothing
// unless pieces are wanted, so that the client costs little. It returns an error for a reply
// without [DONE], or with another finish reason than stop and tool_calls, because a cut reply would
// look fast.
func read(in *bufio.Scanner, start time.Time, pieces bool) (r Reply, err error) {
	var last time.Time
	for in.Scan() {
		data, ok := bytes.CutPrefix(in.Bytes(), []byte("data: "))
		if !ok {
			continue
		}
		now := time.Now()
		if !last.IsZero() {
			r.Silence = max(r.Silence, now.Sub(last))
		}
		last = now
		r.Ended = r.Ended || string(data) == "[DONE]"
		if r.First == 0 && full(data) {
			r.First = now.Sub(start)
		}
		if why := finish(data); why != "" {
			r.Finish = why
		}
		if pieces {
			if args := arguments(data); args != "" {
				r.Arrived = append(r.Arrived, Piece{now, args})
			}
		}
	}
	if err := in.Err(); err != nil {
		return r, err
	}
	if !r.Ended {
		return r, fmt.Errorf("a reply ended without [DONE]")
	}
	if r.Finish != "stop" && r.Finish != "tool_calls" {
		return r, fmt.Errorf("a reply did not come whole, it ended with %q", r.Finish)
	}
	return r, nil
}

// finish returns the finish reason in a chunk, or "" if the chunk has none.
func finish(data []byte) string {
	_, rest, _ := bytes.Cut(data, []byte(`"finish_reason":"`))
	why, _, _ := bytes.Cut(rest, []byte(`"`))
	return string(why)
}

// full reports whether a chunk has text or a call. Some proxies send the role in a chunk of its
// own, which must not be taken for the first token.
func full(data []byte) bool {
	return bytes.Contains(data, []byte(`"content":"`)) && !bytes.Contains(data, []byte(
		`"content":""`)) ||
		bytes.Contains(data, []byte(`"tool_calls"`))
}

// arguments returns the fragment of arguments in a chunk, or "" if there is none.
func arguments(data []byte) string {
	var c struct {
		Choices []struct {
			Delta struct {
				Calls []struct{ Function struct{ Arguments string } } `json:"tool_calls"`
			}
		}
	}
	if json.Unmarshal(data, &c) != nil || len(c.Choices) == 0 ||
		len(c.Choices[0].Delta.Calls) == 0 {
		return ""
	}
	return c.Choices[0].Delta.Calls[0].Function.Arguments
}
