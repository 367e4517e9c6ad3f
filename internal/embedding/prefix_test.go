package embedding

import (
	"slices"
	"testing"
)

func TestPrefixesGoInFrontOfEachText(t *testing.T) {
	var asked [][]string
	c := (&Client{URL: server(t, &asked).URL + "/api/embed", Model: "m"}).With("query: ")
	if _, err := c.Embed(t.Context(), []string{"a", "b"}); err != nil || !slices.Equal(asked[0], []string{"query: a", "query: b"}) {
		t.Errorf("asked %q, %v", asked, err)
	}
	if _, err := c.Embed(t.Context(), []string{"b"}); err != nil || len(asked) != 1 {
		t.Errorf("what was asked is not kept: %q, %v", asked, err)
	}
	if c.Name() != "m with query:" || c.With("").Name() != "m" {
		t.Errorf("vectors with another prefix have the same name: %q", c.Name())
	}
}

func TestKnownModelsHavePrefixes(t *testing.T) {
	for model, want := range map[string][2]string{
		"intfloat/multilingual-e5-small":        {"query: ", "passage: "},
		"multilingual-e5-large-instruct:latest": {instruction, ""},
		"nomic-embed-text:v1.5":                 {"search_query: ", "search_document: "},
		"mxbai-embed-large":                     {passages, ""},
		"Qwen3-Embedding-0.6B":                  {instruction, ""},
		"snowflake-arctic-embed2":               {"query: ", ""},
		"bge-m3":                                {"", ""},
		"all-minilm":                            {"", ""},
		"embeddinggemma:300m":                   {"task: search result | query: ", "title: none | text: "},
	} {
		if query, passage := Prefixes(model); [2]string{query, passage} != want {
			t.Errorf("%s: %q, %q", model, query, passage)
		}
	}
}
