// Package openai is the client of servers that imitate OpenAI's API: vLLM, llama-server, LM Studio, OpenAI itself.
//
//	client.go      the client: ask for a reply or a rendering; kind.go asks a server what it speaks
//	wire.go        the bodies of requests
//	events.go      server-sent events as these servers really write them
//	stream.go      the source of a reply; delta.go says what an event holds
//	calls.go       puts a server's own calls together
//	text.go, infill.go   completions, embeddings, gaps
//	status.go      what errors mean
package openai
