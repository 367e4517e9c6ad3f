"""The openai package, whole and streamed, by hand and with its helpers."""

import asyncio
import json

import openai
from openai import AsyncOpenAI, OpenAI

from common import ASK, WEATHER, City, is_rome, main

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1, "maximum": 16}},
            "required": ["city", "days"],
            "additionalProperties": False,
        },
        "strict": True,
    },
}


def client(base):
    return OpenAI(base_url=base + "/v1", api_key="any", max_retries=0)


def ask(text):
    return [{"role": "user", "content": text}]


def chat(base, model):
    r = client(base).chat.completions.create(model=model, messages=ask("hello"), seed=1, temperature=0)
    assert "hello" in r.choices[0].message.content and r.usage.completion_tokens > 0, r


def stream(base, model):
    text, usage = "", None
    for chunk in client(base).chat.completions.create(model=model, messages=ask("hello"), stream=True, stream_options={"include_usage": True}):
        usage = chunk.usage or usage
        text += "".join(c.delta.content or "" for c in chunk.choices)
    assert "hello" in text and usage.completion_tokens > 0, text


def loop(base, model):
    c, messages = client(base), ask(WEATHER)
    m = c.chat.completions.create(model=model, messages=messages, tools=[TOOL], parallel_tool_calls=True).choices[0].message
    assert json.loads(m.tool_calls[0].function.arguments) == {"city": "Paris", "days": 3}, m
    messages += [m, {"role": "tool", "tool_call_id": m.tool_calls[0].id, "content": "sunny"}]
    r = c.chat.completions.create(model=model, messages=messages, tools=[TOOL])
    assert "sunny" in r.choices[0].message.content and not r.choices[0].message.tool_calls, r


def streamed_call(base, model):
    with client(base).chat.completions.stream(model=model, messages=ask(WEATHER), tools=[TOOL]) as events:
        done = [e for e in events if e.type == "tool_calls.function.arguments.done"]
    assert [json.loads(e.arguments) for e in done] == [{"city": "Paris", "days": 3}], done


def required(base, model):
    for choice in ("required", {"type": "function", "function": {"name": "City"}}):
        r = client(base).chat.completions.create(model=model, messages=ask(ASK), tools=[TOOL, openai.pydantic_function_tool(City)], tool_choice=choice)
        calls = r.choices[0].message.tool_calls
        assert len(calls) == 1, r
        if isinstance(choice, dict):
            is_rome(City.model_validate_json(calls[0].function.arguments))


def structured(base, model):
    is_rome(client(base).chat.completions.parse(model=model, messages=ask(ASK), response_format=City).choices[0].message.parsed)


def structured_stream(base, model):
    with client(base).chat.completions.stream(model=model, messages=ask(ASK), response_format=City) as s:
        is_rome(s.get_final_completion().choices[0].message.parsed)


def several_at_once(base, model):
    async def replies():
        async with AsyncOpenAI(base_url=base + "/v1", api_key="any", max_retries=0) as c:
            return await asyncio.gather(*(c.chat.completions.create(model=model, messages=ask(WEATHER), tools=[TOOL], tool_choice="required") for _ in range(4)))

    assert [len(r.choices[0].message.tool_calls) for r in asyncio.run(replies())] == [1] * 4


main(chat, stream, loop, streamed_call, required, structured, structured_stream, several_at_once)
