"""llama-index over both APIs: OpenAI's and Ollama's own."""

from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.llms.ollama import Ollama
from llama_index.llms.openai_like import OpenAILike

from common import ASK, WEATHER, City, is_rome, main


def get_weather(city: str, days: int) -> str:
    """The weather of a city."""
    return "sunny"


def both(base, model):
    yield OpenAILike(api_base=base + "/v1", api_key="any", model=model, is_chat_model=True, is_function_calling_model=True, max_retries=0)
    yield Ollama(base_url=base, model=model, request_timeout=60)


def chat(base, model):
    for llm in both(base, model):
        assert "hello" in llm.chat([ChatMessage("hello")]).message.content


def stream(base, model):
    for llm in both(base, model):
        assert "hello" in "".join(r.delta or "" for r in llm.stream_chat([ChatMessage("hello")]))


def loop(base, model):
    for llm in both(base, model):
        said = llm.predict_and_call([FunctionTool.from_defaults(get_weather)], WEATHER)
        assert str(said) == "sunny", said


def required(base, model):
    for llm in both(base, model):
        r = llm.chat_with_tools([FunctionTool.from_defaults(get_weather)], user_msg="Say anything.", tool_required=True)
        assert len(llm.get_tool_calls_from_response(r)) == 1, r


def structured(base, model):
    for llm in both(base, model):
        is_rome(llm.as_structured_llm(City).chat([ChatMessage(ASK)]).raw)


main(chat, stream, loop, required, structured)
