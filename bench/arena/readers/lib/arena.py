"""What readers in Python share: the loop over lines, and modules that stand for what is not installed."""

import importlib.abc
import importlib.machinery
import json
import os
import sys
import types


def call(name, arguments):
    """Return a call as the arena takes it: arguments are JSON text or a value."""
    if not isinstance(arguments, str):
        arguments = json.dumps({} if arguments is None else arguments)
    return {"name": name, "arguments": arguments}


def run(read):
    """Answer each line of standard input by what read makes of it: a list of calls, a pair of it and what was sent, or None where the
    reader does not claim to read it. An exception is told as an error."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints is not an answer
    for line in sys.stdin:
        case = json.loads(line)
        answer = {"id": case["id"], "calls": []}
        try:
            got = read(case)
            if got is None:
                answer["skip"] = True
            elif isinstance(got, tuple):
                answer["calls"], answer["sent"] = got
            else:
                answer["calls"] = got
        except Exception as why:
            answer["error"] = "%s: %s" % (type(why).__name__, str(why)[:200])
        try:
            text = json.dumps(answer)
        except (TypeError, ValueError) as why:
            text = json.dumps({"id": case["id"], "calls": [], "error": str(why)})
        out.write(text + "\n")
        out.flush()


class _Any(type):
    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing

    def __getitem__(cls, key):
        return Nothing

    def __or__(cls, other):
        return Nothing

    __ror__ = __or__

    def __iter__(cls):
        return iter(())


class Nothing(metaclass=_Any):
    """Stands for whatever a module that is not installed would have."""

    def __init__(self, *args, **kwargs):
        pass

    @classmethod
    def __get_pydantic_core_schema__(cls, source, handler):
        from pydantic_core import core_schema

        return core_schema.any_schema()

    def __call__(self, *args, **kwargs):
        if len(args) == 1 and not kwargs and callable(args[0]):
            return args[0]  # a decorator
        return self

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Nothing()

    def __add__(self, other):
        return self

    __radd__ = __add__

    def __getitem__(self, key):
        return Nothing()

    def __or__(self, other):
        return Nothing

    __ror__ = __or__

    def __enter__(self):
        return self

    def __exit__(self, *why):
        return False


def _missing(attribute):
    if attribute.startswith("__"):
        raise AttributeError(attribute)
    return Nothing


class _Absent(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def __init__(self, names):
        self.names = names

    def find_spec(self, name, path=None, target=None):
        parts = name.split(".")
        if any(".".join(parts[:n]) in self.names for n in range(1, len(parts) + 1)):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__path__ = []
        module.__version__ = "9.9.9"

        module.__getattr__ = _missing
        return module

    def exec_module(self, module):
        pass


def absent(*names):
    """Let modules be imported that are not installed: none of what they hold does anything."""
    sys.meta_path.insert(0, _Absent(set(names)))


def package(name, lenient=False):
    """Make a package of its folder without running its own __init__, so that one part of it can be imported. A lenient one has whatever
    its __init__ would have brought."""
    path = name.split(".")
    for folder in sys.path:
        if os.path.isdir(os.path.join(folder, *path)):
            module = types.ModuleType(name)
            module.__path__ = [os.path.join(folder, *path)]
            if lenient:
                module.__getattr__ = _missing
            sys.modules[name] = module
            return module
    raise ImportError("no folder " + "/".join(path))
