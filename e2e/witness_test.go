package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"toolnorm/internal/test/must"
)

// witness stands between clients and a toolnorm and counts by itself what they send and get, so
// that what /metrics says can be compared with it.
type witness struct {
	behind  string // the address of toolnorm
	running sync.WaitGroup

	mu   sync.Mutex
	open map[net.Conn]bool
	seen map[string]*seenReplies // by the name that the API has in metrics
}

// seenReplies are the replies of one API.
type seenReplies struct {
	whole     int         // with status 200, and read to their end
	broken    int         // with status 200 that ended in an error, or whose client went away before the end
	failed    map[int]int // by other statuses
	uncounted int         // of the whole ones, those that reported no tokens
	counted               // by the whole ones
}

// counted holds the sums that replies report.
type counted struct{ calls, prompt, completion int }

// witnessed are the APIs by their paths.
var witnessed = map[string]string{
	"/v1/chat/completions": "chat", "/v1/responses": "responses", "/v1/messages": "messages", "/v1/completions": "completion",
	"/v1/embeddings": "embeddings", "/v1/messages/count_tokens": "count_tokens", "/api/chat": "ollama chat", "/api/generate": "ollama generate",
}

// witness serves one in front of a toolnorm that nobody has asked yet, and compares when the test
// and those in it are over. It passes bytes on as they are, and reads what passed when a connection
// has ended.
func (l *lane) witness(t *testing.T, base string) string {
	t.Helper()
	target := must.Have(url.Parse(base))(t)
	listener := must.Listen(t, "127.0.0.1:0")
	w := &witness{behind: base, seen: map[string]*seenReplies{}}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return // the test is over
			}
			go w.pass(client, target.Host)
		}
	}()
	t.Cleanup(func() {
		listener.Close()
		w.end()
		w.compare(t)
	})
	return "http://" + listener.Addr().String()
}

// pass passes on what two ends of a connection send, and then reads it.
func (w *witness) pass(client net.Conn, to string) {
	server, err := net.Dial("tcp", to)
	if err != nil {
		client.Close()
		return
	}
	w.mu.Lock()
	if w.open == nil {
		w.open = map[net.Conn]bool{}
	}
	w.open[client] = true
	w.mu.Unlock()
	w.running.Add(1)
	defer w.running.Done()
	var asked, answered bytes.Buffer
	var both sync.WaitGroup
	one := func(from, to net.Conn, heard *bytes.Buffer) {
		_, _ = io.Copy(io.MultiWriter(heard, to), from)
		_ = to.(*net.TCPConn).CloseWrite()
		_ = from.(*net.TCPConn).CloseRead()
	}
	both.Go(func() { one(client, server, &asked) })
	both.Go(func() { one(server, client, &answered) })
	both.Wait()
	client.Close()
	server.Close()
	requests, answers := bufio.NewReader(&asked), bufio.NewReader(&answered)
	for {
		r, err := http.ReadRequest(requests)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		resp, err := http.ReadResponse(answers, r)
		if err == nil && resp.StatusCode == http.StatusContinue {
			resp, err = http.ReadResponse(answers, r)
		}
		var text []byte
		if err == nil {
			text, err = io.ReadAll(resp.Body)
		}
		w.count(r, resp, text, err)
		if err != nil {
			return
		}
	}
}

// end closes the connections that clients keep for further requests.
func (w *witness) end() {
	w.mu.Lock()
	for c := range w.open {
		c.Close()
	}
	w.mu.Unlock()
	w.running.Wait()
}

// of returns the replies of an API. w.mu is held.
func (w *witness) of(api string) *seenReplies {
	if w.seen[api] == nil {
		w.seen[api] = &seenReplies{failed: map[int]int{}}
	}
	return w.seen[api]
}

