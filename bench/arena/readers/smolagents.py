# arena: name = smolagents
# arena: entry = get_tool_call_from_text, with which Model.parse_tool_calls reads a reply
# arena: version = smolagents 1.26.0
# arena: pip = smolagents==1.26.0 Jinja2==3.1.6 MarkupSafe==3.0.4
import arena

arena.package("smolagents")
arena.absent("huggingface_hub", "requests", "rich", "PIL", "torch", "transformers")

from smolagents.models import get_tool_call_from_text, parse_json_if_needed  # noqa: E402

# Its models name the members "name" and "arguments" unless they are told otherwise; here they are told what the text has.
FAMILIES = ("hermes", "generic", "llama3", "granite3", "phi4")


def read(case):
    if case["format"] not in FAMILIES or case.get("stream"):
        return None
    key = "parameters" if '"parameters"' in case["text"] else "arguments"
    call = get_tool_call_from_text(case["text"], "name", key)
    return [arena.call(call.function.name, parse_json_if_needed(call.function.arguments))]


arena.run(read)
