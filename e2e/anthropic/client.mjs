// The stock @anthropic-ai/sdk: node client.mjs PACKAGES BASE MODEL... runs every check against every model and tells the failures.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import path from 'node:path'

const [packages, base, ...models] = process.argv.slice(2)
const find = createRequire(path.join(path.resolve(packages), 'package.json'))
const { default: Anthropic } = await import(pathToFileURL(find.resolve('@anthropic-ai/sdk')))
const client = new Anthropic({ baseURL: base, apiKey: null, authToken: 'any', maxRetries: 0 })

const ask = (text) => [{ role: 'user', content: text }]
const tool = {
  name: 'get_weather',
  description: 'The weather of a city',
  input_schema: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } }, required: ['city', 'days'] },
}
const weather = 'What is the weather in Paris for 3 days?'

const checks = {
  async whole(model) {
    const r = await client.messages.create({ model, max_tokens: 500, messages: ask('hello') })
    assert.match(r.content[0].text, /hello/)
    assert.equal(r.stop_reason, 'end_turn')
    assert.ok(r._request_id.startsWith('msg_'))
  },
  async stream(model) {
    let text = ''
    const s = client.messages.stream({ model, max_tokens: 500, messages: ask('hello') }).on('text', (t) => { text += t })
    const final = await s.finalMessage()
    assert.equal(final.content[0].text, text)
    assert.ok(final.usage.output_tokens > 0)
  },
  // The call's arguments grow delta by delta, and the helper parses them as far as they have come.
  async calls(model) {
    const s = client.messages.stream({ model, max_tokens: 500, messages: ask(weather), tools: [tool] })
    const parts = []
    s.on('inputJson', (delta) => parts.push(delta))
    const first = await s.finalMessage()
    const call = first.content.find((b) => b.type === 'tool_use')
    assert.deepEqual(call.input, { city: 'Paris', days: 3 })
    assert.deepEqual(JSON.parse(parts.join('')), call.input)
    const result = { type: 'tool_result', tool_use_id: call.id, content: 'sunny' }
    const second = await client.messages.create({
      model, max_tokens: 500, tools: [tool], messages: [...ask(weather), { role: 'assistant', content: first.content }, { role: 'user', content: [result] }],
    })
    assert.match(second.content.at(-1).text, /sunny/)
  },
  async counted(model) {
    assert.ok((await client.messages.countTokens({ model, messages: ask('hello') })).input_tokens > 0)
  },
  async listed(model) {
    const ids = []
    for await (const m of client.models.list()) ids.push(m.id)
    assert.ok(ids.includes(model))
  },
  async refused(model) {
    await assert.rejects(client.messages.create({ model, max_tokens: 5, messages: [] }), (e) => e instanceof Anthropic.BadRequestError && e.error.error.type === 'invalid_request_error')
  },
}

let failed = 0
for (const model of models) {
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check(model)
    } catch (e) {
      failed++
      console.log(`--- ${model}, ${name}\n${e.stack}`)
    }
  }
}
console.log(`${models.length * Object.keys(checks).length} checks, ${failed} failed: ${Object.keys(checks).join(', ')}`)
