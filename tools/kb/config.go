package kb

import (
	"time"

	"toolnorm/internal/embedding"
	"toolnorm/internal/rerank"
	"toolnorm/tools/kb/retrieval"
)

// Config contains the settings of the knowledge base tools. The command line reads the fields'
// tags. The model that makes vectors is the same as for the data tools (text-embedding-model-url
// and its name).
type Config struct {
	Tools string `name:"kb-tools" default:"auto" enum:"auto,always,never" env:"TOOLNORM_KB_TOOLS" restart:"yes" help:"Offer the knowledge base tools (search, summary, OCR text): always, never, or auto: only if there is a knowledge base or one of their settings is present."`

	SearchURL     string `name:"kb-search-url" placeholder:"URL" env:"TOOLNORM_KB_SEARCH_URL" restart:"yes" help:"External search service to use instead of toolnorm's own search. It receives the caller's token. Example: http://api-admin:8003/admin/search/hybrid. Default: none."`
	Small         int    `name:"kb-small-vectors-from" default:"200000" env:"TOOLNORM_KB_SMALL_VECTORS_FROM" restart:"yes" help:"A knowledge base with more vectors than this keeps them in memory as bytes, a quarter of the size, and reads the full vectors of the best matches from the database."`
	QueryPrefix   string `name:"kb-query-prefix" default:"auto" env:"TOOLNORM_KB_QUERY_PREFIX" restart:"yes" help:"Text that the embedding model wants in front of questions, e.g. 'query: '. auto knows E5, nomic-embed-text, mxbai-embed, embeddinggemma, qwen3-embedding, snowflake-arctic-embed and bge by name, and uses none for others; none uses none."`
	PassagePrefix string `name:"kb-passage-prefix" default:"auto" env:"TOOLNORM_KB_PASSAGE_PREFIX" restart:"yes" help:"The same for passages, e.g. 'passage: '. After a change, import the documents again."`

	RerankURL   string        `name:"kb-rerank-url" placeholder:"URL" env:"TOOLNORM_KB_RERANK_URL" restart:"yes" help:"Rerank server: the full URL, e.g. http://localhost:8080/v1/rerank for llama-server --reranking. Default: none; searches skip the rerank stage."`
	RerankModel string        `name:"kb-rerank-model" placeholder:"NAME" env:"TOOLNORM_KB_RERANK_MODEL" restart:"yes" help:"Rerank model, e.g. bge-reranker-v2-m3."`
	RerankKey   string        `name:"kb-rerank-key" placeholder:"KEY" env:"TOOLNORM_KB_RERANK_KEY" restart:"yes" help:"API key for the rerank server. Better set in the environment."`
	RerankForm  string        `name:"kb-rerank-form" default:"cohere" enum:"cohere,tei" env:"TOOLNORM_KB_RERANK_FORM" restart:"yes" help:"API of the rerank server: cohere (llama-server, vLLM, Jina, LiteLLM) or tei (Hugging Face text-embeddings-inference)."`
	RerankTime  time.Duration `name:"kb-rerank-time" default:"2s" env:"TOOLNORM_KB_RERANK_TIME" restart:"yes" help:"How long a search waits for the rerank server."`

	OCRURL     string `name:"ocr-llm-url" placeholder:"URL" env:"TOOLNORM_OCR_LLM_URL" restart:"yes" help:"Ollama server that normalize_ocr_text asks about hyphens that its rules cannot decide. Default: the server of the setting ollama; for toolrun on its own and toolnorm mcp, http://ollama:11434."`
	OCRModel   string `name:"ocr-llm-model" default:"pakachan/elyza-llama3-8b:latest" env:"TOOLNORM_OCR_LLM_MODEL" restart:"yes" help:"Model that answers yes or no about such a hyphen."`
	OCRWithout string `name:"ocr-without-llm" default:"fail" enum:"fail,keep,lengthen" env:"TOOLNORM_OCR_WITHOUT_LLM" restart:"yes" help:"What to do with such hyphens if the model does not answer: fail (report that the LLM service is unavailable), keep (leave them as they are, with a warning), or lengthen (turn them into long-vowel marks)."`
	OCRRepair  bool   `name:"ocr-repair" env:"TOOLNORM_OCR_REPAIR" restart:"yes" help:"Also correct a hyphen that OCR read in place of a character, if the complete word occurs elsewhere in the text: キャリ- becomes キャリア if キャリアコンサルティング occurs."`
	Ollama     string `kong:"-"` // the server to use if OCRURL is empty; set by the program

	// called with the reason when a store or a service did not answer; may be nil
	Warn func(text string) `kong:"-"`
}

// embedders returns the clients that make vectors of questions and of passages. Both are nil if
// model is nil.
func (c *Config) embedders(model *embedding.Client) (questions, passages *embedding.Client) {
	if model == nil {
		return nil, nil
	}
	query, passage := embedding.Prefixes(model.Model)
	return model.With(chosen(c.QueryPrefix, query)), model.With(chosen(c.PassagePrefix, passage))
}

// chosen returns the prefix that a model gets before each text. The parameter set is the setting:
// for "none" the prefix is "", and for "auto" or "" it is the parameter known, the prefix that is
// known for the model. Any other setting is itself the prefix.
func chosen(set, known string) string {
	switch set {
	case "auto", "":
		return known
	case "none":
		return ""
	}
	return set
}

// local returns the search in this program's knowledge bases. It uses the client questions for
// questions, and compares their vectors with those that the client passages made. The search is
// made even if another service searches instead, since the store may be opened later.
func (c *Config) local(questions, passages *embedding.Client) *retrieval.Local {
	l := &retrieval.Local{Small: c.Small}
	if questions != nil { // a nil pointer in an interface would not be nil
		l.Embedder, l.Model = questions, passages.Name()
	}
	if c.RerankURL != "" {
		r := &rerank.Client{URL: c.RerankURL, Model: c.RerankModel, Key: c.RerankKey,
			Timeout: c.RerankTime}
		if c.RerankForm == "tei" {
			r.Form = rerank.TEI
		}
		l.Reranker = r
	}
	return l
}

// defaultOCR is the address in the tools' specification, the service's name in a container network.
const defaultOCR = "http://ollama:11434/api/generate"

// any reports whether a setting names a server, so that a tool can work without a knowledge base
// here. It looks at the addresses only, since a name or a key reaches nothing by itself.
func (c *Config) any() bool { return c.SearchURL != "" || c.OCRURL != "" }
