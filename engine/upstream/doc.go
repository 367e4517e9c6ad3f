// Package upstream holds what all kinds of model server share: the [Order] that the engine gives
// them, the buffers that replies are read with, the faults that a server's refusals become, URLs,
// and a network in process.
//
// Its callers are engine/ollama and engine/openai; the waits for a server are in engine/wait.
//
//	order.go       what a server is asked for one generation, and the facts that are known of a model
//	client.go      the transport, requests and how their answers are read; a network of one server without sockets
//	conversation.go  the key by which a load balancer keeps a conversation at one server
//	document.go    answers that come whole: the one string that is wanted of them
//	records.go     lines of a stream, each parsed in place, the pool of their buffers, and the source that gives out their events
//	status.go      a status or an error object becomes a fault, and by how much a request was too long
//	url.go         the URL of a server, and which kind of server it is for
//	wire.go        tools, calls and tokens as both wires have them, and the name by which the user knows a tool that was renamed
package upstream
