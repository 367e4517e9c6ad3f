"""A tool call with OpenAI's own library for Python: the call is shown while it streams, the tool runs, the model answers."""

import json
import os

from openai import OpenAI

client = OpenAI(base_url=os.environ.get("TOOLNORM_URL", "http://127.0.0.1:11435/v1"), api_key="any")
MODEL = os.environ.get("TOOLNORM_MODEL", "demo/hermes")  # demo models need no model server

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "Get the weather forecast of a city.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
                "required": ["city", "days"],
            },
        },
    }
]


def get_weather(city: str, days: int) -> str:
    return f"Sun over {city} for {days} days."


def stream(messages):
    """Prints a reply as it arrives, and returns it as the message that the next request repeats."""
    text, calls = "", []
    for chunk in client.chat.completions.create(model=MODEL, messages=messages, tools=TOOLS, stream=True):
        delta = chunk.choices[0].delta
        print(delta.content or "", end="", flush=True)
        text += delta.content or ""
        for piece in delta.tool_calls or []:
            if piece.id:  # the first piece of a call has its id and its name, the others more of its arguments
                calls.append({"id": piece.id, "type": "function", "function": {"name": piece.function.name, "arguments": ""}})
                print(f"\ncall: {piece.function.name} ", end="")
            calls[piece.index]["function"]["arguments"] += piece.function.arguments
            print(piece.function.arguments, end="", flush=True)
    print()
    return {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}


messages = [{"role": "user", "content": 'What will the weather be in "Lisbon" for the next 3 days?'}]
while True:
    reply = stream(messages)
    messages.append(reply)
    if "tool_calls" not in reply:
        break
    for call in reply["tool_calls"]:
        # toolnorm sends only calls that fit the tool's schema, so the arguments can be used as they are.
        result = get_weather(**json.loads(call["function"]["arguments"]))
        print("result:", result)
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
