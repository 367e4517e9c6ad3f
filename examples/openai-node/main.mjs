// A tool call with OpenAI's own library for Node: the call is shown while it streams, the tool runs, the model answers.
//
//	$ toolnorm &
//	$ npm install
//	$ node main.mjs
//	I will use get_weather for this.
//
//	call: get_weather {"city": "Lisbon", "days": 3}
//	result: Sun over Lisbon for 3 days.
//	The tool get_weather answered:
//
//	Sun over Lisbon for 3 days.
//
//	That is all I have to say.
import OpenAI from 'openai';

const baseURL = process.env.TOOLNORM_URL ?? 'http://127.0.0.1:11435/v1';
const model = process.env.TOOLNORM_MODEL ?? 'demo/hermes'; // demo models need no model server
const client = new OpenAI({ baseURL, apiKey: 'no key needed' });

const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Get the weather forecast of a city.',
    parameters: {
      type: 'object',
      required: ['city', 'days'],
      properties: { city: { type: 'string' }, days: { type: 'integer' } },
    },
    parse: JSON.parse,
    function: ({ city, days }) => {
      const result = `Sun over ${city} for ${days} days.`;
      console.log(`\nresult: ${result}`);
      return result;
    },
  },
};

// The library runs the tool, and asks again until the model answers without calling.
const runner = client.chat.completions.runTools({
  model,
  stream: true,
  messages: [{ role: 'user', content: 'What will the weather be in "Lisbon" for the next 3 days?' }],
  tools: [weather],
});
for await (const chunk of runner) {
  const delta = chunk.choices[0]?.delta ?? {};
  process.stdout.write(delta.content ?? '');
  for (const call of delta.tool_calls ?? []) {
    if (call.id) process.stdout.write(`\ncall: ${call.function.name} `);
    process.stdout.write(call.function.arguments);
  }
}
console.log();
