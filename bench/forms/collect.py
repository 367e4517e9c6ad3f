"""Collects schemas of real APIs and SDKs for package forms, with answers that fit them.

    collect.py FOLDER TARGET
    collect.py apart TARGET

FOLDER holds the unpacked npm packages of collect.sh; the Python packages are imported. "apart" collects the schemas
that only a real model is asked by, from packages of their own. The choice is by a hash, so it is the same each time. Answers are checked by the package jsonschema, which toolnorm does not use.
"""
import gzip, hashlib, importlib, inspect, json, pkgutil, random, re, sys
from pathlib import Path

import jsonschema, yaml
from pydantic import BaseModel, TypeAdapter

LONGEST = 6000  # bytes of a schema; larger ones are rare as the form of an answer
DROPPED = {"description", "title", "example", "examples", "discriminator", "xml", "externalDocs", "deprecated",
           "readOnly", "writeOnly", "contentMediaType", "markdownDescription", "defaultSnippets", "undefinedAsNull",
           "link", "tsType", "implements", "absolutePath", "cli"}
MAPS = {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}


def plain(node, is_schema=True):
    """Returns a schema without texts for people, and with OpenAPI's nullable as JSON Schema has it."""
    if isinstance(node, list):
        return [plain(n, is_schema) for n in node]
    if not isinstance(node, dict):
        return node
    if not is_schema:
        return {k: plain(v) for k, v in node.items()}
    out = {}
    for k, v in node.items():
        if k in DROPPED and not isinstance(v, (dict, list)) or k in {"example", "examples", "discriminator", "xml",
                "externalDocs"} or k.startswith("x-") or k == "nullable":
            continue
        if k in ("enum", "const", "default"):
            out[k] = v
        else:
            out[k] = plain(v, k not in MAPS)
    if node.get("nullable") is True:
        if isinstance(out.get("type"), str):
            out["type"] = [out["type"], "null"]
        if "enum" in out and None not in out["enum"]:
            out["enum"] = out["enum"] + [None]
        if "$ref" in out or "allOf" in out and "type" not in out:
            out = {"anyOf": [out, {"type": "null"}]}
    for bound, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if out.get(bound) is True and limit in out:
            out[bound] = out.pop(limit)
        elif isinstance(out.get(bound), bool):
            del out[bound]
    return out


def refs(node):
    """Lists the references of a schema."""
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for v in node.values():
            yield from refs(v)
    elif isinstance(node, list):
        for v in node:
            yield from refs(v)


def bundled(schema, everything, prefix, key):
    """Returns a schema with all that it refers to under key, or None when that is too much or not there."""
    found, todo = {}, [schema]
    while todo:
        for ref in refs(todo.pop()):
            name = ref.removeprefix(prefix)
            if name == ref or name not in everything:
                return None
            if name not in found:
                found[name] = everything[name]
                todo.append(everything[name])
        if len(found) > 25:
            return None
    text = json.dumps({**schema, **({key: found} if found else {})})
    return json.loads(text.replace(json.dumps(prefix)[:-1], json.dumps("#/" + key + "/")[:-1]))


def openapi(path):
    """Yields the schemas of an OpenAPI document: its components, and the bodies of its operations."""
    text = path.read_text()
    doc = json.loads(text) if path.suffix == ".json" else yaml.load(text, yaml.CSafeLoader)
    parts = {k: plain(v) for k, v in doc["components"]["schemas"].items()}
    for name, schema in parts.items():
        yield name, bundled(schema, parts, "#/components/schemas/", "$defs")
    for way, item in doc["paths"].items():
        for method, operation in item.items():
            if isinstance(operation, dict):
                content = operation.get("requestBody", {}).get("content", {})
                for body in content.values():
                    if "schema" in body:
                        yield f"{method} {way}", bundled(plain(body["schema"]), parts, "#/components/schemas/", "$defs")


