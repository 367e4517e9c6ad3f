# arena: name = SGLang
# arena: entry = FunctionCallParser, by the name of --tool-call-parser; without torch, which no parser uses
# arena: version = sglang 0.5.23
# arena: wheel-py = sglang==0.5.23
# arena: pip = openai==3.57.0 msgspec==0.22.0 orjson==3.13.0 regex==2026.11.19 partial-json-parser==0.2.1.1.post7 pydantic==2.14.4 pydantic-core==2.50.5 typing-extensions==4.16.0 typing-inspection==0.4.5 annotated-types==0.8.0 anyio==4.16.0 httpx2==2.16.2 httpcore2==2.16.2 h11==0.16.0 idna==3.20 jiter==0.19.0 sniffio==1.3.1 truststore==0.10.5
import json

import arena

for name in ("sglang", "sglang.srt", "sglang.srt.function_call", "sglang.srt.parser", "sglang.srt.entrypoints", "sglang.srt.entrypoints.openai"):
    arena.package(name)
arena.absent("torch", "tqdm", "requests", "xgrammar", "transformers", "numpy", "PIL", "IPython", "zmq", "pybase64")

from sglang.srt.entrypoints.openai.protocol import Tool  # noqa: E402
from sglang.srt.function_call.function_call_parser import FunctionCallParser  # noqa: E402

FAMILIES = {
    "apertus": "apertus2509", "beam": "beam", "command-a": "cohere_command4", "deepseek-v3": "deepseekv3", "deepseek-v3.1": "deepseekv31",
    "deepseek-dsml": "deepseekv32", "deepseek-v4": "deepseekv4", "deepseek-v4.1": "deepseekv41", "dots": "dots", "glm4.7": "glm47",
    "harmony": "gpt-oss", "k2-horizon": "k2_horizon", "kimi-k2": "kimi_k2", "kimi-k3": "kimi_k3", "lfm2": "lfm2", "llama3": "llama3",
    "mimo-v2": "mimo", "minicpm5": "minicpm5", "mistral": "mistral", "mistral-v3": "mistral", "mistral-small3.2": "mistral",
    "glimmer": "muse", "poolside": "poolside_v1", "python": "pythonic", "llama4": "pythonic", "olmo3": "pythonic", "hermes": "hermes",
    "qwen3-coder": "qwen3_coder", "nemotron-3": "qwen3_coder", "step3": "step3", "step3.5": "step3p5", "minimax-m2": "minimax-m2",
    "minimax-m3": "minimax-m3", "trinity": "trinity", "internlm": "interns1", "hunyuan-v3": "hunyuan", "gigachat": "gigachat3",
    "gigachat3.5": "gigachat35", "gemma4": "gemma4", "inkling": "inkling", "iquest-q1": "iquest_q1",
}


known = {}


def tools_of(case):
    key = json.dumps(case["tools"])
    if key not in known:
        known[key] = [Tool(**t) for t in case["tools"]]
    return known[key]


def read(case):
    parser = FAMILIES.get(case["format"])
    if not parser:
        return None
    p = FunctionCallParser(tools_of(case), parser)
    if not case.get("stream"):
        _, found = p.parse_non_stream(case["text"])
        return [arena.call(c.name, c.parameters) for c in found]
    calls, sent = [], []

    def add(items):
        for c in items:
            while len(calls) <= max(c.tool_index, 0):
                calls.append(arena.call("", ""))
            call = calls[max(c.tool_index, 0)]
            call["name"] = call["name"] or c.name or ""
            call["arguments"] += c.parameters or ""

    for delta in case["deltas"]:
        add(p.parse_stream_chunk(delta)[1])
        sent.append(sum(len(c["arguments"]) for c in calls))
    add(p.parse_stream_end()[1])
    # What its server sends at the end of a stream: arguments that were parsed and not sent yet.
    d = p.detector
    done, streamed = getattr(d, "prev_tool_call_arr", []), getattr(d, "streamed_args_for_tool", [])
    if done and streamed and len(done) == len(calls):
        whole = done[-1].get("arguments", {})
        whole = whole if isinstance(whole, str) else json.dumps(whole, ensure_ascii=False)
        if whole.startswith(streamed[-1]):
            calls[-1]["arguments"] += whole[len(streamed[-1]):]
    return [c for c in calls if c["name"]], sent


arena.run(read)
