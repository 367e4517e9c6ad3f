package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"toolnorm/e2e/gguf"
	"toolnorm/internal/test/must"
)

// spread is how requests are spread over several Ollamas.
type spread struct {
	name   string
	policy string // of HAProxy; empty: as deploy/fleet/haproxy.cfg has it
	pool   bool   // toolnorm's own pool, without HAProxy
}

// spreads are those that are compared.
var spreads = []spread{{name: "HAProxy by the header"}, {name: "pool", pool: true}, {name: "HAProxy, round robin", policy: "roundrobin"}, {name: "HAProxy, least connections", policy: "leastconn"}}

// sizes are how large a measurement is, set by variables of the environment: the whole takes hours.
type sizes struct {
	servers           []int
	turns, each       int // of a conversation; conversations for each server
	shortest, longest int // of the system text, in bytes
}

// number returns what a variable of the environment says.
func number(name string, otherwise int) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		return otherwise
	}
	return n
}

// turnOf is what one request of a conversation came to.
type turnOf struct {
	prompt, cached int
	first          time.Duration
}

// TestFleetCaches measures which part of their prompts conversations find in the servers' caches,
// by how requests are spread. All conversations run at once; one alone on one server says what
// could be found.
func TestFleetCaches(t *testing.T) {
	if os.Getenv("TOOLNORM_E2E_FLEET") == "" {
		t.Skip("make fleet runs it")
	}
	l := openFleet(t)
	size := sizes{turns: number("FLEET_TURNS", 20), each: number("FLEET_EACH", 2), shortest: number("FLEET_SHORTEST", 8<<10), longest: number("FLEET_LONGEST", 40<<10)}
	for word := range strings.SplitSeq(cmp.Or(os.Getenv("FLEET_SERVERS"), "2,4,8"), ",") {
		n := must.Have(strconv.Atoi(word))(t)
		size.servers = append(size.servers, n)
	}
	scripts := []gguf.Script{{Name: "default", Parts: []string{"Well, that is done, and what is next?"}}}
	var rows []string
	for _, n := range size.servers {
		for _, w := range spreads {
			if !strings.Contains(w.name, os.Getenv("FLEET_SPREAD")) {
				continue
			}
			rows = append(rows, size.measure(t, l, n, w, scripts))
			t.Log(rows[len(rows)-1])
		}
	}
	if os.Getenv("TOOLNORM_E2E_FLEET") == "write" {
		writeBlock(t, "caches", "| servers | conversations | turns | system text, bytes | spread by | of the best | time to first token, median | 95 % |\n|--:|--:|--:|--:|---|--:|--:|--:|\n"+strings.Join(rows, "\n"))
	}
}

// measure runs the conversations on new servers, and returns a row.
func (size sizes) measure(t *testing.T, l *lane, servers int, w spread, scripts []gguf.Script) string {
	t.Helper()
	ollamas := serveOllamas(t, l, servers, 2, scripts)
	defer func() {
		for _, one := range ollamas {
			one.kill()
		}
	}()
	at := loopback{ollamas: addresses(ollamas), clients: freeAddress(t), models: freeAddress(t), watch: freeAddress(t), policy: w.policy}
	target := at.models
	if w.pool {
		target = strings.Join(at.ollamas, ",")
	} else {
		defer l.startHAProxy(t, at).kill()
	}
	base := l.toolnorm(t, "--ollama", target, "--num-ctx", "131072", "--tool-budget", "100000")
	var mu sync.Mutex
	var all sync.WaitGroup
	var cached, best float64
	var waits []time.Duration
	random := rand.New(rand.NewPCG(38, 1))
	for c := range servers * size.each {
		text := conversationText(c, size.shortest+random.IntN(size.longest-size.shortest+1))
		all.Go(func() {
			messages := []message{{Role: "system", Content: text}}
			last := 0
			for turn := range size.turns {
				messages = append(messages, message{Role: "user", Content: fmt.Sprintf("This is step %d of conversation %d. Go on.", turn, c)})
				got, answer := oneTurn(t, base, fleetModel, messages)
				mu.Lock()
				if turn > 0 {
					cached, best = cached+float64(got.cached), best+float64(last)
				}
				waits = append(waits, got.first)
				mu.Unlock()
				last = got.prompt
				messages = append(messages, message{Role: "assistant", Content: answer})
			}
		})
	}
	all.Wait()
	middle, late := quantiles(waits)
	return fmt.Sprintf("| %d | %d | %d | %d to %d | %s | %.3f | %s | %s |", servers, servers*size.each, size.turns, size.shortest, size.longest, w.name, cached/best, middle.Round(10*time.Millisecond), late.Round(10*time.Millisecond))
}

// conversationText is a system text that no other conversation has.
func conversationText(c, size int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "You are agent %d.\n", c)
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "Rule %d of agent %d: whoever has read rule %d goes on with the next one.\n", i, c, i-1)
	}
	return b.String()
}

// oneTurn asks for the next answer.
func oneTurn(t *testing.T, base, model string, messages []message) (got turnOf, answer string) {
	body, _ := json.Marshal(map[string]any{"model": model, "stream": true, "stream_options": map[string]bool{"include_usage": true}, "messages": messages}) // of strings
	began := time.Now()
	resp, err := http.Post(base+"/v1/chat/completions", "application/json", strings.NewReader(string(body)))
	if err != nil {
		t.Error(err)
		return got, ""
	}
	defer resp.Body.Close()
	var text strings.Builder
	for line := range eventLines(resp.Body) {
		var chunk struct {
			Choices []struct{ Delta struct{ Content string } }
			Usage   *struct {
				Prompt  int `json:"prompt_tokens"`
				Details struct {
					Cached int `json:"cached_tokens"`
				} `json:"prompt_tokens_details"`
			}
		}
		if json.Unmarshal([]byte(line), &chunk) != nil {
			continue
		}
		for _, c := range chunk.Choices {
			if c.Delta.Content != "" && got.first == 0 {
				got.first = time.Since(began)
			}
			text.WriteString(c.Delta.Content)
		}
		if chunk.Usage != nil {
			got.prompt, got.cached = chunk.Usage.Prompt, chunk.Usage.Details.Cached
		}
	}
	if text.Len() == 0 {
		t.Errorf("no answer: %d", resp.StatusCode)
	}
	return got, text.String()
}
