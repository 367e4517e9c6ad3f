// Package messages is the client form of Anthropic's Messages API, which Claude Code, the anthropic
// SDKs and everything built on them use.
//
//	messages.go  the API, how much of a call waits, counting tokens
//	request.go   the fields of a request
//	message.go   the messages: a turn becomes results, and a message after them
//	part.go      the parts of a content: text, images, documents, calls, results, thoughts
//	tools.go     the tools: which are offered, which wait to be referenced, which are left out; tool_choice
//	stream.go    the reply as events
//	block.go     how each event of a stream is spelled
//	whole.go     the reply in one piece
//
// # What a stream keeps to
//
// A reply is a list of content blocks, written as server-sent events, each with its event: line
// (without it Claude Code takes the stream for an empty one and asks again without streaming):
//
//		event: message_start        the message without content, and about how many tokens the prompt has
//		event: content_block_start  {"index":0,"content_block":{"type":"tool_use","id":"call_1","name":"f","input":{}}}
//		event: content_block_delta  {"index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\":1}"}}
//		event: content_block_stop   {"index":0}
//		event: message_delta        {"delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{…}}
//		event: message_stop
//
//	  - One block is open at a time; they count 0, 1, 2, …
//
//	  - The stop of a tool_use block is what executes it: Claude Code runs a stopped call even when an error follows. So the stop waits until the reply has ended, as does what the model writes after the call. If the call was cut, or an error comes after it, its block gets no stop.
//
//	  - The end of a reply that was cut inside a call is max_tokens, whatever the model server says.
//
//	  - A thinking block ends with a signature, which marks the thought as ours, so that we can read it when it comes back.
//
//	  - An error before the first byte is a status that says whether to try again; later it is an error event, and the stream
//	    ends there, without message_stop.
//
// # What a request may be
//
// docs/messages.md lists the fields: taken, left out, refused. Fields that ask for Anthropic's own
// service (metadata, context_management, cache_control, beta headers) pass unread.
package messages
