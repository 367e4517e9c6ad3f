# arena: name = smolagents
# arena: entry = get_tool_call_from_text, with which Model.parse_tool_calls reads a reply
# arena: version = smolagents 1.26.0
# arena: pip = smolagents==1.26.0 Jinja2==3.1.6 MarkupSafe==3.0.4
import arena

arena.package("smolagents")
arena.absent("huggingface_hub", "requests", "rich", "PIL", "torch", "transformers")

from smolagents.models import get_tool_call_from_text, parse_json_if_needed  # noqa: E402

# Its models name the members "name" and "arguments" unless they are told otherwise, as its docs do for Llama's.
FAMILIES = {"hermes": "arguments", "generic": "arguments", "llama3": "parameters", "granite3": "arguments", "phi4": "arguments"}


def read(case):
    key = FAMILIES.get(case["format"])
    if not key or case.get("stream"):
        return None
    call = get_tool_call_from_text(case["text"], "name", key)
    return [arena.call(call.function.name, parse_json_if_needed(call.function.arguments))]


arena.run(read)
