"""python check_aider.py FILE: reads a settings file with Aider's own options, each that it does not know being a failure."""

import sys
from types import ModuleType

import aider

# The options name the ways to edit, whose modules need 100 MB of libraries; no setting of ours is one of these.
aider.coders = sys.modules["aider.coders"] = ModuleType("aider.coders")
aider.coders.__all__ = []

from aider.args import get_parser  # noqa: E402

args = get_parser([sys.argv[1]], None).parse_args([])
print(args.openai_api_base, args.model, args.openai_api_key)
