"""Structured output as each client asks for it: python structured_client.py BASE MODEL. What is not installed is left out."""

import asyncio
import importlib.util
import json

from common import ASK, City, is_rome, main

MESSAGES = [{"role": "user", "content": ASK}]
SCHEMA = City.model_json_schema()
run = asyncio.new_event_loop().run_until_complete  # one loop: the clients close their connections later


def has(package):
    return importlib.util.find_spec(package) is not None


def read(text):
    is_rome(City.model_validate(json.loads(text), strict=True))


def openai_client(base):
    from openai import OpenAI

    return OpenAI(base_url=base + "/v1", api_key="any", max_retries=0)


def strict():
    from openai.lib._pydantic import to_strict_json_schema

    return {"type": "json_schema", "json_schema": {"name": "city", "strict": True, "schema": to_strict_json_schema(City)}}


def openai_parse(base, model):
    r = openai_client(base).chat.completions.parse(model=model, messages=MESSAGES, response_format=City)
    is_rome(r.choices[0].message.parsed)


def openai_parse_stream(base, model):
    with openai_client(base).chat.completions.stream(model=model, messages=MESSAGES, response_format=City) as s:
        is_rome(s.get_final_completion().choices[0].message.parsed)


def openai_create(base, model):
    read(openai_client(base).chat.completions.create(model=model, messages=MESSAGES, response_format=strict()).choices[0].message.content)


def openai_create_stream(base, model):
    chunks = openai_client(base).chat.completions.create(model=model, messages=MESSAGES, response_format=strict(), stream=True)
    read("".join(c.choices[0].delta.content or "" for c in chunks if c.choices))


def openai_json_object(base, model):
    r = openai_client(base).chat.completions.create(model=model, messages=MESSAGES, response_format={"type": "json_object"})
    is_rome(City.model_validate_json(r.choices[0].message.content))


def responses_parse(base, model):
    is_rome(openai_client(base).responses.parse(model=model, input=ASK, text_format=City).output_parsed)


def responses_stream(base, model):
    with openai_client(base).responses.stream(model=model, input=ASK, text_format=City) as s:
        is_rome(s.get_final_response().output_parsed)


def instructor_json_schema(base, model):
    import instructor

    c = instructor.from_openai(openai_client(base), mode=instructor.Mode.JSON_SCHEMA)
    is_rome(c.chat.completions.create(model=model, messages=MESSAGES, response_model=City, max_retries=0))


def instructor_partial(base, model):
    import instructor

    c = instructor.from_openai(openai_client(base), mode=instructor.Mode.JSON_SCHEMA)
    last = None
    for last in c.chat.completions.create_partial(model=model, messages=MESSAGES, response_model=City):
        pass
    is_rome(last)


def pydantic_ai_model(base, model, responses=False):
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    kind = OpenAIResponsesModel if responses else OpenAIChatModel
    return kind(model, provider=OpenAIProvider(base_url=base + "/v1", api_key="any"))


def pydantic_ai_native(base, model):
    from pydantic_ai import Agent, NativeOutput

    is_rome(run(Agent(pydantic_ai_model(base, model), output_type=NativeOutput(City), retries=0).run(ASK)).output)


def pydantic_ai_native_stream(base, model):
    from pydantic_ai import Agent, NativeOutput

    async def streamed():
        async with Agent(pydantic_ai_model(base, model), output_type=NativeOutput(City), retries=0).run_stream(ASK) as r:
            return await r.get_output()

    is_rome(run(streamed()))


def pydantic_ai_prompted(base, model):
    from pydantic_ai import Agent, PromptedOutput

    is_rome(run(Agent(pydantic_ai_model(base, model), output_type=PromptedOutput(City), retries=0).run(ASK)).output)


def pydantic_ai_responses(base, model):
    from pydantic_ai import Agent, NativeOutput

    is_rome(run(Agent(pydantic_ai_model(base, model, True), output_type=NativeOutput(City), retries=0).run(ASK)).output)


def langchain_model(base, model, **more):
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(base_url=base + "/v1", api_key="any", model=model, max_retries=0, **more)


