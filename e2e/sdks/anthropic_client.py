"""The anthropic package, whole and streamed, by hand and with its helpers."""

import json

import anthropic
from anthropic import Anthropic

from common import ASK, WEATHER, City, is_rome, main

TOOL = {
    "name": "get_weather",
    "description": "The weather of a city",
    "input_schema": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1, "maximum": 16}},
        "required": ["city", "days"],
    },
}


def client(base):
    return Anthropic(base_url=base, api_key="any", max_retries=0)


def ask(text):
    return [{"role": "user", "content": text}]


def create(base, model):
    r = client(base).messages.create(model=model, max_tokens=500, system=[{"type": "text", "text": "Be kind."}], messages=ask("hello"))
    assert "hello" in r.content[0].text and r.stop_reason == "end_turn" and r.usage.output_tokens > 0 and r._request_id.startswith("msg_"), r


def stream(base, model):
    with client(base).messages.stream(model=model, max_tokens=500, messages=ask("hello")) as s:
        text = "".join(s.text_stream)
        final = s.get_final_message()
    assert "hello" in text and final.content[0].text == text and final.stop_reason == "end_turn", final


def events(base, model):
    names = [e.type for e in client(base).messages.create(model=model, max_tokens=500, messages=ask("hello"), stream=True)]
    assert names[0] == "message_start" and names[-2:] == ["message_delta", "message_stop"], names


def loop(base, model):
    c, messages = client(base), ask(WEATHER)
    for streamed in (False, True):
        if streamed:
            with c.messages.stream(model=model, max_tokens=500, messages=messages, tools=[TOOL]) as s:
                r = s.get_final_message()
        else:
            r = c.messages.create(model=model, max_tokens=500, messages=messages, tools=[TOOL])
        call = [b for b in r.content if b.type == "tool_use"][0]
        assert r.stop_reason == "tool_use" and call.name == "get_weather" and call.input == {"city": "Paris", "days": 3}, r
    answered = {"type": "tool_result", "tool_use_id": call.id, "content": [{"type": "text", "text": "sunny"}]}
    r = c.messages.create(model=model, max_tokens=500, tools=[TOOL], messages=messages + [{"role": "assistant", "content": r.content}, {"role": "user", "content": [answered]}])
    assert "sunny" in r.content[-1].text and r.stop_reason == "end_turn", r


def forced(base, model):
    tools = [TOOL, {"name": "City", "description": "A city.", "input_schema": City.model_json_schema()}]
    for choice in ({"type": "any"}, {"type": "tool", "name": "City"}):
        r = client(base).messages.create(model=model, max_tokens=500, messages=ask(ASK), tools=tools, tool_choice=choice)
        calls = [b for b in r.content if b.type == "tool_use"]
        assert len(calls) == 1, r
        if choice["type"] == "tool":
            is_rome(City.model_validate(calls[0].input))
    r = client(base).messages.create(model=model, max_tokens=500, messages=ask(WEATHER), tools=tools, tool_choice={"type": "none"})
    assert all(b.type == "text" for b in r.content), r


def stopped(base, model):
    r = client(base).messages.create(model=model, max_tokens=500, messages=ask("hello"), stop_sequences=["hel"])
    assert r.stop_reason == "stop_sequence" and r.stop_sequence == "hel" and "hel" not in json.dumps([b.to_dict() for b in r.content]), r


def cut(base, model):
    r = client(base).messages.create(model=model, max_tokens=2, messages=ask("hello"))
    assert r.stop_reason == "max_tokens", r


def counted(base, model):
    few = client(base).messages.count_tokens(model=model, messages=ask("hello")).input_tokens
    many = client(base).messages.count_tokens(model=model, messages=ask("hello " * 1000), tools=[TOOL]).input_tokens
    assert 0 < few < 100 and many > 500, (few, many)


def listed(base, model):
    assert model in [m.id for m in client(base).models.list().data]
    assert client(base).models.retrieve(model).display_name == model


def refused(base, model):
    try:
        client(base).messages.create(model="nobody/has-this", max_tokens=5, messages=ask("hello"))
    except anthropic.APIStatusError as e:
        assert e.body["type"] == "error" and e.body["error"]["message"], e.body
    else:
        raise AssertionError("an unknown model answers")
    try:
        client(base).messages.create(model=model, max_tokens=5, messages=[{"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "https://x/y.png"}}]}])
    except anthropic.BadRequestError as e:
        assert e.body["error"]["type"] == "invalid_request_error" and "images are not fetched" in e.message, e
    else:
        raise AssertionError("a picture of the network was taken")


main(create, stream, events, loop, forced, stopped, cut, counted, listed, refused)
