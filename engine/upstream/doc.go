// Package upstream speaks to model servers and yields their raw text (or their own calls) as a [chat.Source].
//
// [Ollama] is the client of Ollama's native API, [OpenAI] that of servers which imitate OpenAI's. [Pulse] watches the
// waits, and [Demo] is a stand-in for a server that speaks Ollama's wire in process.
package upstream
