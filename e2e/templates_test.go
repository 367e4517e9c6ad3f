package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolnorm/adapters"
	"toolnorm/adapters/derive"
	"toolnorm/chat"
	"toolnorm/internal/test/must"
	"toolnorm/internal/test/templates"
)

// templateFamilies says which family's models bring a template of llama.cpp's; those that print no
// calls have none.
var templateFamilies = map[string]string{
	"Apertus-8B-Instruct":                           "apertus",
	"Apriel-1.6-15b-Thinker-fixed":                  "apriel",
	"Bielik-11B-v3.0-Instruct":                      "hermes",
	"ByteDance-Seed-OSS":                            "seed-oss",
	"Cohere2MoE":                                    "command-a",
	"CohereForAI-c4ai-command-r-plus-tool_use":      "command-r",
	"CohereForAI-c4ai-command-r7b-12-2024-tool_use": "command-r7b",
	"GLM-4.6":                             "glm4",
	"GLM-4.7-Flash":                       "glm4.7",
	"GigaChat3-10B-A1.8B":                 "gigachat",
	"GigaChat3.1-10B-A1.8B":               "gigachat",
	"Kimi-K2-Instruct":                    "kimi-k2",
	"Kimi-K2-Thinking":                    "kimi-k2",
	"LFM2.5-8B-A1B":                       "lfm2",
	"MiMo-VL":                             "hermes",
	"MiniMax-M2":                          "minimax-m2",
	"MiniMax-M3":                          "minimax-m3",
	"Mistral-Small-3.2-24B-Instruct-2506": "mistral-small3.2",
	"NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": "nemotron-3",
	"NVIDIA-Nemotron-Nano-v2":             "nemotron-v2",
	"NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use": "hermes",
	"NousResearch-Hermes-3-Llama-3.1-8B-tool_use":   "hermes",
	"Qwen-QwQ-32B":             "hermes",
	"Qwen-Qwen2.5-7B-Instruct": "hermes",
	"Qwen-Qwen3-0.6B":          "hermes",
	"Qwen3-Coder":              "qwen3-coder",
	"Qwen3.5-4B":               "qwen3-coder",
	"Reka-Edge":                "hermes",
	"StepFun3.5-Flash":         "step3.5",
	"deepseek-ai-DeepSeek-R1-Distill-Llama-8B": "deepseek-v3",
	"deepseek-ai-DeepSeek-R1-Distill-Qwen-32B": "deepseek-v3",
	"deepseek-ai-DeepSeek-V3.1":                "deepseek-v3.1",
	"deepseek-ai-DeepSeek-V3.2":                "deepseek-dsml",
	"deepseek-ai-DeepSeek-V4":                  "deepseek-v4",
	"deepseek-ai-DeepSeek-V4-Flash-0731":       "deepseek-v4",
	"fireworks-ai-llama-3-firefunction-v2":     "phi4",
	"google-gemma-4-31B-it":                    "gemma4",
	"google-gemma-4-31B-it-interleaved":        "gemma4",
	"ibm-granite-granite-4.0":                  "hermes",
	"ibm-granite-granite-4.1":                  "hermes",
	"llama-cpp-deepseek-r1":                    "deepseek-v3",
	"meetkai-functionary-medium-v3.1":          "functionary-v3.1",
	"meetkai-functionary-medium-v3.2":          "functionary-v3.2",
	"meta-llama-Llama-3.1-8B-Instruct":         "llama3",
	"meta-llama-Llama-3.2-3B-Instruct":         "llama3",
	"meta-llama-Llama-3.3-70B-Instruct":        "llama3",
	"mistralai-Ministral-3-14B-Reasoning-2512": "mistral",
	"mistralai-Mistral-Nemo-Instruct-2407":     "mistral-v3",
	"moonshotai-Kimi-K2":                       "kimi-k2",
	"muse-glimmer":                             "glimmer",
	"openai-gpt-oss-120b":                      "harmony",
	"openbmb-MiniCPM5-1B":                      "minicpm5",
	"poolside-Laguna-S-2.1":                    "glm4.7",
	"poolside-Laguna-XS-2.1":                   "poolside",
	"poolside-Laguna-XS.2":                     "poolside",
	"tencent-Hy3":                              "hunyuan-v3",
	"unsloth-Apriel-1.5":                       "apriel",
	"unsloth-mistral-Devstral-Small-2507":      "mistral",
	"upstage-Solar-Open-100B":                  "solar-open",
}

