package embedding

import "strings"

// prefixes lists the texts that models need before questions and passages, by a part of the model's
// name, longer names first. They are taken from the models' own descriptions. The texts of a model
// that is not listed are sent unchanged.
var prefixes = []struct{ name, query, passage string }{
	{"e5-mistral", instruction, ""},
	{"e5-large-instruct", instruction, ""},
	{"multilingual-e5", "query: ", "passage: "},
	{"e5-small", "query: ", "passage: "},
	{"e5-base", "query: ", "passage: "},
	{"e5-large", "query: ", "passage: "},
	{"nomic-embed-text", "search_query: ", "search_document: "},
	{"mxbai-embed", passages, ""},
	{"snowflake-arctic-embed2", "query: ", ""},
	{"snowflake-arctic-embed", passages, ""},
	{"embeddinggemma", "task: search result | query: ", "title: none | text: "},
	{"qwen3-embedding", instruction, ""},
	{"bge-small-en", passages, ""},
	{"bge-base-en", passages, ""},
	{"bge-large", passages, ""},
}

// The instructions of several models.
const (
	passages    = "Represent this sentence for searching relevant passages: "
	instruction = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: "
)

// Prefixes returns the texts that a model needs before a question and before a passage. Both are
// empty for an unknown model.
func Prefixes(model string) (query, passage string) {
	model = strings.ToLower(model)
	for _, p := range prefixes {
		if strings.Contains(model, p.name) {
			return p.query, p.passage
		}
	}
	return "", ""
}

// With returns a new client for the same model that puts a prefix before each text.
func (c *Client) With(prefix string) *Client {
	return &Client{URL: c.URL, Model: c.Model, Key: c.Key, HTTP: c.HTTP, Prefix: prefix}
}

// Name returns a name for the kind of vectors that c makes: the model, and the prefix of the texts
// if there is one. Vectors with different names are not comparable.
func (c *Client) Name() string {
	if c.Prefix == "" {
		return c.Model
	}
	return c.Model + " with " + strings.TrimSpace(c.Prefix)
}
