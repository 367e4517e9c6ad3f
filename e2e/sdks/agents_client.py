"""openai-agents by its default way of asking, which is /v1/responses: tools, streams, handoffs and an output."""

import asyncio

from agents import Agent, OpenAIResponsesModel, Runner, function_tool, set_tracing_disabled
from openai import AsyncOpenAI

from common import ASK, WEATHER, City, is_rome, main

set_tracing_disabled(True)
seen = []
run = asyncio.new_event_loop().run_until_complete  # one loop: the SDK closes its connections later


@function_tool
def get_weather(city: str, days: int) -> str:
    """The weather of a city."""
    seen.append((city, days))
    return "sunny"


def agent(base, model, **more):
    return Agent(name="a", model=OpenAIResponsesModel(model, AsyncOpenAI(base_url=base + "/v1", api_key="any", max_retries=0)), **more)


def agents_loop(base, model):
    seen.clear()
    r = run(Runner.run(agent(base, model, instructions="Be short.", tools=[get_weather]), WEATHER))
    assert "sunny" in r.final_output and seen == [("Paris", 3)], (r.final_output, seen)


def agents_streamed(base, model):
    async def streamed():
        r = Runner.run_streamed(agent(base, model, tools=[get_weather]), WEATHER)
        kinds = [e.data.type async for e in r.stream_events() if e.type == "raw_response_event"]
        return r.final_output, kinds

    seen.clear()
    said, kinds = run(streamed())
    assert "sunny" in said and seen == [("Paris", 3)] and kinds.count("response.completed") == 2, (said, seen, kinds)


def agents_handoff(base, model):
    helper = agent(base, model, handoff_description="Knows everything")
    r = run(Runner.run(agent(base, model, handoffs=[helper]), "Call transfer_to_a."))
    assert r.final_output, r


def agents_output(base, model):
    is_rome(run(Runner.run(agent(base, model, output_type=City), ASK)).final_output)


main(agents_loop, agents_streamed, agents_handoff, agents_output)