def definitions(path):
    """Yields the definitions of a JSON Schema document."""
    doc = json.loads(path.read_text())
    parts = {k: plain(v) for k, v in doc.get("definitions", {}).items()}
    root = plain({k: v for k, v in doc.items() if k not in ("definitions", "$schema", "$id", "id")})
    for name, schema in [(path.stem, root), *parts.items()]:
        yield name, bundled(schema, parts, "#/definitions/", "definitions")


def models(package):
    """Yields the schemas of the pydantic models of a package, as an SDK sends them."""
    seen = set()
    top = importlib.import_module(package)
    names = [package] + [m.name for m in pkgutil.walk_packages(getattr(top, "__path__", []), package + ".")]
    for name in sorted(names):
        if any(p.startswith("_") or p == "tests" for p in name.split(".")[1:]):
            continue
        try:
            module = importlib.import_module(name)
        except Exception:
            continue
        for attribute, one in sorted(vars(module).items()):
            if inspect.isclass(one) and issubclass(one, BaseModel) and one not in seen and one.__module__.startswith(package):
                seen.add(one)
                try:
                    schema = plain(TypeAdapter(one).json_schema())
                except Exception:
                    continue
                yield attribute, schema


def text_of(pattern, r):
    """Returns a text that a pattern matches, or None."""
    try:
        from re import _parser as sre
        tree = sre.parse(pattern)
    except Exception:
        return None
    def one(op, value):
        op = str(op)
        if op == "LITERAL":
            return chr(value)
        if op == "NOT_LITERAL":
            return "x" if value != ord("x") else "y"
        if op == "ANY":
            return r.choice("abc1")
        if op == "IN":
            choices = []
            for kind, v in value:
                kind = str(kind)
                if kind == "LITERAL":
                    choices.append(chr(v))
                elif kind == "RANGE":
                    choices.append(chr(r.randint(*v)))
                elif kind == "CATEGORY":
                    choices.append({"CATEGORY_DIGIT": "7", "CATEGORY_SPACE": " "}.get(str(v), "w"))
                elif kind == "NEGATE":
                    return "k"
            return r.choice(choices)
        if op in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            low, high, inner = value
            return "".join(all_of(inner) for _ in range(min(int(high), max(low, r.randint(low, low + 3)))))
        if op == "SUBPATTERN":
            return all_of(value[3])
        if op == "BRANCH":
            return all_of(r.choice(value[1]))
        return ""
    def all_of(items):
        return "".join(one(op, v) for op, v in items)
    for _ in range(5):
        made = all_of(tree)
        if re.search(pattern, made):
            return made
    return None


WORDS = ["main", "Ann Lee", "say \"hi\"", "C:\\temp", "line one\nline two", "naïve café", "안녕", "a, b; {c}", "x <y> & z",
         "it's", "2 + 2 = 4", "[draft]", "# note", "100%", "// no comment"]
FORMATS = {"date-time": "2026-11-23T09:30:00Z", "date": "2026-11-23", "time": "09:30:00Z", "uri": "https://example.com/a?b=c",
           "url": "https://example.com", "email": "ann@example.com", "uuid": "3f2504e0-4f89-41d3-9a0c-0305e82c3301", "duration": "P3D",
           "ipv4": "192.0.2.7", "ipv6": "2001:db8::1", "hostname": "example.com", "regex": "^a+$", "uri-reference": "/a/b",
           "iri": "https://example.com/a", "json-pointer": "/a/b", "binary": "abc", "byte": "YWJj", "base64url": "YWJj", "uri-template": "/a/{b}"}


class Nothing(Exception):
    """No answer was found."""


