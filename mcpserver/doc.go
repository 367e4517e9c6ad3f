// Package mcpserver serves a tools.Registry to MCP clients over legacy SSE, Streamable HTTP and
// stdio, every revision of the protocol on the same addresses.
//
// # Terminology
//
// A caller is the sender of a request, with all that is known of it: revision, client, session. A
// session is what a 2024-11-05 stream or an initialize of 2025 began; revision 2026-07-28 has none.
// A frame is one JSON-RPC message on its way out, an outbox the frames that wait for one stream. A
// conn is a session whose answers all go to one stream.
//
// # Files
//
// Messages that come in:
//
//	message.go   one JSON-RPC message or error, in and out
//	declared.go  what clients declare about themselves, where it is odd
//	revision.go  which revision of the protocol a request counts by, and what its headers must repeat
//
// How they are answered, independent of HTTP:
//
//	engine.go    who answers a message; requests in flight and how they are cancelled
//	list.go      tools/list, written once for each state of the registry
//	call.go      tools/call: progress, log lines and results
//	tasks.go     calls that go on after their answer, as tasks
//	objects.go   structured results as revisions before 2026-07-28 want them
//	ask.go       questions to the client, within one call or over several rounds of it
//	gateway.go   what other MCP servers offer, through package remote
//	bridge.go    everything else: mcp-go's server behind ours
//	session.go   sessions, those that are remembered, and those that were ended
//	seal.go      session ids and states that the client carries, signed
//	queue.go     messages of many conns, handed to workers fairly
//
// What goes out, and to whom:
//
//	outbox.go    frames that wait for a stream, and the stream
//	hub.go       who is told that something has changed
//	records.go   streams that a client can take up again where they broke
//	elsewhere.go the same where another replica writes them
//	others.go what clients say to the wrong replica
//
// The faces:
//
//	server.go      settings and paths
//	streamable.go  Streamable HTTP: POST, GET, DELETE
//	toolset.go     the same at the address of one set of tools
//	answer.go      the answer to a POST: JSON, or a stream when something is to be said before
//	listen.go      streams that stay open for changes
//	sse.go         legacy SSE
//	stdio.go       standard input and output
//	rate.go        how often one caller may call
//
// # Specifications
//
// Model Context Protocol, revisions 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 and 2026-07-28;
// JSON-RPC 2.0.
package mcpserver
