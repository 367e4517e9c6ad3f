# arena: name = LiteLLM
# arena: entry = OllamaConfig.transform_response, which makes calls of the JSON that models without tools were asked for
# arena: version = litellm 1.106.2
# arena: pip = -r $ROOT/e2e/sdks/litellm.txt
import os

import arena

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it would fetch a list of prices

import httpx  # noqa: E402
import litellm  # noqa: E402
from litellm.llms.ollama.completion.transformation import OllamaConfig  # noqa: E402


class Words:
    """Counts tokens, which no call depends on."""

    def encode(self, text, **_):
        return text.split()


def read(case):
    if case["format"] != "generic" or case.get("stream"):
        return None
    answer = httpx.Response(200, json={"model": "m", "response": case["text"], "done": True, "prompt_eval_count": 1, "eval_count": 1})
    got = OllamaConfig().transform_response(
        model="m", raw_response=answer, model_response=litellm.ModelResponse(), logging_obj=None, request_data={"format": "json", "prompt": ""},
        messages=[], optional_params={}, litellm_params={}, encoding=Words(),
    )
    return [arena.call(c.function.name, c.function.arguments) for c in got.choices[0].message.tool_calls or []]


arena.run(read)
