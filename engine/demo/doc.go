// Package demo is a model server for a bare machine: it speaks Ollama's wire and writes every
// family's calls without a model.
//
//	server.go      the handler and its models; reply.go writes a reply in pieces; embed.go makes vectors
//	message.go     what the user asked, and what of it an argument may want
//	answer.go      which tools are called, and the words around; tools that stand in the system prompt
//	fill.go, number.go, text.go   arguments that fit a tool's schema
package demo
