"""Reads the replies of SloppyAgentBench with the parsers of other agents, and prints how many have the effect that they must have.

    TOOLNORM_SLOPPY=/tmp/sloppy.json go test -run 'TestSloppy$/generate' ./agent
    pip install langchain-classic==1.0.8 smolagents==1.26.0 json_repair json5
    pip install --no-deps crewai==1.15.30 qwen-agent==0.0.34
    python3 agent/testdata/sloppy/peers.py /tmp/sloppy.json

Of CrewAI and Qwen-Agent the file with the parser alone is used. A reader is given what helps it: names in any spelling of an
offered tool, arguments as an object, a text with JSON in it, or the one text that a tool takes, and of several parsers of one
project the one that gives a tool. A text that no parser takes runs nothing.
"""

import ast
import importlib.util
import json
import os
import re
import sys
import types

TOOLS = {"calc.add": ["a", "b"], "calc.convert": ["amount", "from", "to"], "files.read_file": ["path"], "files.write_file": ["path", "content"],
         "files.find": ["name"], "search.find": ["query", "limit"], "tts.generate_speech": ["text", "voice"], "clock.now": []}


def tool_of(name):
    plain = re.sub(r"[^a-z0-9]", "", str(name).lower())
    found = [t for t in TOOLS if plain in (re.sub(r"[^a-z0-9]", "", t), re.sub(r"[^a-z0-9]", "", t.split(".")[1]))]
    return found[0] if len(found) == 1 else None


def arguments_of(tool, value):
    if isinstance(value, str):
        try:
            value = json.loads(value, strict=False)
        except ValueError:
            pass
    if isinstance(value, str) and len(TOOLS[tool]) == 1:
        value = {TOOLS[tool][0]: value.strip()}
    return {} if value in (None, "") else value


def langchain():
    from langchain_classic.agents import output_parsers as o
    from langchain_classic.agents.structured_chat.output_parser import StructuredChatOutputParser

    def reader(parser):
        def read(text):
            got = parser.parse(text)
            if hasattr(got, "return_values"):
                return None, got.return_values["output"]
            return (got.tool, got.tool_input), None
        return read
    return [reader(p()) for p in (o.ReActSingleInputOutputParser, o.ReActJsonSingleInputOutputParser, o.JSONAgentOutputParser, StructuredChatOutputParser, o.XMLAgentOutputParser)]


def smolagents():
    from smolagents.models import get_tool_call_from_text

    def reader(name, arguments):
        def read(text):
            got = get_tool_call_from_text(text, name, arguments).function
            if got.name in ("final_answer", "Final Answer", None):
                return None, got.arguments.get("answer") if isinstance(got.arguments, dict) else got.arguments
            return (got.name, got.arguments), None
        return read
    return [reader("name", "arguments"), reader("tool", "arguments"), reader("action", "action_input")]


def folder(package):
    return os.path.dirname(importlib.util.find_spec(package).origin)


def crewai():
    def module(name, **members):
        sys.modules[name] = m = types.ModuleType(name)
        m.__dict__.update(members)
    where = folder("crewai")
    i18n = types.SimpleNamespace(slice=lambda key: key, errors=lambda key: key)
    module("crewai", __path__=[])
    module("crewai.agents", __path__=[])
    module("crewai.utilities", __path__=[])
    module("crewai.utilities.i18n", I18N_DEFAULT=i18n)
    for name in ("constants", "parser"):
        spec = importlib.util.spec_from_file_location("crewai.agents." + name, os.path.join(where, "agents", name + ".py"))
        sys.modules[spec.name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[spec.name])
    parse = sys.modules["crewai.agents.parser"].parse

    def read(text):
        got = parse(text)
        return (None, got.output) if hasattr(got, "output") else ((got.tool, got.tool_input), None)
    return [read]


def qwen_agent():
    source = open(os.path.join(folder("qwen_agent"), "agents", "react_chat.py")).read()
    found = [f for c in ast.parse(source).body if isinstance(c, ast.ClassDef) for f in c.body if getattr(f, "name", "") == "_detect_tool"]
    scope = {"Tuple": tuple}
    exec("from typing import Tuple\n" + ast.unparse(found[0]), scope)

    def read(text):
        has, name, arguments, rest = scope["_detect_tool"](None, "\n" + text)
        return ((name, arguments), None) if has else (None, rest)
    return [read]


def effect(readers, text):
    """The call that would run, and the answer that would be shown."""
    said = None
    for read in readers:
        try:
            call, answer = read(text)
        except Exception:  # what a parser does not take
            continue
        tool = call and tool_of(call[0])
        if tool:
            return tool, arguments_of(tool, call[1]), None
        said = said or answer
    return None, None, said


def score(readers, replies):
    right, forbidden, kinds = 0, 0, {}
    for reply in replies:
        tool, args, answer = effect(readers, reply["text"])
        name, _, wanted = reply["runs"].partition(" ")
        if reply["runs"]:
            good = tool == name and args == json.loads(wanted)
        else:
            good = tool is None and (not reply["answer"] or (answer or "").strip() == reply["answer"])
        right += good
        forbidden += tool is not None and not good
        of = kinds.setdefault(reply["kind"], [0, 0])
        of[0] += good
        of[1] += 1
    return right, forbidden, kinds


def main():
    replies = json.load(open(sys.argv[1]))
    for name, make in (("LangChain", langchain), ("smolagents", smolagents), ("Qwen-Agent", qwen_agent), ("CrewAI", crewai)):
        right, forbidden, kinds = score(make(), replies)
        print(f"| {name} | {right} of {len(replies)} | {forbidden} | " + " | ".join(f"{kinds[k][0]} of {kinds[k][1]}" for k in ("call", "two", "answer", "none", "unknown", "half")) + " |")


main()