// TestTemplateRecordings renders the probing conversations with every template that llama.cpp
// ships, in a real llama-server, and holds the recordings of internal/test/templates to them.
// TOOLNORM_E2E_TEMPLATES=write makes them anew.
func TestTemplateRecordings(t *testing.T) {
	l := open(t)
	files, err := filepath.Glob(filepath.Join(filepath.Dir(installed.newest), "templates-"+installed.version["GGML"], "*.jinja"))
	if err != nil || len(files) == 0 {
		demand(t, fmt.Errorf("no templates: %v", err), nil)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jinja")
		t.Run(name, func(t *testing.T) {
			source := must.Read(t, file)
			render := l.templateServer(t, file)
			fresh := &templates.Recording{Family: templateFamilies[name], Source: derive.Excerpt(string(source)), Prompts: map[string]string{}, Refused: map[string]string{}}
			derive.From("mystery", new(adapters.Set), derive.Template{Source: string(source), Render: func(messages []chat.Message, tools []chat.Tool) (string, error) {
				prompt, err := render(messages, tools)
				fresh.Add(messages, prompt, err)
				return prompt, err
			}})
			compareRecording(t, fresh, filepath.Join("..", "internal", "test", "templates", "recordings", name+".json"))
		})
	}
}

func compareRecording(t *testing.T, fresh *templates.Recording, path string) {
	t.Helper()
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	out.SetIndent("", " ")
	must.OK(t, out.Encode(fresh))
	if os.Getenv("TOOLNORM_E2E_TEMPLATES") == "write" {
		must.OK(t, os.WriteFile(path, b.Bytes(), 0o644))
	}
	if old, err := os.ReadFile(path); err != nil || !bytes.Equal(old, b.Bytes()) {
		t.Errorf("%s is not what the template makes today; TOOLNORM_E2E_TEMPLATES=write makes it anew", path)
	}
}

// templateServer starts a llama-server with a template, for as long as the test runs.
func (l *lane) templateServer(t *testing.T, file string) derive.Render {
	t.Helper()
	addr := must.Have(freeAddr())(t)
	host, port, err := net.SplitHostPort(addr)
	must.OK(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	serve := exec.CommandContext(ctx, filepath.Join(installed.newest, "lib", "ollama", "llama-server"),
		"-m", filepath.Join(l.dir, "native.gguf"), "--jinja", "--chat-template-file", file, "-np", "1", "-t", "1", "-c", "512", "--host", host, "--port", port, "--no-webui")
	must.OK(t, serve.Start())
	t.Cleanup(func() { cancel(); serve.Wait() })
	base := "http://" + addr
	if !comesUp(base+"/health", 10*time.Second) {
		t.Fatalf("the llama-server with %s does not answer", file)
	}
	return func(messages []chat.Message, tools []chat.Tool) (string, error) {
		return applyTemplate(base, messages, tools)
	}
}

// applyTemplate asks a llama-server what a conversation comes to. Thinking is on, under each of the
// names that templates read it by.
func applyTemplate(base string, messages []chat.Message, tools []chat.Tool) (string, error) {
	type object = map[string]any
	var list, offered []object
	for _, m := range messages {
		w := object{"role": m.Role, "content": m.Content}
		if m.Reasoning != "" {
			w["reasoning_content"], w["reasoning"], w["thinking"] = m.Reasoning, m.Reasoning, m.Reasoning
		}
		if m.CallID != "" {
			w["tool_call_id"], w["name"] = m.CallID, m.Name
		}
		var calls []object
		for _, c := range m.Calls {
			calls = append(calls, object{"id": c.ID, "type": "function", "function": object{"name": c.Name, "arguments": string(c.Args)}})
		}
		if calls != nil {
			w["tool_calls"] = calls
		}
		list = append(list, w)
	}
	for _, t := range tools {
		offered = append(offered, object{"type": "function", "function": object{"name": t.Name, "description": t.Description, "parameters": t.Schema}})
	}
	body, err := json.Marshal(object{"messages": list, "tools": offered, "chat_template_kwargs": object{"enable_thinking": true}})
	if err != nil {
		return "", err
	}
	resp, err := http.Post(base+"/apply-template", "application/json", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", err
	}
	var reply struct {
		Prompt string
		Error  struct{ Message string }
	}
	if err := json.Unmarshal(data, &reply); err != nil {
		return "", err
	}
	if reply.Prompt == "" {
		return "", errors.New(reply.Error.Message)
	}
	return reply.Prompt, nil
}
