"""langchain-openai: messages, tools, and structured output in both of its methods."""

from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from common import ASK, WEATHER, City, is_rome, main


@tool
def get_weather(city: str, days: int) -> str:
    """The weather of a city."""
    return "sunny"


def llm(base, model):
    return ChatOpenAI(base_url=base + "/v1", api_key="any", model=model, max_retries=0)


def chat(base, model):
    assert "hello" in llm(base, model).invoke("hello").content


def stream(base, model):
    assert "hello" in "".join(c.content for c in llm(base, model).stream("hello"))


def loop(base, model):
    m, messages = llm(base, model).bind_tools([get_weather]), [HumanMessage(WEATHER)]
    for whole in (True, False):
        if whole:
            said = m.invoke(messages)
        else:
            said = None
            for piece in m.stream(messages):
                said = piece if said is None else said + piece
        assert [(c["name"], c["args"]) for c in said.tool_calls] == [("get_weather", {"city": "Paris", "days": 3})], said
    messages += [said] + [ToolMessage(get_weather.invoke(c["args"]), tool_call_id=c["id"]) for c in said.tool_calls]
    assert "sunny" in m.invoke(messages).content


def required(base, model):
    for choice in ("any", "City"):
        said = llm(base, model).bind_tools([get_weather, City], tool_choice=choice).invoke(ASK)
        assert len(said.tool_calls) == 1 and not said.invalid_tool_calls, said


def by_call(base, model):
    is_rome(llm(base, model).with_structured_output(City, method="function_calling").invoke(ASK))


def by_schema(base, model):
    is_rome(llm(base, model).with_structured_output(City, method="json_schema").invoke(ASK))


main(chat, stream, loop, required, by_call, by_schema)
