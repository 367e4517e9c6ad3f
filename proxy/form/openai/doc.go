// Package openai is the client form of OpenAI's own API, which many clients use: chat completions,
// the older completions, and embeddings.
//
//	openai.go    the APIs
//	request.go   the fields of a request
//	message.go   the messages
//	stream.go    the reply as chunks
//	whole.go     the reply in one piece
//	logprobs.go  probabilities of tokens, as OpenAI writes them
//	complete.go  the older completions: request and reply
//	embed.go     embeddings
//
// # What a stream keeps to
//
// The same strict stream works with every client that was tried. In it
//
//   - each chunk has id, object, created, model and choices, of which only the choices change, and no error, not even null;
//
//   - the role comes once, in the first delta, and content is null or absent beside tool_calls;
//
//   - calls come one after the other, with the index 0, 1, 2, …; id, type and the whole name are in the first fragment only, and
//     arguments are a text in every one;
//
//   - the fragments of a call make one JSON object, {} at least;
//
//   - text that a model writes after a call follows its last fragment, and is not lost;
//
//   - the reason is tool_calls if there was a call, in a chunk with an empty delta, and [DONE] is last;
//
//   - counts are in a chunk without choices, and only when they were asked for.
//
// A call of f looks like this:
//
//	data: {…,"choices":[{"index":0,"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"a\""}}]},"finish_reason":null}]}
//	data: {…,"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]},"finish_reason":null}]}
//	data: {…,"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}
//	data: [DONE]
//
// # What a request may be
//
// Input is read as sloppily as clients write it: old and new roles, contents in every shape,
// arguments as text or object. But a field that asks for what is not served is an error whose param
// names it: a reply without it would be a wrong one.
package openai
