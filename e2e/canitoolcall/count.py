"""Prints which fixtures are not right, and how many are. Fails when there are fewer than the least."""

import json
import sys

name, least = sys.argv[1], int(sys.argv[2])
with open(name, encoding="utf-8") as f:
    cases = json.load(f)["cases"]
right = 0
for case in cases:
    if case["status"] in ("pass", "soft_pass"):
        right += 1
        continue
    print(case["fixture_id"])
    for check in case["checks"]:
        if check["status"] in ("fail", "error"):
            print("  %s, %s: %s" % (check["check"], check["strategy"], (check["detail"] or "")[:300]))
            break
print("right: %d of %d, at least %d" % (right, len(cases), least))
sys.exit(right < least)
