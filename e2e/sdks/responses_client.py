"""/v1/responses by the openai package, langchain, pydantic-ai and instructor: whole and streamed, calls, replies gone on with."""

import asyncio
import json

import instructor
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from openai import OpenAI
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

from common import ASK, WEATHER, City, is_rome, main

TOOL = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather of a city",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1, "maximum": 16}},
        "required": ["city", "days"],
        "additionalProperties": False,
    },
    "strict": True,
}
PARIS = {"city": "Paris", "days": 3}


def client(base):
    return OpenAI(base_url=base + "/v1", api_key="any", max_retries=0)


def openai_text(base, model):
    r = client(base).responses.create(model=model, instructions="Be short.", input="hello", temperature=0)
    assert "hello" in r.output_text and r.status == "completed" and r.usage.total_tokens == r.usage.input_tokens + r.usage.output_tokens > 0, r


def openai_stream(base, model):
    with client(base).responses.stream(model=model, input="hello") as events:
        text = "".join(e.delta for e in events if e.type == "response.output_text.delta")
        final = events.get_final_response()
    assert "hello" in text and final.output_text == text, final


def openai_loop(base, model):
    c, said = client(base), [{"role": "user", "content": WEATHER}]
    r = c.responses.create(model=model, input=said, tools=[TOOL], store=False, include=["reasoning.encrypted_content"])
    calls = [o for o in r.output if o.type == "function_call"]
    assert [json.loads(o.arguments) for o in calls] == [PARIS] and calls[0].id != calls[0].call_id, r
    said += r.output + [{"type": "function_call_output", "call_id": calls[0].call_id, "output": "sunny"}]
    r = c.responses.create(model=model, input=said, tools=[TOOL], store=False)
    assert "sunny" in r.output_text, r


def openai_goes_on(base, model):
    c = client(base)
    with c.responses.stream(model=model, input=WEATHER, tools=[TOOL]) as events:
        done = [e for e in events if e.type == "response.function_call_arguments.done"]
        r = events.get_final_response()
    assert [json.loads(e.arguments) for e in done] == [PARIS], done
    call = next(o for o in r.output if o.type == "function_call")
    r = c.responses.create(model=model, previous_response_id=r.id, input=[{"type": "function_call_output", "call_id": call.call_id, "output": "sunny"}], tools=[TOOL])
    assert "sunny" in r.output_text, r
    assert c.responses.retrieve(r.id).output_text == r.output_text
    items = c.responses.input_items.list(r.id).data
    assert [i.type for i in items][:2] == ["function_call_output", "function_call"], items
    c.responses.delete(r.id)
    try:
        c.responses.retrieve(r.id)
        raise AssertionError("a reply that was deleted is still there")
    except Exception as e:
        assert getattr(e, "status_code", 0) == 404, e


def openai_custom(base, model):
    r = client(base).responses.create(model=model, input=ASK, tool_choice={"type": "custom", "name": "note"},
                                      tools=[{"type": "custom", "name": "note", "format": {"type": "grammar", "syntax": "regex", "definition": "[a-zA-Z ]+"}}])
    calls = [o for o in r.output if o.type == "custom_tool_call"]
    assert len(calls) == 1 and calls[0].name == "note" and calls[0].input.replace(" ", "").isalpha(), r


def openai_parse(base, model):
    is_rome(client(base).responses.parse(model=model, input=ASK, text_format=City).output_parsed)


@tool
def get_weather(city: str, days: int) -> str:
    """The weather of a city."""
    return "sunny"


def langchain_loop(base, model):
    llm = ChatOpenAI(base_url=base + "/v1", api_key="any", model=model, max_retries=0, use_responses_api=True)
    m, messages = llm.bind_tools([get_weather]), [HumanMessage(WEATHER)]
    for whole in (True, False):
        said = None
        for piece in [m.invoke(messages)] if whole else m.stream(messages):
            said = piece if said is None else said + piece
        assert [(c["name"], c["args"]) for c in said.tool_calls] == [("get_weather", PARIS)], said
    messages += [said] + [ToolMessage(get_weather.invoke(c["args"]), tool_call_id=c["id"]) for c in said.tool_calls]
    assert "sunny" in m.invoke(messages).text


def langchain_structured(base, model):
    llm = ChatOpenAI(base_url=base + "/v1", api_key="any", model=model, max_retries=0, use_responses_api=True)
    is_rome(llm.with_structured_output(City, method="function_calling").invoke(ASK))


def agent(base, model, **more):
    return Agent(OpenAIResponsesModel(model, provider=OpenAIProvider(base_url=base + "/v1", api_key="any")), retries=0, **more)


def pydantic_ai_loop(base, model):
    a, seen = agent(base, model), []

    @a.tool_plain
    def get_weather(city: str, days: int) -> str:
        """The weather of a city."""
        seen.append((city, days))
        return "sunny"

    async def streamed():
        async with a.run_stream(WEATHER) as r:
            return await r.get_output()

    assert "sunny" in a.run_sync(WEATHER).output and seen == [("Paris", 3)], seen
    assert asyncio.run(streamed()), seen


def pydantic_ai_output(base, model):
    is_rome(agent(base, model, output_type=City).run_sync(ASK).output)


def instructor_tools(base, model):
    c = instructor.from_openai(client(base), mode=instructor.Mode.RESPONSES_TOOLS)
    is_rome(c.responses.create(model=model, input=ASK, response_model=City, max_retries=0))


main(openai_text, openai_stream, openai_loop, openai_goes_on, openai_custom, openai_parse, langchain_loop, langchain_structured, pydantic_ai_loop, pydantic_ai_output, instructor_tools)
