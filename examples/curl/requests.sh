#!/bin/sh
# The three APIs with nothing but curl: each request can be copied alone. `sh requests.sh` runs them all; the demo model
# needs no model server. With TOOLNORM_API_KEYS set, add: -H "Authorization: Bearer KEY"
set -eu
url=${TOOLNORM_URL:-http://127.0.0.1:11435/v1}
model=${TOOLNORM_MODEL:-demo/hermes}

echo "== models"
curl -sS "$url/models/$model"

echo "== chat completions, with a tool"
curl -sS "$url/chat/completions" -d '{
  "model": "'"$model"'",
  "messages": [{"role": "user", "content": "What is the weather in \"Lisbon\"?"}],
  "tools": [{"type": "function", "function": {"name": "get_weather", "parameters":
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]
}'

# The id is that of the call; the content is what your tool returned.
echo "== chat completions, with the tool's result"
curl -sS "$url/chat/completions" -d '{
  "model": "'"$model"'",
  "messages": [
    {"role": "user", "content": "What is the weather in \"Lisbon\"?"},
    {"role": "assistant", "tool_calls": [{"id": "call_1", "type": "function",
      "function": {"name": "get_weather", "arguments": "{\"city\": \"Lisbon\"}"}}]},
    {"role": "tool", "tool_call_id": "call_1", "content": "Sun over Lisbon."}]
}'

# -N prints each event as it arrives.
echo "== chat completions, streamed"
curl -sSN "$url/chat/completions" -d '{
  "model": "'"$model"'", "stream": true,
  "messages": [{"role": "user", "content": "What is the weather in \"Lisbon\"?"}],
  "tools": [{"type": "function", "function": {"name": "get_weather", "parameters":
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]
}'

# Tools are flat here, and a text is input enough.
echo "== Responses"
curl -sS "$url/responses" -d '{
  "model": "'"$model"'", "store": false,
  "input": "What is the weather in \"Lisbon\"?",
  "tools": [{"type": "function", "name": "get_weather", "parameters":
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}]
}'

echo "== Messages"
curl -sS "$url/messages" -H 'anthropic-version: 2023-06-01' -d '{
  "model": "'"$model"'", "max_tokens": 1000,
  "messages": [{"role": "user", "content": "What is the weather in \"Lisbon\"?"}],
  "tools": [{"name": "get_weather", "input_schema":
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}]
}'
