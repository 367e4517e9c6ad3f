# arena: name = vLLM
# arena: entry = the parsers of --tool-call-parser, by ToolParserManager; without torch, with a stand-in for the model's tokenizer
# arena: version = vllm 0.33.0
# arena: wheel-py = vllm==0.33.0
# arena: pip = openai==3.57.0 msgspec==0.22.0 regex==2026.11.19 partial-json-parser==0.2.1.1.post7 ijson==3.6.0 pydantic==2.14.4 pydantic-core==2.50.5 typing-extensions==4.16.0 typing-inspection==0.4.5 annotated-types==0.8.0 anyio==4.16.0 httpx2==2.16.2 httpcore2==2.16.2 h11==0.16.0 idna==3.20 jiter==0.19.0 sniffio==1.3.1 truststore==0.10.5
import json
import logging
import re

import arena

for name in ("vllm", "vllm.entrypoints", "vllm.entrypoints.openai", "vllm.entrypoints.generate", "vllm.transformers_utils", "vllm.parser", "vllm.reasoning"):
    arena.package(name)
arena.package("vllm.renderers", lenient=True)
arena.absent(
    # what is no part of its parsers
    "vllm.config", "vllm.distributed", "vllm.platforms", "vllm.multimodal", "vllm.model_executor", "vllm.v1", "vllm.lora", "vllm.sampling_params",
    "vllm.utils.torch_utils", "vllm.version", "vllm._version",
    "torch", "tqdm", "xgrammar", "transformers", "numpy", "PIL", "triton", "fastapi", "starlette", "aiohttp", "psutil", "cachetools",
    "prometheus_client", "pybase64", "mistral_common", "openai_harmony", "tokenizers", "huggingface_hub", "gguf", "zmq", "cloudpickle", "uvicorn",
    "einops", "lark", "blake3", "llguidance", "jinja2", "yaml", "requests", "sentencepiece", "tiktoken", "safetensors", "filelock", "packaging",
    "opentelemetry", "cbor2", "setproctitle",
)
logging.disable(logging.CRITICAL)

from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest, ChatCompletionToolsParam  # noqa: E402
from vllm.tool_parsers import ToolParserManager  # noqa: E402

FAMILIES = {
    "apertus": "apertus", "beam": "beam", "command-r7b": "cohere_command3", "command-a": "cohere_command4", "deepseek-v3": "deepseek_v3",
    "deepseek-v3.1": "deepseek_v31", "deepseek-dsml": "deepseek_v32", "deepseek-v4": "deepseek_v4", "deepseek-v4.1": "deepseek_v41",
    "dots": "dots", "ernie": "ernie45", "functiongemma": "functiongemma", "gemma4": "gemma4", "gigachat": "gigachat3", "glm4.7": "glm47",
    "granite-20b": "granite-20b-fc", "granite3": "granite", "hermes": "hermes", "hunyuan-a13b": "hunyuan_a13b", "hunyuan-v3": "hy_v3",
    "hunyuan-v4": "hy_v4", "inkling": "inkling", "internlm": "internlm", "jamba": "jamba", "k2-horizon": "k2_horizon", "kimi-k2": "kimi_k2",
    "kimi-k3": "kimi_k3", "lfm2": "lfm2", "llama3": "llama3_json", "llama4": "llama4_pythonic", "longcat": "longcat", "mimo-v2": "mimo",
    "minicpm5": "minicpm5", "minimax-m2": "minimax_m2", "minimax-m3": "minimax_m3", "mistral": "mistral", "mistral-v3": "mistral",
    "mistral-small3.2": "mistral", "glimmer": "muse_glimmer", "nemotron-3": "qwen3_coder", "olmo3": "olmo3", "phi4": "phi4_mini_json",
    "plamo3": "plamo3", "poolside": "poolside_v1", "python": "pythonic", "qwen3-coder": "qwen3_coder", "seed-oss": "seed_oss",
    "step3": "step3", "step3.5": "step3p5", "xlam": "xlam", "harmony": "openai",
}

MARK = re.compile(r"<[^<>\s]{1,40}>|\[[A-Z_]{3,}\]|</?\w+\|?>")
PIECE = re.compile(MARK.pattern + r"| ?[^\W\d]{1,7}|\d{1,3}|\s+|.", re.DOTALL)


known = {}


class Vocabulary(dict):
    """Has every mark as a token of its own."""

    def __missing__(self, text):
        self[text] = len(self) + 1
        return self[text]

    def get(self, text, other=None):
        return self[text]

    def __contains__(self, text):
        return True


class Tokenizer:
    """Stands for the model's: marks are tokens, and so are short words."""

    all_special_tokens = []
    all_special_ids = []
    is_fast = True
    bos_token_id = 0
    eos_token_id = 0
    eos_token = "</s>"
    bos_token = "<s>"

    def __init__(self):
        self.vocabulary = Vocabulary()
        self.texts = {}

    def get_vocab(self):
        return self.vocabulary

    vocab = property(get_vocab)

    def encode(self, text, **_):
        ids = [self.vocabulary[p] for p in PIECE.findall(text)]
        self.texts.update((i, p) for i, p in zip(ids, PIECE.findall(text)))
        return ids

    def tokenize(self, text, **_):
        return PIECE.findall(text)

    def __call__(self, text, **_):
        return {"input_ids": self.encode(text)}

    def decode(self, ids, **_):
        return "".join(self.texts.get(i, "") for i in ([ids] if isinstance(ids, int) else ids))

    def convert_tokens_to_ids(self, tokens):
        return self.vocabulary[tokens] if isinstance(tokens, str) else [self.vocabulary[t] for t in tokens]

    def convert_ids_to_tokens(self, ids, **_):
        return self.texts.get(ids, "") if isinstance(ids, int) else [self.texts.get(i, "") for i in ids]


def read(case):
    name = FAMILIES.get(case["format"])
    if not name:
        return None
    deltas = case.get("deltas") or []
    if case.get("stream") and max(map(len, deltas)) < 2:
        return None  # it reads tokens, and marks are whole ones
    key = json.dumps(case["tools"])
    if key not in known:
        known[key] = [ChatCompletionToolsParam(**t) for t in case["tools"]]
    tokenizer = Tokenizer()
    p = ToolParserManager.get_tool_parser(name)(tokenizer, known[key])
    request = p.adjust_request(ChatCompletionRequest(model="m", messages=[], tools=known[key], tool_choice="auto"))
    if not case.get("stream"):
        found = p.extract_tool_calls(case["text"], request)
        return [arena.call(c.function.name, c.function.arguments) for c in found.tool_calls or []]
    calls, sent, text, ids = [], [], "", []
    for delta in deltas:
        new = tokenizer.encode(delta)
        got = p.extract_tool_calls_streaming(text, text + delta, delta, ids, ids + new, new, request)
        text, ids = text + delta, ids + new
        for c in (got.tool_calls if got else None) or []:
            while len(calls) <= c.index:
                calls.append(arena.call("", ""))
            if c.function:
                calls[c.index]["name"] = calls[c.index]["name"] or c.function.name or ""
                calls[c.index]["arguments"] += c.function.arguments or ""
        sent.append(sum(len(c["arguments"]) for c in calls))
    if calls:  # as its server does when a stream ends in the middle of arguments
        try:
            json.loads(calls[-1]["arguments"])
        except ValueError:
            calls[-1]["arguments"] += p.get_remaining_unstreamed_args()
    return [c for c in calls if c["name"]], sent


arena.run(read)
