// arena: name = tool-parser (smg)
// arena: entry = ParserFactory and its parsers, of SGLang's model gateway
// arena: version = tool-parser 1.10.0 (crate)
// arena: cargo = tool-parser@=1.10.0 serde_json@1 tokio@1
use serde_json::{json, Value};
use std::io::{self, BufRead, Write};
use tool_parser::ParserFactory;

// The parsers by family.
const FAMILIES: &[(&str, &str)] = &[
    ("hermes", "qwen"), ("llama3", "llama"), ("mistral-v3", "mistral"), ("mistral", "mistral"), ("mistral-small3.2", "mistral"),
    ("qwen3-coder", "qwen_xml"), ("nemotron-3", "qwen_xml"), ("step3.5", "qwen_xml"), ("python", "pythonic"), ("llama4", "pythonic"),
    ("deepseek-v3", "deepseek"), ("deepseek-v3.1", "deepseek31"), ("deepseek-dsml", "deepseek32"), ("deepseek-v4", "deepseek_v4"), ("deepseek-v4.1", "deepseek_v41"),
    ("glm4.7", "glm47_moe"), ("kimi-k2", "kimik2"), ("kimi-k3", "kimi_k3"), ("minimax-m2", "minimax_m2"), ("minimax-m3", "minimax_m3"),
    ("command-a", "cohere"), ("command-r7b", "cohere"), ("gemma4", "gemma4"), ("hunyuan-v4", "hy_v4"), ("inkling", "inkling"),
    ("sarashina", "sarashina"), ("step3", "step3"), ("generic", "json"),
];

fn read(factory: &ParserFactory, runtime: &tokio::runtime::Runtime, case: &Value) -> Value {
    let skip = json!({"id": case["id"], "calls": [], "skip": true});
    let Some((_, name)) = FAMILIES.iter().find(|f| f.0 == case["format"]) else { return skip };
    let Some(mut parser) = factory.registry().create_parser(name) else { return skip };
    let tools = match serde_json::from_value(case["tools"].clone()) {
        Ok(tools) => tools,
        Err(why) => return json!({"id": case["id"], "calls": [], "error": why.to_string()}),
    };
    if case["stream"] != true {
        return match runtime.block_on(parser.parse_complete_with_tools(case["text"].as_str().unwrap_or(""), &tools)) {
            Ok((_, calls)) => {
                let all: Vec<Value> = calls.iter().map(|c| json!({"name": c.function.name, "arguments": c.function.arguments})).collect();
                json!({"id": case["id"], "calls": all})
            }
            Err(why) => json!({"id": case["id"], "calls": [], "error": why.to_string()}),
        };
    }
    let mut calls: Vec<(String, String)> = vec![];
    let mut sent: Vec<usize> = vec![];
    let mut add = |calls: &mut Vec<(String, String)>, index: usize, name: Option<String>, arguments: &str| {
        while calls.len() <= index {
            calls.push(Default::default());
        }
        if let Some(name) = name {
            calls[index].0 = name;
        }
        calls[index].1.push_str(arguments);
    };
    for delta in case["deltas"].as_array().into_iter().flatten() {
        match runtime.block_on(parser.parse_incremental(delta.as_str().unwrap_or(""), &tools)) {
            Ok(got) => {
                for c in got.calls {
                    add(&mut calls, c.tool_index, c.name, &c.parameters);
                }
            }
            Err(why) => return json!({"id": case["id"], "calls": [], "error": why.to_string()}),
        }
        sent.push(calls.iter().map(|c| c.1.len()).sum());
    }
    for c in parser.get_unstreamed_tool_args().unwrap_or_default() {
        add(&mut calls, c.tool_index, c.name, &c.parameters);
    }
    let all: Vec<Value> = calls.iter().filter(|c| !c.0.is_empty()).map(|c| json!({"name": c.0, "arguments": c.1})).collect();
    json!({"id": case["id"], "calls": all, "sent": sent})
}

fn main() {
    let factory = ParserFactory::new();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let case: Value = serde_json::from_str(&line).unwrap_or_default();
        let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| read(&factory, &runtime, &case)))
            .unwrap_or_else(|_| json!({"id": case["id"], "calls": [], "error": "panic"}));
        writeln!(out, "{answer}").and_then(|_| out.flush()).unwrap();
    }
}
