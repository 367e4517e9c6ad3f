"""An adapter of canitoolcall for toolnorm decode: the suite's runner gives it what models wrote, and compares what comes back.

The tokenizers of the suite's models are not installed, so a reply is cut into pieces about the size of tokens: a mark is one,
a short word with its blank, a number of up to three digits, or any other character.
"""

import json
import os
import re
import subprocess

from canitoolcall.adapters.base import Adapter, Support
from canitoolcall.results import ParsedToolCall, ParseResult

MARK = re.compile(r"<[^<>\s]{1,40}>|\[[A-Z_]{3,}\]")
PIECE = re.compile(MARK.pattern + r"| ?[^\W\d]{1,6}|\d{1,3}|\s+|.", re.DOTALL)


class ToolnormAdapter(Adapter):
    name = "toolnorm"
    pinned_version = "this tree"
    supports_text_deltas = True

    def __init__(self):
        self.process = subprocess.Popen(
            [os.environ["TOOLNORM"], "decode", "--jsonl"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def version(self):
        return self.pinned_version

    def supports(self, family, model):
        return Support(True)

    def parser_config(self, raw):
        return {"model": raw.model, "prompt_tail": raw.generation_prompt}

    def pieces(self, raw):
        return PIECE.findall(raw.text)

    def units(self, raw):
        return list(range(len(self.pieces(raw))))

    def special_token_ids(self, raw):
        return [i for i, p in enumerate(self.pieces(raw)) if MARK.fullmatch(p)]

    def parse(self, raw, tools):
        return self.decode(raw, [raw.text], tools, stream=False)

    def parse_stream(self, raw, chunks, tools):
        pieces = self.pieces(raw)
        return self.decode(raw, ["".join(pieces[i] for i in chunk) for chunk in chunks], tools, stream=True)

    def parse_stream_text(self, raw, deltas, tools):
        return self.decode(raw, list(deltas), tools, stream=True)

    def decode(self, raw, deltas, tools, stream):
        """Read one reply. A call that was cut while it streamed counts: a client has seen it."""
        line = {
            "model": raw.model,
            "tools": list(tools),
            "prompt_tail": raw.generation_prompt or "",
            "finish": "length" if raw.truncated else "stop",
            "deltas": deltas,
            "stream": stream,
        }
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        reply = json.loads(self.process.stdout.readline())
        return ParseResult(
            content=reply["content"] or None,
            reasoning_content=reply["reasoning"] or None,
            tool_calls=tuple(ParsedToolCall(c["name"], c["arguments"]) for c in reply["calls"]),
            exception=reply["error"],
        )

    def close(self):
        self.process.stdin.close()
        self.process.wait()