def langchain_json_schema(base, model):
    is_rome(langchain_model(base, model).with_structured_output(City, method="json_schema").invoke(ASK))


def langchain_json_mode(base, model):
    is_rome(langchain_model(base, model).with_structured_output(City, method="json_mode").invoke(ASK))


def langchain_responses(base, model):
    is_rome(langchain_model(base, model, use_responses_api=True).with_structured_output(City, method="json_schema", strict=True).invoke(ASK))


def langchain_stream(base, model):
    last = None
    for last in langchain_model(base, model).with_structured_output(City, method="json_schema").stream(ASK):
        pass
    is_rome(last)


def langchain_agent(base, model):
    from langchain.agents import create_agent
    from langchain.agents.structured_output import ProviderStrategy

    agent = create_agent(langchain_model(base, model), [], response_format=ProviderStrategy(City))
    is_rome(agent.invoke({"messages": MESSAGES})["structured_response"])


def agents_run(base, model, kind, stream=False):
    import agents
    from openai import AsyncOpenAI

    agents.set_tracing_disabled(True)
    agent = agents.Agent(name="a", model=getattr(agents, kind)(model, AsyncOpenAI(base_url=base + "/v1", api_key="any", max_retries=0)), output_type=City)

    async def streamed():
        r = agents.Runner.run_streamed(agent, ASK)
        async for _ in r.stream_events():
            pass
        return r

    is_rome(run(streamed() if stream else agents.Runner.run(agent, ASK)).final_output)


def agents_responses(base, model):
    agents_run(base, model, "OpenAIResponsesModel")


def agents_chat(base, model):
    agents_run(base, model, "OpenAIChatCompletionsModel")


def agents_stream(base, model):
    agents_run(base, model, "OpenAIResponsesModel", True)


def anthropic_client(base):
    from anthropic import Anthropic

    return Anthropic(base_url=base, api_key="any", max_retries=0)


def anthropic_parse(base, model):
    is_rome(anthropic_client(base).messages.parse(model=model, max_tokens=500, messages=MESSAGES, output_format=City).parsed_output)


def anthropic_create(base, model):
    form = {"format": {"type": "json_schema", "schema": SCHEMA}}
    read(anthropic_client(base).messages.create(model=model, max_tokens=500, messages=MESSAGES, output_config=form).content[0].text)


def anthropic_stream(base, model):
    with anthropic_client(base).messages.stream(model=model, max_tokens=500, messages=MESSAGES, output_format=City) as s:
        is_rome(s.get_final_message().parsed_output)


def ollama_chat(base, model):
    from ollama import Client

    read(Client(host=base).chat(model=model, messages=MESSAGES, format=SCHEMA).message.content)


def ollama_stream(base, model):
    from ollama import Client

    read("".join(p.message.content or "" for p in Client(host=base).chat(model=model, messages=MESSAGES, format=SCHEMA, stream=True)))


def ollama_async(base, model):
    from ollama import AsyncClient

    read(run(AsyncClient(host=base).chat(model=model, messages=MESSAGES, format=SCHEMA)).message.content)


def llama_index_ollama(base, model):
    from llama_index.core.llms import ChatMessage
    from llama_index.llms.ollama import Ollama

    llm = Ollama(base_url=base, model=model, request_timeout=60, is_function_calling_model=False)
    is_rome(llm.as_structured_llm(City).chat([ChatMessage(ASK)]).raw)


ALL = {
    "openai": [openai_parse, openai_parse_stream, openai_create, openai_create_stream, openai_json_object, responses_parse, responses_stream],
    "instructor": [instructor_json_schema, instructor_partial],
    "pydantic_ai": [pydantic_ai_native, pydantic_ai_native_stream, pydantic_ai_prompted, pydantic_ai_responses],
    "langchain": [langchain_json_schema, langchain_json_mode, langchain_responses, langchain_stream, langchain_agent],
    "agents": [agents_responses, agents_chat, agents_stream],
    "anthropic": [anthropic_parse, anthropic_create, anthropic_stream],
    "ollama": [ollama_chat, ollama_stream, ollama_async],
    "llama_index": [llama_index_ollama],
}
main(*[check for package, checks in ALL.items() if has(package) for check in checks])
