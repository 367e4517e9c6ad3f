"""pydantic-ai: agents with tools, with an output by a call and by a schema, whole and streamed."""

import asyncio

from pydantic_ai import Agent, NativeOutput
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from common import ASK, WEATHER, City, is_rome, main


def agent(base, model, **more):
    return Agent(OpenAIChatModel(model, provider=OpenAIProvider(base_url=base + "/v1", api_key="any")), retries=0, **more)


def chat(base, model):
    assert "hello" in agent(base, model).run_sync("hello").output


def stream(base, model):
    async def run():
        async with agent(base, model).run_stream("hello") as r:
            return "".join([t async for t in r.stream_text(delta=True)])

    assert "hello" in asyncio.run(run())


def loop(base, model):
    a, seen = agent(base, model), []

    @a.tool_plain
    def get_weather(city: str, days: int) -> str:
        """The weather of a city."""
        seen.append((city, days))
        return "sunny"

    assert "sunny" in a.run_sync(WEATHER).output and seen == [("Paris", 3)], seen


def output_by_call(base, model):
    is_rome(agent(base, model, output_type=City).run_sync(ASK).output)


def output_by_schema(base, model):
    is_rome(agent(base, model, output_type=NativeOutput(City)).run_sync(ASK).output)


main(chat, stream, loop, output_by_call, output_by_schema)
