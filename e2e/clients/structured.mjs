// Structured output as each client for Node asks for it: node structured.mjs PACKAGES MORE BASE MODEL. PACKAGES holds the
// node_modules of this folder, MORE those of folder anthropic. It tells the failures.
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'

const [packages, more, base, model] = process.argv.slice(2)
const load = createRequire(packages + '/')
const { z } = load('zod/v4')
const Mayor = z.object({ name: z.string(), age: z.number().int() })
const City = z.object({ name: z.string(), population: z.number().int(), latitude: z.number(), mayor: Mayor })
const prompt = 'City "Rome" with 2873000 people at 41.9 degrees, mayor "Ann" aged 44'
const messages = [{ role: 'user', content: prompt }]
const schema = z.toJSONSchema(City)

const isRome = (city) => assert.deepEqual(City.parse(city), { name: 'Rome', population: 2873000, latitude: 41.9, mayor: { name: 'Ann', age: 44 } })

const OpenAI = load('openai-current').default
const openai = new OpenAI({ apiKey: 'none', baseURL: base + '/v1', maxRetries: 0 })
const { zodResponseFormat, zodTextFormat } = load('openai-current/helpers/zod')
const old = new (load('openai-4.96').default)({ apiKey: 'none', baseURL: base + '/v1', maxRetries: 0 })

const ai = load('ai')
const { createOpenAICompatible } = load('@ai-sdk/openai-compatible')
const provider = createOpenAICompatible({ name: 'local', baseURL: base + '/v1', apiKey: 'none', supportsStructuredOutputs: true })
const set = { model: provider(model), maxRetries: 0, prompt }

const { ChatOpenAI } = load('@langchain/openai')
const chat = new ChatOpenAI({ model, apiKey: 'none', configuration: { baseURL: base + '/v1' }, maxRetries: 0 })

const { Ollama } = load('ollama')
const ollama = new Ollama({ host: base })

const Anthropic = createRequire(more + '/')('@anthropic-ai/sdk').default
const anthropic = new Anthropic({ baseURL: base, apiKey: null, authToken: 'any', maxRetries: 0 })
const { jsonSchemaOutputFormat } = createRequire(more + '/')('@anthropic-ai/sdk/helpers/json-schema')

async function joined(parts, text) {
  let all = ''
  for await (const part of parts) all += text(part) ?? ''
  return JSON.parse(all)
}

const checks = {
  async openai_parse() {
    const r = await openai.chat.completions.parse({ model, messages, response_format: zodResponseFormat(City, 'city') })
    isRome(r.choices[0].message.parsed)
  },
  async openai_parse_stream() {
    const r = await openai.chat.completions.stream({ model, messages, response_format: zodResponseFormat(City, 'city') }).finalChatCompletion()
    isRome(r.choices[0].message.parsed)
  },
  async openai_responses_parse() {
    isRome((await openai.responses.parse({ model, input: prompt, text: { format: zodTextFormat(City, 'city') } })).output_parsed)
  },
  async openai_responses_stream() {
    isRome((await openai.responses.stream({ model, input: prompt, text: { format: zodTextFormat(City, 'city') } }).finalResponse()).output_parsed)
  },
  async openai_old() {
    const response_format = { type: 'json_schema', json_schema: { name: 'city', strict: true, schema } }
    isRome(JSON.parse((await old.chat.completions.create({ model, messages, response_format })).choices[0].message.content))
  },
  async vercel_generateObject() { isRome((await ai.generateObject({ ...set, schema: City })).object) },
  async vercel_streamObject() {
    const r = ai.streamObject({ ...set, schema: City })
    for await (const _ of r.partialObjectStream);
    isRome(await r.object)
  },
  async vercel_generateText() { isRome((await ai.generateText({ ...set, output: ai.Output.object({ schema: City }) })).output) },
  async langchain_jsonSchema() { isRome(await chat.withStructuredOutput(City, { method: 'jsonSchema' }).invoke(prompt)) },
  async ollama_chat() { isRome(JSON.parse((await ollama.chat({ model, messages, format: schema })).message.content)) },
  async ollama_stream() { isRome(await joined(await ollama.chat({ model, messages, format: schema, stream: true }), (p) => p.message.content)) },
  async anthropic_parse() {
    const format = jsonSchemaOutputFormat({ ...schema, additionalProperties: false })
    isRome((await anthropic.messages.parse({ model, max_tokens: 500, messages, output_config: { format } })).parsed_output)
  },
  async anthropic_stream() {
    const output_config = { format: { type: 'json_schema', schema } }
    const r = await anthropic.messages.stream({ model, max_tokens: 500, messages, output_config }).finalMessage()
    isRome(JSON.parse(r.content[0].text))
  },
}

let failed = 0
for (const [name, check] of Object.entries(checks)) {
  try {
    await check()
  } catch (e) {
    failed++
    console.log(`--- ${name}\n${e.stack ?? e}`)
  }
}
console.log(`${Object.keys(checks).length} checks, ${failed} failed: ${Object.keys(checks).join(', ')}`)
process.exit(failed > 0 ? 1 : 0)
