package connect

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"time"
)

// Found is a model server that answers on this machine.
type Found struct {
	Name, URL string
	Models    int
}

// places are the addresses where model servers listen by default. Each has the name of the program
// that most often uses it.
var places = []Found{
	{Name: "ollama", URL: "http://127.0.0.1:11434"},
	{Name: "llama-server", URL: "http://127.0.0.1:8080"},
	{Name: "lm-studio", URL: "http://127.0.0.1:1234"},
	{Name: "vllm", URL: "http://127.0.0.1:8000"},
	{Name: "sglang", URL: "http://127.0.0.1:30000"},
	{Name: "koboldcpp", URL: "http://127.0.0.1:5001"},
	{Name: "jan", URL: "http://127.0.0.1:1337"},
}

// lookTime is how long the search for servers may take. A local port without a listener refuses the
// connection at once.
const lookTime = 2 * time.Second

// Servers returns the model servers that answer at the usual ports of this machine; nil if none
// does.
func Servers(ctx context.Context) []Found { return look(ctx, places) }

// look asks all addresses at the same time, and returns those at which a model server answers.
func look(ctx context.Context, at []Found) (found []Found) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	there := make([]bool, len(at))
	all := append([]Found(nil), at...)
	var wait sync.WaitGroup
	for i := range all {
		wait.Go(func() { there[i] = all[i].ask(ctx) })
	}
	wait.Wait()
	for i, f := range all {
		if there[i] {
			found = append(found, f)
		}
	}
	return found
}

// ask reports whether a model server answers at the address, and sets Models. It recognises a model
// server by its list of models.
func (f *Found) ask(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL+"/v1/models", nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	var list struct {
		Object string            `json:"object"`
		Data   []json.RawMessage `json:"data"`
	}
	if json.NewDecoder(io.LimitReader(resp.Body, 4<<20)).Decode(&list) != nil ||
		list.Object != "list" {
		return false
	}
	f.Models = len(list.Data)
	return resp.StatusCode == http.StatusOK
}
