// Package ollama calls Ollama through its native API. A [Backend] carries out the engine's orders,
// with a [Client] that knows the wire format; each way to ask for a reply is a [chat.Source].
//
//	backend.go     orders: every strategy, continuing texts, vectors
//	probe.go       what a model can do, probed once for each digest, and what its template prints
//	controls.go    which marks are control tokens, by the model's vocabulary, and which strategies show them
//	context.go     the context with which a model is loaded, and the context that it gets
//	request.go     an order as the body of /api/chat, and how much the model is to think
//	prompt_json.go templates that print tools as Go structs
//	tokens.go      strategy tokens, and the continuation when the server gives up
//	client.go      the client: ask for a reply, a rendering, a description, the memory that a model takes
//	wire.go        the bodies of /api/chat and /api/generate
//	stream.go      the records of a reply; plain records are read by their quotes
//	tap.go         the text that the model wrote, from its tokens
//	host.go        the address of a server, and what it says about itself
//	passed.go      requests of Ollama's API that are passed on unread, and how their answers end
package ollama
