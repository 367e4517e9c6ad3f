package e2e
import ("testing";"path/filepath")
func TestZZ(t *testing.T) {
	l := &lane{}
	demand(t, nil, l.scratch())
	t.Cleanup(l.stop)
	demand(t, nil, l.build())
	base := l.witness(t, l.toolnorm(t, "--ollama", "127.0.0.1:1"))
	cache, err := cacheFolder()
	demand(t, nil, err)
	packages, err := npmFolder(cache, "anthropic")
	demand(t, nil, err)
	checks := runSDK(t, "node", append([]string{filepath.Join("anthropic", "client.mjs"), packages, base}, demoFamilies...))
	t.Log(checks)
	const tool=`,"tools":[{"type":"function","function":{"name":"get_time","parameters":{"type":"object","properties":{"zone":{"type":"string"}},"required":["zone"]}}}]}`
	for path, body := range map[string]string{
		"/v1/chat/completions": `{"model":"demo/hermes","messages":[{"role":"user","content":"What time is it?"}]`+tool,
		"/v1/chat/completions?": `{"stream":true,"stream_options":{"include_usage":true},"model":"demo/hermes","messages":[{"role":"user","content":"What time is it?"}]`+tool,
		"/api/chat": `{"model":"demo/hermes","messages":[{"role":"user","content":"What time is it?"}]`+tool,
		"/api/generate": `{"model":"demo/hermes","prompt":"hi"}`,
		"/v1/responses": `{"model":"demo/hermes","input":"What time is it?","tools":[{"type":"function","name":"get_time","parameters":{"type":"object","properties":{"zone":{"type":"string"}},"required":["zone"]}}]}`,
		"/v1/responses?": `{"stream":true,"model":"demo/hermes","input":"What time is it?","tools":[{"type":"function","name":"get_time","parameters":{"type":"object","properties":{"zone":{"type":"string"}},"required":["zone"]}}]}`,
		"/v1/completions": `{"model":"demo/hermes","prompt":"hi"}`,
		"/v1/embeddings": `{"model":"demo/hermes","input":"hi"}`,
	} { r, text := send(t, base+path, body); t.Log(path, r.StatusCode, text[max(0,len(text)-300):]) }
}
