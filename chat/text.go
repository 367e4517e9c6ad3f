package chat

import (
	"context"
	"encoding/json"
)

// Continuation is a text that a model continues, at its end or in the gap before Suffix.
type Continuation struct {
	Prompt string // not empty
	Suffix string // the text after the gap; empty if there is none

	// Told has further members of Ollama's /api/generate (template, context, system, images), which
	// say how its server makes a prompt from Prompt. If it is empty, the model reads Prompt
	// unchanged.
	Told map[string]json.RawMessage
}

// Embedder turns texts into vectors whose distance says how similar the texts are.
type Embedder interface {
	// Embed returns one vector for each text, in the order of the texts.
	Embed(ctx context.Context, r *EmbedRequest) (*Embeddings, error)
}

// EmbedRequest is a client's request to embed texts. The zero value of each option means "the
// client did not say".
type EmbedRequest struct {
	Model      string
	Input      []string // at least one, none empty
	Dimensions int      // of each vector; 0 for as many as the model has
	// Truncate means that texts that are too long are cut, instead of being an error.
	Truncate bool
	// KeepAlive is how long the server keeps the model loaded, in Ollama's notation. If it is
	// empty, the server chooses.
	KeepAlive json.RawMessage
	Options   map[string]json.RawMessage // options of the model server, passed on unchanged
}

// Embeddings are the vectors of one request.
type Embeddings struct {
	Vectors [][]float32
	Tokens  int // in all texts together; 0 if the server does not count them
}
