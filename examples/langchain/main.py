"""LangChain on a local model: a call by bind_tools, then an agent that runs its tools until it can answer."""

import os

from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

model = ChatOpenAI(
    base_url=os.environ.get("TOOLNORM_URL", "http://127.0.0.1:11435/v1"),
    api_key="any",
    model=os.environ.get("TOOLNORM_MODEL", "demo/hermes"),  # demo models need no model server
)


@tool
def get_weather(city: str, days: int) -> str:
    """Get the weather forecast of a city."""
    return f"Sun over {city} for {days} days."


QUESTION = 'What will the weather be in "Lisbon" for the next 3 days?'

# By hand: the model is offered the tool, and says which call it wants.
for call in model.bind_tools([get_weather]).invoke(QUESTION).tool_calls:
    print("call:", call["name"], call["args"])

# As an agent: LangChain runs the tool and asks again, until a reply holds no call.
agent = create_agent(model, [get_weather])
for message in agent.invoke({"messages": [{"role": "user", "content": QUESTION}]})["messages"]:
    print(f"{message.type}: {message.content.strip()}")
