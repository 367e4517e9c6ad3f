# arena: name = LangChain
# arena: entry = JsonOutputParser, of the text of the arguments alone: it needs not find the call
# arena: version = langchain-core 1.8.4
# arena: pip = langchain-core==1.8.4 pydantic==2.14.4 pydantic-core==2.50.5 typing-extensions==4.16.0 typing-inspection==0.4.5 annotated-types==0.8.0 PyYAML==6.0.4 jsonpatch==1.33 jsonpointer==3.1.1 packaging==26.4
import arena

arena.absent("langsmith", "tenacity", "langchain_protocol", "uuid_utils", "httpx", "requests")

from langchain_core.output_parsers.json import JsonOutputParser  # noqa: E402


def read(case):
    alone = case.get("alone")
    if not alone:
        return None
    value = JsonOutputParser().parse(alone["text"])
    return [arena.call(alone["name"], value)] if isinstance(value, dict) else []


arena.run(read)
