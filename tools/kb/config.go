package kb

import (
	"time"

	"toolnorm/internal/embedding"
	"toolnorm/internal/rerank"
	"toolnorm/tools/kb/retrieval"
)

// Config are the settings of the knowledge base tools. The tags are those that the command line reads. The model that makes
// vectors is that of the data tools: text-embedding-model-url and its name.
type Config struct {
	Tools string `name:"kb-tools" default:"auto" enum:"auto,always,never" env:"TOOLNORM_KB_TOOLS" help:"Offer the knowledge base tools (search, summary, OCR text): auto when there is a knowledge base or one of their settings, always, or never."`

	SearchURL   string        `name:"kb-search-url" placeholder:"URL" env:"TOOLNORM_KB_SEARCH_URL" help:"A service that searches instead, asked with the caller's own token, e.g. http://api-admin:8003/admin/search/hybrid. Default: none; the knowledge bases of this program are searched."`
	Small       int           `name:"kb-small-vectors-from" default:"200000" env:"TOOLNORM_KB_SMALL_VECTORS_FROM" help:"From how many vectors of a knowledge base on they are kept in memory as bytes, a quarter of the size, and the best of them read again from the store."`
	RerankURL   string        `name:"kb-rerank-url" placeholder:"URL" env:"TOOLNORM_KB_RERANK_URL" help:"A server that scores passages against a question, by its whole URL, e.g. http://localhost:8080/v1/rerank of llama-server --reranking. Default: none; the last stage of a search is skipped."`
	RerankModel string        `name:"kb-rerank-model" placeholder:"NAME" env:"TOOLNORM_KB_RERANK_MODEL" help:"Its model, e.g. bge-reranker-v2-m3."`
	RerankKey   string        `name:"kb-rerank-key" placeholder:"KEY" env:"TOOLNORM_KB_RERANK_KEY" help:"The key that it asks for. Better in the environment."`
	RerankForm  string        `name:"kb-rerank-form" default:"cohere" enum:"cohere,tei" env:"TOOLNORM_KB_RERANK_FORM" help:"How it is asked: cohere (llama-server, vLLM, Jina, LiteLLM) or tei (Hugging Face text-embeddings-inference)."`
	RerankTime  time.Duration `name:"kb-rerank-time" default:"2s" env:"TOOLNORM_KB_RERANK_TIME" help:"How long a search waits for it."`

	OCRURL     string `name:"ocr-llm-url" placeholder:"URL" env:"TOOLNORM_OCR_LLM_URL" help:"Address of the Ollama server that normalize_ocr_text asks about hyphens that its rule cannot judge. Default: that of the setting ollama; without the server, http://ollama:11434."`
	OCRModel   string `name:"ocr-llm-model" default:"pakachan/elyza-llama3-8b:latest" env:"TOOLNORM_OCR_LLM_MODEL" help:"The model that it asks, yes or no."`
	OCRWithout string `name:"ocr-without-llm" default:"fail" enum:"fail,keep,lengthen" env:"TOOLNORM_OCR_WITHOUT_LLM" help:"What becomes of such hyphens when the model does not answer: fail (LLM service unavailable), keep (they stay, with a warning), or lengthen."`
	OCRRepair  bool   `name:"ocr-repair" env:"TOOLNORM_OCR_REPAIR" help:"Also read a hyphen as another character when the text has the word elsewhere: キャリ- is キャリア beside キャリアコンサルティング."`
	Ollama     string `kong:"-"` // the server that is asked when OCRURL names none; the program's own

	Warn func(text string) `kong:"-"` // told why a store or a service did not answer; nil: nobody is
}

// local is a search of this program's knowledge bases.
// It is made even where a service searches instead, as the store may be opened later and costs nothing until then.
func (c *Config) local(embedder *embedding.Client) *retrieval.Local {
	l := &retrieval.Local{Small: c.Small}
	if embedder != nil { // a nil pointer in an interface would not be nil
		l.Embedder, l.Model = embedder, embedder.Model
	}
	if c.RerankURL != "" {
		r := &rerank.Client{URL: c.RerankURL, Model: c.RerankModel, Key: c.RerankKey, Timeout: c.RerankTime}
		if c.RerankForm == "tei" {
			r.Form = rerank.TEI
		}
		l.Reranker = r
	}
	return l
}

// defaultOCR is the address in the tools' specification: the service's name in a container network.
const defaultOCR = "http://ollama:11434/api/generate"

// any says that something is set by which a tool would work without a knowledge base here.
// A name or a key reaches nothing by itself, so only what names a server counts.
func (c *Config) any() bool { return c.SearchURL != "" || c.OCRURL != "" }