// count counts an answer, if it is that of a model. One that never began is one whose client went
// away.
func (w *witness) count(r *http.Request, resp *http.Response, text []byte, err error) {
	api := witnessed[r.URL.Path]
	if api == "" || r.Method != http.MethodPost {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.of(api)
	if resp != nil && resp.StatusCode != http.StatusOK {
		s.failed[resp.StatusCode]++
		return
	}
	said, failed := toldBy(text)
	if failed || err != nil && !ended(text) {
		s.broken++
		return
	}
	s.whole++
	s.calls, s.prompt, s.completion = s.calls+said.calls, s.prompt+said.prompt, s.completion+said.completion
	if said.prompt == 0 && api != "count_tokens" {
		s.uncounted++
	}
}

// ended reports whether a stream has said that it is over: many clients then close their connection
// without waiting for its end.
func ended(text []byte) bool {
	return bytes.HasSuffix(bytes.TrimSpace(text), []byte("data: [DONE]"))
}

// countsTold has the members of every API.
type countsTold struct {
	Prompt_tokens, Completion_tokens int
	Input_tokens, Output_tokens      int
	Cache_read_input_tokens          int
}

// record is a record of any API's reply, or all of it.
type record struct {
	Type     string
	Error    json.RawMessage
	Usage    *countsTold
	Response json.RawMessage // of Responses, an event's; of Ollama, a text
	Output   []struct{ Type string }
	Choices  []struct {
		Delta, Message struct {
			Tool_calls []struct{ ID string }
		}
	}
	Content_block struct{ Type string }
	Content       []struct{ Type string }
	Message       struct {
		Tool_calls []json.RawMessage
	}
	Prompt_eval_count, Eval_count int
}

// toldBy takes the records of a reply: a document, lines, or events.
func toldBy(text []byte) (got counted, failed bool) {
	var all [][]byte
	if json.Valid(text) {
		all = [][]byte{text}
	} else {
		for line := range bytes.Lines(text) {
			all = append(all, bytes.TrimPrefix(bytes.TrimSpace(line), []byte("data: ")))
		}
	}
	for _, line := range all {
		var r record
		if len(line) == 0 || line[0] != '{' || json.Unmarshal(line, &r) != nil {
			continue
		}
		failed = failed || len(r.Error) > 0 && string(r.Error) != "null" || r.Type == "error" || r.Type == "response.failed"
		if r.Usage != nil {
			got.take(r.Usage)
		}
		var inner struct {
			Usage  *countsTold
			Output []struct{ Type string }
		}
		if json.Unmarshal(r.Response, &inner) == nil && inner.Usage != nil {
			got.take(inner.Usage)
			r.Output = inner.Output
		}
		if r.Prompt_eval_count > 0 {
			got.prompt, got.completion = r.Prompt_eval_count, r.Eval_count
		}
		for _, items := range [][]struct{ Type string }{r.Output, r.Content, {r.Content_block}} {
			for _, item := range items {
				if strings.HasSuffix(item.Type, "_call") || item.Type == "tool_use" {
					got.calls++
				}
			}
		}
		for _, c := range r.Choices {
			got.calls += len(c.Message.Tool_calls)
			for _, call := range c.Delta.Tool_calls {
				if call.ID != "" { // the rest of a call has none
					got.calls++
				}
			}
		}
		got.calls += len(r.Message.Tool_calls)
	}
	return got, failed
}

// take takes the counts of a record, the last of which are those of the reply.
func (o *counted) take(u *countsTold) {
	if n := u.Prompt_tokens + u.Input_tokens + u.Cache_read_input_tokens; n > 0 {
		o.prompt = n
	}
	if n := u.Completion_tokens + u.Output_tokens; n > 0 {
		o.completion = n
	}
}

// line is a sample of /metrics.
var sampleLine = regexp.MustCompile(`(?m)^(toolnorm_\w+)\{(.*)\} ([0-9.e+]+)$`)

// scrape returns the requests by API and status, and the sums of what replies said.
func (w *witness) scrape() (requests map[string]map[int]int, sum counted, err error) {
	resp, err := http.Get(w.behind + "/metrics")
	if err != nil {
		return nil, counted{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	requests = map[string]map[int]int{}
	for _, m := range sampleLine.FindAllStringSubmatch(string(text), -1) {
		value, _ := strconv.ParseFloat(m[3], 64)
		labels := map[string]string{}
		for pair := range strings.SplitSeq(m[2], ",") {
			name, v, _ := strings.Cut(pair, "=")
			labels[name] = strings.Trim(v, `"`)
		}
		switch m[1] {
		case "toolnorm_requests_total":
			status, _ := strconv.Atoi(labels["status"])
			if requests[labels["api"]] == nil {
				requests[labels["api"]] = map[int]int{}
			}
			requests[labels["api"]][status] += int(value)
		case "toolnorm_calls_total":
			sum.calls += int(value)
		case "toolnorm_prompt_tokens_total":
			sum.prompt += int(value)
		case "toolnorm_completion_tokens_total":
			sum.completion += int(value)
		}
	}
	return requests, sum, err
}

// compare scrapes until the counters are what was seen. They are added to behind the last byte of a
// reply, and those of a model that no server has listed a moment later.
func (w *witness) compare(t *testing.T) {
	t.Helper()
	var wrong []string
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		requests, sum, err := w.scrape()
		if err != nil {
			t.Errorf("no scrape: %v", err)
			return
		}
		if wrong = w.differences(requests, sum); len(wrong) == 0 {
			break
		}
		if time.Now().After(end) {
			t.Errorf("the counters of %s are not what was sent:\n%s", w.behind, strings.Join(wrong, "\n"))
			return
		}
	}
	n := 0
	for api, s := range w.seen {
		n += s.whole + s.broken
		t.Logf("%s: %d whole replies, %d broken, failed %v; %d calls, %d and %d tokens; the counters say the same", api, s.whole, s.broken, s.failed, s.calls, s.prompt, s.completion)
	}
	if n == 0 {
		t.Error("no reply was seen")
	}
}

// differences are those of the counters to what was seen.
func (w *witness) differences(requests map[string]map[int]int, sum counted) (wrong []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all counted
	exact := true // every reply has said what it was
	for api, s := range w.seen {
		counted, good, seen := 0, requests[api][200], s.whole+s.broken
		for _, n := range requests[api] {
			counted += n
		}
		for status, n := range s.failed {
			seen += n
			if requests[api][status] < n || s.broken == 0 && requests[api][status] != n {
				wrong = append(wrong, fmt.Sprintf("%s: %d requests with status %d, %d were seen", api, requests[api][status], status, n))
			}
		}
		if counted < seen || counted > seen && s.broken == 0 { // who goes away before an answer begins is not seen, only counted
			wrong = append(wrong, fmt.Sprintf("%s: %d requests, %d were seen", api, counted, seen))
		}
		if good < s.whole || good > s.whole+s.broken {
			wrong = append(wrong, fmt.Sprintf("%s: %d good replies, %d were seen, %d broken", api, good, s.whole, s.broken))
		}
		exact = exact && s.broken == 0 && s.uncounted == 0
		all.calls, all.prompt, all.completion = all.calls+s.calls, all.prompt+s.prompt, all.completion+s.completion
	}
	broken := 0
	for _, s := range w.seen {
		broken += s.broken
	}
	for _, c := range []struct {
		what       string
		said, seen int
		exact      bool
	}{{"calls", sum.calls, all.calls, broken == 0}, {"prompt tokens", sum.prompt, all.prompt, exact}, {"completion tokens", sum.completion, all.completion, exact}} {
		if c.said < c.seen || c.exact && c.said != c.seen {
			wrong = append(wrong, fmt.Sprintf("%d %s, %d were seen", c.said, c.what, c.seen))
		}
	}
	return wrong
}
