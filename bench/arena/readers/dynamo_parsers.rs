// arena: name = dynamo-parsers (NVIDIA Dynamo)
// arena: entry = detect_and_parse_tool_call_with_recovery, with which whole replies are read; it reads no stream without its server's types
// arena: version = dynamo-parsers 11.0.1 (crate)
// arena: cargo = dynamo-parsers@=11.0.1 serde_json@1 tokio@1
use dynamo_parsers::tool_calling::{parsers::detect_and_parse_tool_call_with_recovery, ToolDefinition};
use serde_json::{json, Value};
use std::io::{self, BufRead, Write};

// The parsers by family.
const FAMILIES: &[(&str, &str)] = &[
    ("hermes", "hermes"), ("llama3", "llama3_json"), ("mistral-v3", "mistral"), ("mistral", "mistral"), ("mistral-small3.2", "mistral"),
    ("phi4", "phi4"), ("python", "pythonic"), ("llama4", "pythonic"), ("harmony", "harmony"), ("deepseek-v3", "deepseek_v3"),
    ("deepseek-v3.1", "deepseek_v3_1"), ("deepseek-dsml", "deepseek_v3_2"), ("deepseek-v4", "deepseek_v4"), ("qwen3-coder", "qwen3_coder"),
    ("nemotron-3", "nemotron_nano"), ("step3.5", "qwen3_coder"), ("jamba", "jamba"), ("minimax-m2", "minimax_m2"), ("minimax-m3", "minimax_m3"),
    ("glm4.7", "glm47"), ("kimi-k2", "kimi_k2"), ("kimi-k3", "kimi_k3"), ("gemma4", "gemma4"), ("inkling", "inkling"), ("generic", "default"),
];

fn read(runtime: &tokio::runtime::Runtime, case: &Value) -> Value {
    let skip = json!({"id": case["id"], "calls": [], "skip": true});
    let Some((_, name)) = FAMILIES.iter().find(|f| f.0 == case["format"]) else { return skip };
    if case["stream"] == true {
        return skip;
    }
    let tools: Vec<ToolDefinition> = case["tools"].as_array().into_iter().flatten().map(|t| ToolDefinition {
        name: t["function"]["name"].as_str().unwrap_or("").to_string(),
        parameters: Some(t["function"]["parameters"].clone()),
        strict: None,
    }).collect();
    let text = case["text"].as_str().unwrap_or("");
    match runtime.block_on(detect_and_parse_tool_call_with_recovery(text, Some(name), Some(&tools))) {
        Ok((calls, _)) => {
            let all: Vec<Value> = calls.iter().map(|c| json!({"name": c.function.name, "arguments": c.function.arguments})).collect();
            json!({"id": case["id"], "calls": all})
        }
        Err(why) => json!({"id": case["id"], "calls": [], "error": why.to_string()}),
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let case: Value = serde_json::from_str(&line).unwrap_or_default();
        let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| read(&runtime, &case)))
            .unwrap_or_else(|_| json!({"id": case["id"], "calls": [], "error": "panic"}));
        writeln!(out, "{answer}").and_then(|_| out.flush()).unwrap();
    }
}
