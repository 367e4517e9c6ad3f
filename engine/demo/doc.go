// Package demo is a model server for a machine without models: it has Ollama's API, and writes
// calls of every family without a model.
//
//	server.go      the handler and its models; reply.go writes a reply in pieces; embed.go makes vectors
//	message.go     what the user asked, and the parts of it that may become arguments
//	answer.go      which tools are called, and the words around the calls; tools in the system prompt
//	fill.go, number.go, text.go   arguments that fit a tool's schema
package demo
