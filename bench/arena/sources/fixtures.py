"""Writes the fixtures of canitoolcall as inputs of the arena, on standard output: those whose reply has no thoughts in it, since
readers of calls get replies without them. Run by the Python in which the suite is installed."""

import glob
import json
import os

import canitoolcall

root = os.path.join(os.path.dirname(canitoolcall.__file__), "_data", "fixtures")
for name in sorted(glob.glob(os.path.join(root, "*", "*.jsonl"))):
    for line in open(name, encoding="utf-8"):
        f = json.loads(line)
        want = f.get("expected")
        if not want or want["reasoning_content"] or not f["tools"]:
            continue
        print(json.dumps({
            "id": "canitoolcall/" + f["id"],
            "row": "canitoolcall",
            "model": f["models"][0],
            "prompt_tail": f.get("generation_prompt") or "",
            "tools": f["tools"],
            "text": f["raw_output"],
            "finish": "length" if "truncated" in f["tags"] else "stop",
            "want": [{"name": c["name"], "arguments": c["arguments"] if isinstance(c["arguments"], str) else json.dumps(c["arguments"])} for c in want["tool_calls"]],
            "note": ", ".join(f["tags"]),
        }, ensure_ascii=False))
