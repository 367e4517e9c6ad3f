package find

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toolnorm/internal/embedding"
	"toolnorm/internal/lexical"
	"toolnorm/internal/test/must"
	"toolnorm/tools"
)

// readTools reads the tools of files of testdata: a tool a line, server.name(parameters) description,
// or in .jsonl what tools/list answered. They are those of stock servers, of which one is there three
// times.
func readTools(t testing.TB, files ...string) (all []tools.Tool) {
	t.Helper()
	for _, file := range files {
		text := must.Read(t, "testdata/"+file)
		if strings.HasSuffix(file, ".jsonl") {
			for line := range strings.Lines(string(text)) {
				var one struct {
					Name, Description string
					InputSchema       json.RawMessage
				}
				must.OK(t, json.Unmarshal([]byte(line), &one))
				all = append(all, tools.Tool{Name: one.Name, Description: one.Description, Schema: one.InputSchema})
			}
			continue
		}
		for _, m := range regexp.MustCompile(`(?m)^([\w.-]+)\(([^)]*)\) (.+)$`).FindAllStringSubmatch(string(text), -1) {
			var properties []string
			for _, p := range strings.FieldsFunc(m[2], func(r rune) bool { return r == ',' || r == ' ' }) {
				properties = append(properties, `"`+p+`":{"type":"string"}`)
			}
			all = append(all, tools.Tool{Name: m[1], Description: m[3], Schema: []byte(`{"type":"object","properties":{` + strings.Join(properties, ",") + `}}`)})
		}
	}
	return all
}

// few is how many tools a search shows a model (agent).
const few = 5

// count counts the questions of a file whose tool is among the first five that ranked returns, and
// those whose tool is the first.
func count(t testing.TB, file string, ranked func(question string) []tools.Tool) (five, first, all int) {
	t.Helper()
	text := must.Read(t, "testdata/"+file)
	for line := range strings.Lines(string(text)) {
		question, want, _ := strings.Cut(strings.TrimSpace(line), " => ")
		at := slices.IndexFunc(ranked(question), func(tool tools.Tool) bool {
			return slices.Contains(strings.Fields(want), tool.Name)
		})
		if all++; at == 0 {
			first++
		}
		if at >= 0 && at < few {
			five++
		} else if os.Getenv("TOOLNORM_EVAL_SHOW") != "" {
			t.Logf("%s: %s: %s is at %d", file, question, want, at)
		}
	}
	return five, first, all
}

// sets are the files of questions, by the tools that they are about. Most of them say what words
// alone did not find, and were seen when words and weights were chosen; fresh.txt was written before
// loans.go and meaning.go, and run once, when these were finished.
var sets = []struct {
	tools     []string
	questions []string
}{
	{[]string{"tools.txt"}, []string{"questions.txt", "heldout.txt", "heldout2.txt", "heldout3.txt", "heldout4.txt", "heldout5.txt", "languages.txt"}},
	{[]string{"tools.txt", "more_tools.txt"}, []string{"many.txt", "many2.txt"}},
	{[]string{"fresh_tools.jsonl"}, []string{"fresh.txt"}},
	{[]string{"fresh_tools.jsonl", "tools.txt", "more_tools.txt"}, []string{"fresh.txt"}},
}

// TestSearchFindsTools holds how many of the questions find their tool by words: the sample of
// docs/evidence/finding-tools.md.
func TestSearchFindsTools(t *testing.T) {
	least := map[string]int{"questions.txt": 25, "heldout.txt": 25, "heldout2.txt": 40, "heldout3.txt": 25, "heldout4.txt": 36, "heldout5.txt": 31, "languages.txt": 36, "many.txt": 39, "many2.txt": 22, "fresh.txt": 41}
	for _, set := range sets {
		f := New(readTools(t, set.tools...))
		for _, file := range set.questions {
			five, first, all := count(t, file, f.Rank)
			t.Logf("%s: %d of %d among the first five of %d tools, %d first", file, five, all, len(f.list), first)
			if five < least[file] {
				t.Errorf("%s: %d of %d are found, want %d", file, five, all, least[file])
			}
		}
	}
}

// plain ranks as BM25 does with all texts of a tool in one field: the anchor.
func plain(list []tools.Tool) func(question string) []tools.Tool {
	f := &Finder{list: list, index: new(lexical.Index)}
	for _, tool := range list {
		names, about := parameters(tool)
		f.index.Add("", Words(tool.Name)+" "+tool.Description+" "+names+" "+about)
	}
	return func(question string) []tools.Tool {
		var rows []int
		for _, hit := range f.index.Search(question, len(list), nil) {
			rows = append(rows, hit.Row)
		}
		return f.at(rows)
	}
}

// page is the evidence that TestEvaluation writes.
const page = "../../docs/evidence/finding-tools.md"

// TestEvaluation writes the rows of the page, with TOOLNORM_EVAL=write: by words, and by vectors as
// well where TOOLNORM_EVAL_EMBEDDING_URL and TOOLNORM_EVAL_EMBEDDING_MODEL name a model. Rows of a
// model that is not there stay as they are.
func TestEvaluation(t *testing.T) {
	if os.Getenv("TOOLNORM_EVAL") != "write" {
		t.Skip("make eval runs it")
	}
	var meanings *Meanings
	url, model := os.Getenv("TOOLNORM_EVAL_EMBEDDING_URL"), os.Getenv("TOOLNORM_EVAL_EMBEDDING_MODEL")
	if url != "" && model != "" {
		question, tool := embedding.Prefixes(model)
		client := &embedding.Client{URL: url, Model: model}
		meanings = &Meanings{Question: client.With(question).Embed, Tool: client.With(tool).Embed}
	}
	text := string(must.Read(t, page))
	for _, set := range sets {
		f := New(readTools(t, set.tools...))
		by := map[string]func(string) []tools.Tool{"plain BM25": plain(f.list), "words": f.Rank}
		if meanings != nil {
			var texts [][3]string
			for _, tool := range f.list {
				texts = append(texts, views(tool))
			}
			if meanings.need(t.Context(), texts) == nil { // without a search's limit of time
				t.Fatal("there are no vectors")
			}
			by["words and "+model] = func(question string) []tools.Tool { return f.Find(t.Context(), meanings, question) }
			by[model+" alone"] = func(question string) []tools.Tool {
				return f.at(meanings.rank(t.Context(), f.list, question)[0])
			}
		}
		for _, file := range set.questions {
			for name, ranked := range by {
				five, first, all := count(t, file, ranked)
				begin := fmt.Sprintf("| %s | %d | %s |", file, len(f.list), name)
				row := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(begin) + `.*$`)
				line := fmt.Sprintf("%s %d | %.2f | %.2f |", begin, all, float64(five)/float64(all), float64(first)/float64(all))
				if !row.MatchString(text) {
					t.Errorf("the page has no row for %s", line)
				}
				text = row.ReplaceAllLiteralString(text, line)
			}
		}
	}
	must.Write(t, page, text)
}
