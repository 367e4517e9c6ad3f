# arena: name = partial-json-parser
# arena: entry = partial_json_parser.loads, of the text of the arguments alone: it needs not find the call
# arena: version = partial-json-parser 0.2.1.1.post7
# arena: pip = partial-json-parser==0.2.1.1.post7
import partial_json_parser

import arena


def read(case):
    alone = case.get("alone")
    if not alone:
        return None
    value = partial_json_parser.loads(alone["text"])
    return [arena.call(alone["name"], value)] if isinstance(value, dict) else []


arena.run(read)