class Maker:
    """Makes answers for one schema."""

    def __init__(self, root, r, most):
        self.root, self.r, self.most, self.left = root, r, most, 400

    def make(self, s, depth=0):
        self.left -= 1
        if s is False or depth > 12 or self.left < 0:
            raise Nothing
        if s is True or not s:
            return self.r.choice(["free", 3, True])
        if "$ref" in s:
            at = self.root
            for step in s["$ref"].split("/")[1:]:
                at = at[step.replace("~1", "/").replace("~0", "~").replace("%20", " ")]
            rest = {k: v for k, v in s.items() if k != "$ref"}
            return self.make({**at, **rest} if rest else at, depth + 1)
        if "const" in s:
            return s["const"]
        if "enum" in s:
            return self.r.choice(s["enum"])
        for word in ("oneOf", "anyOf"):
            if word in s:
                rest = {k: v for k, v in s.items() if k != word}
                return self.joined([rest, self.r.choice(s[word])], depth) if "properties" in rest else self.make(
                    {**{k: v for k, v in rest.items() if k not in ("type",)}, **self.resolved(self.r.choice(s[word]))}, depth + 1)
        if "allOf" in s:
            return self.joined([{k: v for k, v in s.items() if k != "allOf"}, *s["allOf"]], depth)
        return self.typed(s, depth)

    def resolved(self, s):
        while isinstance(s, dict) and "$ref" in s:
            at = self.root
            for step in s["$ref"].split("/")[1:]:
                at = at[step.replace("~1", "/").replace("~0", "~").replace("%20", " ")]
            s = at
        return s if isinstance(s, dict) else {}

    def joined(self, parts, depth):
        """Returns what all parts make together, when they make objects."""
        values = [self.make(p, depth + 1) for p in parts if p]
        objects = [v for v in values if isinstance(v, dict)]
        if len(objects) < len(values):
            return next(v for v in values if not isinstance(v, dict))
        out = {}
        for v in objects:
            out.update(v)
        return out

    def typed(self, s, depth):
        kind = s.get("type")
        if isinstance(kind, list):
            kind = self.r.choice(kind)
        if kind is None:
            kind = ("object" if "properties" in s or "additionalProperties" in s else "array" if "items" in s else
                    "number" if "minimum" in s else "string")
        if kind == "object":
            return self.object(s, depth)
        if kind == "array":
            if isinstance(s.get("items"), list):
                return [self.make(p, depth + 1) for p in s["items"]]
            fixed = [self.make(p, depth + 1) for p in s.get("prefixItems", [])]
            low = s.get("minItems", 0)
            n = min(s.get("maxItems", 9), max(low, self.r.randint(0, 2 if depth < 4 else 0)))
            all_of = fixed + [self.make(s.get("items", {"type": "string"}), depth + 1) for _ in range(n - len(fixed))]
            return list({json.dumps(v): v for v in all_of}.values()) if s.get("uniqueItems") else all_of
        if kind == "string":
            if "pattern" in s and s.get("format") not in FORMATS:
                made = text_of(s["pattern"], self.r)
                if made is None:
                    raise Nothing
                return made
            made = FORMATS.get(s.get("format")) or self.r.choice(WORDS)
            made += "x" * max(0, s.get("minLength", 0) - len(made))
            return made[:s.get("maxLength", 999)]
        if kind in ("integer", "number"):
            low, high = s.get("minimum", s.get("exclusiveMinimum", 0)), s.get("maximum", s.get("exclusiveMaximum"))
            n = self.r.choice([low, low + 1, low + 7]) + (1 if "exclusiveMinimum" in s else 0)
            if high is not None and n > high:
                n = low if "exclusiveMinimum" not in s else (low + high) / 2
            step = s.get("multipleOf")
            if step:
                n = -(-n // step) * step
            return n + (0.5 if kind == "number" and not step and (high is None or n + 0.5 <= high) and self.r.random() < 0.5 else 0)
        return {"boolean": self.r.random() < 0.5, "null": None}.get(kind)

    def object(self, s, depth):
        needed = set(s.get("required", []))
        out = {}
        for name, part in s.get("properties", {}).items():
            if name in needed or depth < 5 and self.r.random() < self.most:
                try:
                    before = self.left
                    out[name] = self.make(part, depth + 1)
                except Nothing:
                    if name in needed:
                        raise
                    self.left = before
        for name in needed - set(out):
            extra = s.get("additionalProperties", True)
            out[name] = self.make(extra if extra is not True else {"type": "string"}, depth + 1)
        extra = s.get("additionalProperties")
        if isinstance(extra, dict) and not s.get("properties") and depth < 5:
            out["some key"] = self.make(extra, depth + 1)
        return out


def answers(schema, seed):
    """Returns a short answer and a long one, or None when none was found."""
    check = jsonschema.Draft202012Validator(schema)
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError:
        return None
    found = []
    for most in (0.15, 0.8):
        for attempt in range(30):
            try:
                made = Maker(schema, random.Random(f"{seed} {most} {attempt}"), most).make(schema)
                if len(json.dumps(made)) < 4000 and check.is_valid(made):
                    found.append(made)
                    break
            except (Nothing, RecursionError, KeyError, TypeError, re.error, ValueError, StopIteration):
                continue
            except Exception:
                return None
    return found if len(found) == 2 else None


def shape(node):
    """Returns what is the same in two schemas that differ in names alone."""
    if isinstance(node, dict):
        return [(k if k not in MAPS else k, [shape(x) for x in v.values()] if k in MAPS and isinstance(v, dict) else
                 (k if k in ("enum", "const", "default", "required", "$ref") else shape(v))) for k, v in sorted(node.items())]
    return [shape(x) for x in node] if isinstance(node, list) else node


def apart():
    """Returns the sources of the schemas that are kept apart."""
    return [
        ("PyPI google-genai 3.4.0 (Apache-2.0)", 40, models("google.genai")),
        ("PyPI mistralai 3.7.0 (Apache-2.0)", 40, models("mistralai")),
        ("PyPI cohere 7.3.1 (MIT)", 40, models("cohere")),
        ("PyPI groq 1.7.0 (Apache-2.0)", 20, models("groq")),
    ]


def sources(folder):
    """Returns the sources of the schemas: a name, how many are taken, and names with schemas."""
    npm = lambda name: folder / name / "package"
    return [
        ("npm @octokit/openapi 23.0.2 (MIT)", 75, openapi(npm("octokit-openapi-23.0.2") / "generated/api.github.com.json")),
        ("npm @figma/rest-api-spec 0.43.0 (MIT)", 40, openapi(npm("figma-rest-api-spec-0.43.0") / "openapi/openapi.yaml")),
        ("npm vega-lite 6.5.0 (BSD-3-Clause)", 40, definitions(npm("vega-lite-6.5.0") / "build/vega-lite-schema.json")),
        ("npm @asyncapi/specs 6.11.1 (Apache-2.0)", 25, definitions(npm("asyncapi-specs-6.11.1") / "schemas/2.0.0-without-$id.json")),
        ("npm webpack 5.112.2 (MIT)", 40, (x for p in sorted((npm("webpack-5.112.2") / "schemas").rglob("*.json")) for x in definitions(p))),
        ("npm resume-schema 1.0.1 (MIT)", 5, definitions(npm("resume-schema-1.0.1") / "schema.json")),
        ("PyPI openai 3.3.0 (Apache-2.0)", 75, models("openai.types")),
        ("PyPI anthropic 2.12.0 (MIT)", 40, models("anthropic.types")),
        ("PyPI mcp-types 2.3.0 (MIT)", 30, models("mcp_types")),
    ]


def main(folder, target):
    out, seen = [], set()
    for source, most, found in apart() if folder == "apart" else sources(Path(folder)):
        candidates = [(n, s) for n, s in found if s and isinstance(s, dict) and 60 < len(json.dumps(s)) <= LONGEST]
        candidates.sort(key=lambda c: hashlib.sha256((source + c[0]).encode()).digest())
        taken = 0
        for name, schema in candidates:
            key = json.dumps(shape(schema), default=str)
            if taken == most or key in seen:
                continue
            both = answers(schema, name)
            if both is None:
                continue
            seen.add(key)
            taken += 1
            out.append({"source": source, "name": name, "schema": schema, "answers": both})
        print(f"{source}: {taken} of {len(candidates)}")
    text = "".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) + "\n" for one in out)
    target.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    print(f"{len(out)} schemas, {len(text)} bytes, {target.stat().st_size} compressed")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
