// Package upstream holds what all kinds of model server share: the [Order] that the engine gives them, the buffers that replies
// are read with, the faults that a server's refusals become, URLs, and a network in process.
//
// Its callers are engine/ollama and engine/openai; the waits for a server are in engine/wait.
//
//	order.go       what a server is asked for one generation, and the facts that are known of a model
//	client.go      the transport, requests that a reply waits for, and the limits of what is read
//	stream.go      the source of a reply: events that were read are given out one by one
//	document.go    answers that come whole: the one string that is wanted of them
//	records.go     lines of a stream, each parsed in place, and the pool of their buffers
//	status.go      a status or an error object becomes a fault, and by how much a request was too long
//	probs.go       tokens with their probabilities, as both wires write them
//	url.go         the URL of a server, and which kind of server it is for
//	inprocess.go   a network of one server without sockets
//	wire.go        tools and calls as both wires have them, and the name by which the user knows a tool that was renamed
package upstream
