package agent

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"toolnorm/chat/schema"
	"toolnorm/internal/lexical"
	"toolnorm/internal/vector"
	"toolnorm/tools"
)

// Embed makes a vector of each text.
type Embed func(ctx context.Context, texts []string) ([][]float32, error)

// finder finds tools by words. It is made for the first search of a run: few runs have one.
type finder struct {
	index  *lexical.Index
	copies []bool // by place: an earlier tool is the same but for its server
}

// How much words of a tool's name and of its description count, beside those of its parameters.
const (
	nameWeight  = 3
	aboutWeight = 1.5
)

// newFinder reads tools. Each has three fields: its name in words, its description, and the names of its parameters.
func newFinder(list []tools.Tool) *finder {
	f := &finder{index: new(lexical.Index)}
	seen := map[string]bool{}
	for _, t := range list {
		var parameters []string
		members, _ := schema.Parse(t.Schema).Written().Members()
		for _, m := range members {
			parameters = append(parameters, words(m.Name))
		}
		f.index.Add("", words(t.Name), t.Description, strings.Join(parameters, " "))
		_, bare, _ := strings.Cut(t.Name, ".")
		same := bare + "\x00" + t.Description
		f.copies = append(f.copies, seen[same])
		seen[same] = true
	}
	return f
}

// words returns a name in words: getCurrentTime, get_current_time and get-current-time are get current time.
func words(name string) string {
	var b strings.Builder
	low := false
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			r = ' '
		case low && unicode.IsUpper(r):
			b.WriteByte(' ')
		}
		low = unicode.IsLower(r)
		b.WriteRune(r)
	}
	return b.String()
}

// rank gives the tools that a text asks for, the best first, by BM25 over their fields and by how much of what is asked they
// have. Words that every question has count nothing. Tools of which an equal one of another server comes before are last: three copies of
// one server would take all places.
func (ts *toolset) rank(text string) []tools.Tool {
	if ts.finder == nil {
		ts.finder = newFinder(ts.list)
	}
	type scored struct {
		place int
		score float64
	}
	query := lexical.Matter(words(text))
	look := ts.finder.index.Look(query, nameWeight, aboutWeight, 1)
	var all []scored
	for _, hit := range ts.finder.index.Search(query, len(ts.list), nil) {
		f := look.Features(hit.Row)
		all = append(all, scored{hit.Row, f.Ideal + f.Coverage})
	}
	slices.SortStableFunc(all, func(a, b scored) int {
		switch x, y := ts.finder.copies[a.place], ts.finder.copies[b.place]; {
		case x == y:
			return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.place, b.place))
		case x:
			return 1
		}
		return -1
	})
	out := make([]tools.Tool, len(all))
	for i, s := range all {
		out[i] = ts.list[s.place]
	}
	return out
}

const (
	// embedTime is how long a search waits for vectors. Those of the tools are made at the first one; without them it goes by words.
	embedTime = 10 * time.Second
	// mostEmbedded is how many tools have vectors: about what an embedder remembers.
	mostEmbedded = 1000
	// fusion is how much the first places of a ranking count, beside the next ones: the usual constant of reciprocal ranks.
	fusion = 60
)

// search gives the tools that a text asks for, the best first: by words, and by their meaning when there is an embedder. Each
// ranking counts by places, since their scores have nothing in common. A failed embedder costs the search nothing else.
func (ts *toolset) search(ctx context.Context, embed Embed, text string) []tools.Tool {
	worded := ts.rank(text)
	if embed == nil || len(ts.list) > mostEmbedded {
		return worded
	}
	texts := []string{text}
	for _, t := range ts.list {
		texts = append(texts, words(t.Name)+": "+t.Description)
	}
	ctx, cancel := context.WithTimeout(ctx, embedTime)
	defer cancel()
	vectors, err := embed(ctx, texts)
	if err != nil || len(vectors) != len(texts) {
		return worded
	}
	score := map[string]float64{}
	for i, t := range worded {
		score[t.Name] += 1 / float64(fusion+i)
	}
	all := make([]int, len(ts.list))
	near := make([]float32, len(ts.list))
	for i := range ts.list {
		all[i], near[i] = i, vector.Cosine(vectors[0], vectors[i+1])
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(near[b], near[a]) })
	for i, at := range all {
		score[ts.list[at].Name] += 1 / float64(fusion+i)
	}
	slices.SortStableFunc(all, func(a, b int) int {
		if x, y := ts.finder.copies[a], ts.finder.copies[b]; x != y {
			if x {
				return 1
			}
			return -1
		}
		return cmp.Compare(score[ts.list[b].Name], score[ts.list[a].Name])
	})
	out := make([]tools.Tool, len(all))
	for i, at := range all {
		out[i] = ts.list[at]
	}
	return out
}
