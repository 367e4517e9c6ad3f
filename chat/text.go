package chat

import (
	"context"
	"encoding/json"
)

// Continuation is a text that a model continues: at its end, or in the gap before Suffix.
type Continuation struct {
	Prompt string // not empty
	Suffix string // what follows the gap; empty: nothing

	// Told are further members of Ollama's /api/generate (template, context, system, images): how
	// its server makes a prompt from Prompt. Empty: the model reads Prompt as it is.
	Told map[string]json.RawMessage
}

// Embedder turns texts into vectors whose distance says how alike the texts are.
type Embedder interface {
	// Embed gives one vector a text, in the order of the texts.
	Embed(ctx context.Context, r *EmbedRequest) (*Embeddings, error)
}

// EmbedRequest is what a client wants embedded. The zero value of each option means "the client did
// not say".
type EmbedRequest struct {
	Model      string
	Input      []string // at least one, none empty
	Dimensions int      // of each vector; 0: as many as the model has
	// texts that are too long are cut, instead of being an error
	Truncate bool
	// how long the server keeps the model loaded, in Ollama's words; empty: the server's choice
	KeepAlive json.RawMessage
	Options   map[string]json.RawMessage // options of the model server, passed on as they are
}

// Embeddings are the vectors of one request.
type Embeddings struct {
	Vectors [][]float32
	Tokens  int // in all texts together; 0 when the server does not count them
}
