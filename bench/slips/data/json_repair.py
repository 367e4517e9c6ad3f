# Reads a JSON string a line, repairs the text in it, and answers a line with the value as JSON; null where it fails.
import json
import sys

import json_repair

for line in sys.stdin:
    try:
        answer = json.dumps(json_repair.loads(json.loads(line)))
    except Exception:
        answer = "null"
    print(answer, flush=True)
