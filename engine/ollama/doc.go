// Package ollama is the client of Ollama's native API. Each way to ask for a reply is a [chat.Source].
//
//	client.go      the client: ask for a reply, a rendering, a description
//	wire.go        the bodies of /api/chat and /api/generate
//	stream.go      the records of a reply; calls.go takes the server's own calls from them
//	tap.go         the text that the model wrote, from its tokens
//	complete.go, embed.go, unload.go   texts that go on, vectors, models that leave the memory
//	vocabulary.go  which marks are control tokens; version.go, host.go   what a server says of itself, where it is
//	forward.go, watched.go, passed.go  requests of Ollama's API that are passed on unread, and how their answers end
package ollama
