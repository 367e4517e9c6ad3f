// Package responses is the client form of OpenAI's Responses API (POST /v1/responses), which Codex
// and the newer SDKs use.
//
//	server.go   the paths, and the replies that are kept for previous_response_id
//	store.go    where they are kept: bounded, and not for long
//	request.go  the fields of a request
//	input.go    the items of a conversation
//	tools.go    tools: functions, namespaces, custom ones, and what is left out
//	lark.go     a custom tool's grammar as a pattern
//	reply.go    events to items, streamed and whole
//	items.go    an item: its parts, its events, its JSON
//	object.go   the response object, usage, errors
//
// # What a stream keeps to
//
// A reply is a list of items: what the model thought, messages, calls. Each event has a line
// "event:", its type again in the data, and a sequence_number. An item is added, grows by deltas
// and is done:
//
//	event: response.output_item.added
//	data: {"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"type":"function_call","id":"fc_…","call_id":"call_…","name":"f","arguments":"",…}}
//	event: response.function_call_arguments.delta
//	data: {…,"item_id":"fc_…","output_index":0,"delta":"{\"a\":1}"}
//	event: response.output_item.done
//
// Clients run a call when its item is done, whatever comes after it: Codex runs it even when the
// stream breaks, and then asks again. So
//
//   - no call is done before the reply has ended well: what follows a complete call waits for the end, except keep-alives;
//
//   - an error after the first byte is response.failed, and a cut is response.incomplete; neither holds a call that could be run;
//
//   - one item is open at a time, and output_index, item ids and call ids never change.
//
// # What a request may be
//
// What is not served is refused with a 400 that names the field when a reply without it would be a
// wrong one, and left out, with the header Toolnorm-Left-Out, when the model can do without:
// docs/responses.md has the list.
package responses
