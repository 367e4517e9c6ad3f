package embedding

import "strings"

// prefixes are what models want in front of questions and passages, by a part of their names, the
// longer names first. From the models' own descriptions; a model that is not here gets texts as
// they are.
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

// Prefixes returns what a model wants in front of a question and of a passage; of models that are
// not known nothing.
func Prefixes(model string) (query, passage string) {
	model = strings.ToLower(model)
	for _, p := range prefixes {
		if strings.Contains(model, p.name) {
			return p.query, p.passage
		}
	}
	return "", ""
}

// With returns a client for the same model that puts a prefix in front of each text.
func (c *Client) With(prefix string) *Client {
	return &Client{URL: c.URL, Model: c.Model, Key: c.Key, HTTP: c.HTTP, Prefix: prefix}
}

// Name returns what vectors are known by: the model, and what stood in front of the texts. Vectors
// with another prefix are not comparable.
func (c *Client) Name() string {
	if c.Prefix == "" {
		return c.Model
	}
	return c.Model + " with " + strings.TrimSpace(c.Prefix)
}
