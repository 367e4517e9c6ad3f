// Command gatewayclient is what the conformance tool's client scenarios run: the part of toolnorm
// that is a client of other MCP servers, as a client at /mcp would use it. The last argument is the
// server's URL.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"toolnorm/tools"
	"toolnorm/tools/remote"
)

func main() {
	if err := run(os.Args[len(os.Args)-1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run signs in where the server asks for it, and calls its tools.
func run(url string) error {
	dir, err := os.MkdirTemp("", "gatewayclient")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var given struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	// most scenarios give none
	_ = json.Unmarshal([]byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")), &given)
	entry := map[string]any{"url": url, "oauth": map[string]string{"clientId": given.ID,
		"clientSecret": given.Secret}}
	text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"s": entry}})
	if err != nil {
		return err
	}
	path, accounts := filepath.Join(dir, "mcp.json"), filepath.Join(dir, "accounts")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return err
	}
	registry := tools.New(tools.Options{})
	s := remote.Open(remote.Config{Path: path, Registry: registry, Version: "1", Accounts: accounts,
		Log: zerolog.New(os.Stderr)})
	defer s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	ctx = tools.WithPeer(ctx, peer())
	for signed := 0; ctx.Err() == nil; {
		state, want := s.List()[0], false
		switch {
		case state.State == "ready":
			if want, err = use(ctx, registry, s); err != nil || !want {
				return err
			}
		default:
			want = strings.Contains(state.Error, "mcp login")
		}
		if want && signed == mostSignIns {
			return fmt.Errorf("signed in %d times, and that is not enough", signed)
		}
		if want {
			if err := remote.SignIn(ctx, path, accounts, "s", browse); err != nil {
				return fmt.Errorf("sign in: %w", err)
			}
			signed++
			for until := time.Now().Add(5 * time.Second); time.Now().Before(until); time.Sleep(
				50 * time.Millisecond) {
				if !strings.Contains(s.List()[0].Error, "mcp login") ||
					s.List()[0].State == "ready" {
					break
				}
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("%s: %s", s.List()[0].State, cmp.Or(s.List()[0].Error, "no answer"))
}

// browse requests an address, as the browser of a user who gives consent would. It does not wait
// for the reply.
func browse(to string) {
	go func() {
		if resp, err := http.Get(to); err == nil {
			resp.Body.Close()
		}
	}()
}

// peer returns a client that answers a server's questions with their defaults.
func peer() *tools.Peer {
	return &tools.Peer{
		Session: "conformance", Client: json.RawMessage(
			`{"name":"conformance-client","version":"1.0.0"}`),
		Can: json.RawMessage(`{"elicitation":{"form":{}}}`), Modern: os.Getenv(
			"MCP_CONFORMANCE_PROTOCOL_VERSION") == "2026-07-28",
		Ask: func(_ context.Context, _ string, params json.RawMessage) (json.RawMessage, error) {
			var asked struct {
				Schema struct {
					Properties map[string]struct {
						Default json.RawMessage `json:"default"`
					} `json:"properties"`
				} `json:"requestedSchema"`
			}
			if err := json.Unmarshal(params, &asked); err != nil {
				return nil, err
			}
			content := map[string]json.RawMessage{}
			for name, p := range asked.Schema.Properties {
				if p.Default != nil {
					content[name] = p.Default
				}
			}
			return json.Marshal(map[string]any{"action": "accept", "content": content})
		},
	}
}

// mostSignIns is how often a user signs in who is told that it was not enough.
const mostSignIns = 2

// use calls each tool with made-up arguments that fit its schema. If the environment variable
// MCP_CONFORMANCE_CONTEXT lists calls, it makes only these. The result again is true if a call
// needs more rights than the client has signed in for.
func use(ctx context.Context, registry *tools.Registry, s *remote.Set) (again bool, err error) {
	var told struct {
		Calls []struct {
			Name      string
			Arguments json.RawMessage
		} `json:"toolCalls"`
	}
	// most scenarios name none
	_ = json.Unmarshal([]byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")), &told)
	for _, t := range append(registry.Snapshot().Tools, s.Tools(ctx)...) {
		var all []json.RawMessage
		for _, c := range told.Calls {
			if "s."+c.Name == t.Name {
				all = append(all, c.Arguments)
			}
		}
		if len(told.Calls) == 0 {
			if all, err = invented(t); err != nil {
				return false, err
			}
		}
		for _, args := range all {
			said, err := answered(ctx, registry, t, args)
			if err != nil {
				return false, err
			}
			fmt.Println(t.Name, said)
			again = again || strings.Contains(said, "mcp login")
		}
	}
	return again, nil
}

// invented returns a list with one element, the made-up arguments for one call of a tool. It
// returns an error if they cannot be encoded.
func invented(t tools.Tool) ([]json.RawMessage, error) {
	var schema struct {
		Properties map[string]struct {
			Type string `json:"type"`
		} `json:"properties"`
	}
	_ = json.Unmarshal(t.Schema, &schema) // one without has no arguments
	args := map[string]any{}
	for name, p := range schema.Properties {
		switch p.Type {
		case "number", "integer":
			args[name] = 5
		case "boolean":
			args[name] = true
		case "string":
			args[name] = "x"
		}
	}
	text, err := json.Marshal(args)
	return []json.RawMessage{text}, err
}

// mostRounds bounds the questions in front of an answer.
const mostRounds = 5

// answered calls a tool and returns its result. From revision 2026-07-28 on, a result may be
// questions. The tool is then called again with the answers, and with the state that came with the
// questions.
func answered(ctx context.Context, registry *tools.Registry, t tools.Tool, args json.RawMessage) (
	string, error) {
	params := map[string]any{}
	for range mostRounds {
		text, err := json.Marshal(params)
		if err != nil {
			return "", err
		}
		p := *tools.PeerOf(ctx)
		p.Params = text
		result := registry.Run(tools.WithPeer(ctx, &p), t, args)
		var asks struct {
			Open  map[string]struct{ Params json.RawMessage } `json:"inputRequests"`
			State json.RawMessage                             `json:"requestState"`
			Type  string                                      `json:"resultType"`
		}
		if json.Unmarshal(result.Raw, &asks) != nil || asks.Type != "input_required" {
			return result.Text(), nil
		}
		answers := map[string]json.RawMessage{}
		for key, one := range asks.Open {
			if answers[key], err = p.Ask(ctx, "elicitation/create", one.Params); err != nil {
				return "", err
			}
		}
		if params = map[string]any{"inputResponses": answers}; asks.State != nil {
			params["requestState"] = asks.State
		}
	}
	return "", fmt.Errorf("%s asked %d times", t.Name, mostRounds)
}
