"""litellm: chat completions, Responses and Messages, whole and streamed, calls and their results."""

import asyncio
import json
import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it fetches a list of prices

import litellm

from common import WEATHER, main

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1, "maximum": 16}},
    "required": ["city", "days"],
    "additionalProperties": False,
}
ABOUT = {"name": "get_weather", "description": "The weather of a city"}
CHAT = {"type": "function", "function": {**ABOUT, "parameters": SCHEMA}}
RESPONSES = {"type": "function", **ABOUT, "parameters": SCHEMA}
MESSAGES = {**ABOUT, "input_schema": SCHEMA}
PARIS = {"city": "Paris", "days": 3}


def at(base, model):
    return {"model": "openai/" + model, "api_base": base + "/v1", "api_key": "any", "max_retries": 0}


def chat_loop(base, model):
    said = [{"role": "user", "content": WEATHER}]
    m = litellm.completion(messages=said, tools=[CHAT], **at(base, model)).choices[0].message
    assert [json.loads(c.function.arguments) for c in m.tool_calls] == [PARIS], m
    said += [m.model_dump(), {"role": "tool", "tool_call_id": m.tool_calls[0].id, "content": "sunny"}]
    r = litellm.completion(messages=said, tools=[CHAT], **at(base, model))
    assert "sunny" in r.choices[0].message.content, r


def chat_stream(base, model):
    chunks = litellm.completion(messages=[{"role": "user", "content": WEATHER}], tools=[CHAT], stream=True, **at(base, model))
    whole = litellm.stream_chunk_builder(list(chunks)).choices[0]
    assert json.loads(whole.message.tool_calls[0].function.arguments) == PARIS and whole.finish_reason == "tool_calls", whole


def responses_loop(base, model):
    said = [{"role": "user", "content": WEATHER}]
    r = litellm.responses(input=said, tools=[RESPONSES], **at(base, model))
    calls = [o for o in r.output if o.type == "function_call"]
    assert [json.loads(o.arguments) for o in calls] == [PARIS], r
    said += [{"type": "function_call", "call_id": calls[0].call_id, "name": "get_weather", "arguments": calls[0].arguments}]
    said += [{"type": "function_call_output", "call_id": calls[0].call_id, "output": "sunny"}]
    r = litellm.responses(input=said, tools=[RESPONSES], **at(base, model))
    assert "sunny" in r.output_text, r


def responses_stream(base, model):
    events = list(litellm.responses(input=WEATHER, tools=[RESPONSES], stream=True, **at(base, model)))
    assert events[-1].type == "response.completed", events[-1]
    done = [e.item for e in events if e.type == "response.output_item.done" and e.item.type == "function_call"]
    assert [json.loads(c.arguments) for c in done] == [PARIS], done


def messages_loop(base, model):
    """Provider anthropic asks /v1/messages. Its streams need what only litellm's own proxy has installed."""
    asyncio.run(loop({"model": "anthropic/" + model, "api_base": base, "api_key": "any"}))


def messages_by_responses(base, model):
    """Provider openai has the same messages asked at /v1/responses."""
    asyncio.run(loop(at(base, model)))


async def loop(to):
    said = [{"role": "user", "content": WEATHER}]
    r = await litellm.anthropic.messages.acreate(messages=said, tools=[MESSAGES], max_tokens=500, **to)
    calls = [b for b in r["content"] if b["type"] == "tool_use"]
    assert [c["input"] for c in calls] == [PARIS] and r["stop_reason"] == "tool_use", r
    said += [{"role": "assistant", "content": r["content"]}]
    said += [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": calls[0]["id"], "content": "sunny"}]}]
    r = await litellm.anthropic.messages.acreate(messages=said, tools=[MESSAGES], max_tokens=500, **to)
    assert "sunny" in r["content"][0]["text"], r


main(chat_loop, chat_stream, responses_loop, responses_stream, messages_loop, messages_by_responses)
