# arena: name = json_repair
# arena: entry = json_repair.loads, of the text of the arguments alone: it needs not find the call
# arena: version = json_repair 0.64.6
# arena: pip = json_repair==0.64.6
import json_repair

import arena


def read(case):
    alone = case.get("alone")
    if not alone:
        return None
    value = json_repair.loads(alone["text"])
    return [arena.call(alone["name"], value)] if isinstance(value, dict) else []


arena.run(read)
