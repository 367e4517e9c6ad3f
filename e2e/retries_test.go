package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"toolnorm/internal/fault"
)

// asksOnce is a program that asks one question with a client, which has its own number of retries,
// whatever comes of it.
const asksOnce = `
import { createRequire } from 'node:module';
const [, base, folder, name] = process.argv;
const load = createRequire(folder + '/');
const url = base + '/v1';
const ask = {
  vercel: () => load('ai').generateText({ model: load('@ai-sdk/openai-compatible').createOpenAICompatible({ name: 'x', baseURL: url })('m'), prompt: 'q' }),
  langchain: () => new (load('@langchain/openai').ChatOpenAI)({ model: 'm', apiKey: 'none', configuration: { baseURL: url } }).invoke('q'),
}[name] ?? (() => {
  const { default: OpenAI } = load(name);
  return new OpenAI({ apiKey: 'none', baseURL: url }).chat.completions.create({ model: 'm', messages: [{ role: 'user', content: 'q' }] });
});
await ask().catch(() => {});
`

// TestClientsMultiplyOnlyWhatMayPass counts how often clients, as they come, send a request that
// ends with each fault. What only a header calls permanent is for OpenAI's clients: the others do
// not read it.
func TestClientsMultiplyOnlyWhatMayPass(t *testing.T) {
	open(t)
	for _, client := range []string{"openai-current", "openai-4.96", "vercel", "langchain"} {
		for _, row := range []struct {
			fault *fault.Error
			times int32
		}{
			{fault.New(fault.Invalid, "x"), 1},
			{fault.New(fault.Unauthorized, "x"), 1},
			{fault.New(fault.Unable, "x"), 1},
			{fault.New(fault.NotFound, "x"), 1},
			{fault.New(fault.TooLarge, "x"), 1},
			{fault.New(fault.Failed, "x"), 1},
			{fault.New(fault.Timeout, "x"), 1},
			{fault.New(fault.Internal, "x"), 1},
			{&fault.Error{Kind: fault.Unavailable, Curable: true}, 1},
			{&fault.Error{Kind: fault.Unavailable, Retry: time.Second}, 3},
			{&fault.Error{Kind: fault.Busy, Retry: time.Second}, 3},
			{&fault.Error{Kind: fault.Limited, Retry: time.Second}, 3},
		} {
			if row.fault.Status() > 413 && !strings.HasPrefix(client, "openai") {
				continue
			}
			t.Run(fmt.Sprintf("%s, %d %s", client, row.fault.Status(), row.fault.OpenAICode()), func(t *testing.T) {
				t.Parallel()
				var asked atomic.Int32
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					asked.Add(1)
					fault.Write(w, row.fault)
				}))
				defer srv.Close()
				cmd := exec.CommandContext(t.Context(), "node", "--input-type=module", "-e", asksOnce, srv.URL, installed.clients, client)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				if got := asked.Load(); got != row.times {
					t.Errorf("the request was sent %d times, want %d", got, row.times)
				}
			})
		}
	}
}
