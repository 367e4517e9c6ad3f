// Package upstream speaks to model servers and yields their raw text (or their own calls) as a [chat.Source].
//
// [Ollama] is the client of Ollama's native API, [Pulse] watches its waits, and [Demo] is a stand-in for a server that
// speaks the same wire in process.
package upstream
