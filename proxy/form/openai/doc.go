// Package openai is the client form of OpenAI's own API, and of all who speak it: chat completions, the older completions, and
// embeddings.
//
//	openai.go    the APIs, and how much of a call waits
//	request.go   the fields of a request
//	choice.go    tool_choice
//	message.go   the messages: contents, parts, images
//	stream.go    the reply as chunks
//	whole.go     the reply in one piece
//	logprobs.go  probabilities of tokens
//	complete.go  the older completions: request and reply
//	embed.go     embeddings
package openai
