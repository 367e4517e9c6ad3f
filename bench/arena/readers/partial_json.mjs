// arena: name = partial-json
// arena: entry = parse, of the text of the arguments alone: it needs not find the call
// arena: version = partial-json 0.1.7 (npm)
// arena: npm = partial-json@0.1.7
import { createInterface } from "node:readline";
import { parse } from "partial-json";

for await (const line of createInterface({ input: process.stdin })) {
  const c = JSON.parse(line);
  const answer = { id: c.id, calls: [] };
  if (!c.alone) answer.skip = true;
  else {
    try {
      const value = parse(c.alone.text);
      if (value && typeof value === "object" && !Array.isArray(value)) answer.calls.push({ name: c.alone.name, arguments: JSON.stringify(value) });
    } catch (why) {
      answer.error = String(why).slice(0, 200);
    }
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
