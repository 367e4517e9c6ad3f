// Package ollama speaks to Ollama by its native API. A [Backend] carries out the engine's orders, with a [Client] that knows the
// wire; each way to ask for a reply is a [chat.Source].
//
//	backend.go     orders: every strategy, texts that are written on, embeddings
//	probe.go       what a model can do, once a digest, and what its template prints
//	controls.go    which marks are control tokens, and which strategies show them
//	context.go     the context that a model is loaded with, and the one that it gets
//	request.go     an order as the body of /api/chat; think.go: how much the model is to think
//	prompt_json.go templates that print tools as Go structs
//	tokens.go      strategy tokens, and what follows where the server gives up
//	client.go      the client: ask for a reply, a rendering, a description
//	wire.go        the bodies of /api/chat and /api/generate
//	stream.go      the records of a reply; quick.go reads the plain ones by their quotes
//	tap.go         the text that the model wrote, from its tokens
//	text.go        texts that go on, vectors; unload.go: models that leave the memory
//	vocabulary.go  which marks are control tokens; version.go, host.go   what a server says of itself, where it is
//	passed.go      requests of Ollama's API that are passed on unread, and how their answers end
package ollama
