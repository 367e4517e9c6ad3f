// Package openai calls servers that imitate OpenAI's API: vLLM, llama-server, LM Studio, OpenAI
// itself. A [Backend] carries out the engine's orders, with a [Client] that knows the wire format.
//
//	backend.go     orders: strategies raw, native and prompt, completions, embeddings
//	probe.go       what a server and its model can do, and what its template prints
//	request.go     an order as the body of a request, and the wire's forms
//	grammar.go     llama-server only: constrains calls to their schemas while the model writes
//	client.go      the client: ask for a reply or a rendering, completions, gaps, embeddings; ask a server what it speaks
//	events.go      server-sent events as these servers really write them
//	stream.go      the source of a reply, and the contents of an event
//	calls.go       puts a server's own calls together
//	status.go      what errors mean
package openai
