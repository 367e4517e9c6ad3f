// arena: name = jsonrepair
// arena: entry = jsonrepair, of the text of the arguments alone: it needs not find the call
// arena: version = jsonrepair 3.15.0 (npm)
// arena: npm = jsonrepair@3.15.0
import { createInterface } from "node:readline";
import { jsonrepair } from "jsonrepair";

for await (const line of createInterface({ input: process.stdin })) {
  const c = JSON.parse(line);
  const answer = { id: c.id, calls: [] };
  if (!c.alone) answer.skip = true;
  else {
    try {
      const value = JSON.parse(jsonrepair(c.alone.text));
      if (value && typeof value === "object" && !Array.isArray(value)) answer.calls.push({ name: c.alone.name, arguments: JSON.stringify(value) });
    } catch (why) {
      answer.error = String(why).slice(0, 200);
    }
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}
