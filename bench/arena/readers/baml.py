# arena: name = BAML
# arena: entry = parse_llm_response of baml-py, the schema-aligned parser, with a class for each tool
# arena: version = baml-py 0.226.3
# arena: pip = baml-py==0.226.3 pydantic==2.14.4 pydantic-core==2.50.5 typing-extensions==4.16.0 typing-inspection==0.4.5 annotated-types==0.8.0
import json
import types

import arena
import pydantic
from baml_py import BamlCtxManager, BamlRuntime

# It knows no marks: it finds JSON in text, of the shape of its classes. The members' names are the family's.
FAMILIES = {"hermes": "arguments", "generic": "arguments", "llama3": "parameters", "granite3": "arguments", "phi4": "arguments", "internlm": "parameters",
            "jamba": "arguments", "longcat": "arguments", "kimi-vl": "arguments", "hunyuan-a13b": "arguments", "xlam": "arguments"}


class Any_(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")


class Classes(types.ModuleType):
    """Has a class of any name."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        made = pydantic.create_model(name, __base__=Any_)
        setattr(self, name, made)
        return made


def type_of(schema, name, classes):
    kinds = schema.get("type", "string")
    if isinstance(kinds, list):
        return " | ".join(type_of({**schema, "type": k}, name, classes) for k in kinds)
    if "enum" in schema:
        return "(" + " | ".join(json.dumps(v) for v in schema["enum"]) + ")"
    if kinds == "array":
        return "(" + type_of(schema.get("items", {}), name + "Item", classes) + ")[]"
    if kinds == "object":
        if not schema.get("properties"):
            return "map<string, int | float | bool | string | string[]>"
        lines = []
        for key, value in schema["properties"].items():
            t = type_of(value, name + key.title().replace("_", ""), classes)
            # Some keys are words of its language, so all have another name inside.
            lines.append('  %s_ %s @alias("%s")' % (key, t if key in schema.get("required", []) else "(%s)?" % t, key))
        classes.append("class %s {\n%s\n}" % (name, "\n".join(lines)))
        return name
    return {"integer": "int", "number": "float", "boolean": "bool", "null": "null"}.get(kinds, "string")


runtimes = {}


def runtime(tools, member):
    key = member + json.dumps(tools)
    if key not in runtimes:
        classes, calls = [], []
        for n, t in enumerate(tools):
            f = t["function"]
            args = type_of({"properties": {}, **f["parameters"], "type": "object"}, "Args%d" % n, classes)
            classes.append('class Call%d {\n  name "%s"\n  %s %s\n}' % (n, f["name"], member, args))
            calls.append("Call%d" % n)
        source = "\n".join(classes) + '\nclient<llm> C {\n  provider openai\n  options {\n    model "m"\n    api_key "none"\n    base_url "http://127.0.0.1:9"\n  }\n}\n'
        source += 'function Read(x: string) -> (%s)[] {\n  client C\n  prompt #"{{ x }}{{ ctx.output_format }}"#\n}\n' % " | ".join(calls)
        r = BamlRuntime.from_files("/baml_src", {"main.baml": source}, {})
        runtimes[key] = r, BamlCtxManager(r)
    return runtimes[key]


def plain(v):
    if isinstance(v, pydantic.BaseModel):
        v = {**v.__dict__, **(v.__pydantic_extra__ or {})}
    if isinstance(v, dict):
        return {k.rstrip("_"): plain(x) for k, x in v.items() if x is not None or not k.endswith("_")}
    return [plain(x) for x in v] if isinstance(v, list) else v


def read(case):
    member = FAMILIES.get(case["format"])
    if member == "parameters" and '"arguments"' in case["text"]:
        member = "arguments"
    if not member or case.get("stream"):
        return None
    r, ctx = runtime(case["tools"], member)
    module = Classes("classes")
    got = r.parse_llm_response("Read", case["text"], module, module, module, False, ctx.get(), None, None, {})
    return [arena.call(c["name"], c.get(member) or {}) for c in plain(got)]


arena.run(read)
