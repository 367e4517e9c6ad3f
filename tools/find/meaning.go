package find

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"toolnorm/internal/clip"
	"toolnorm/internal/lexical"
	"toolnorm/internal/vector"
	"toolnorm/tools"
)

// Embed returns one vector for each text, in the same order.
type Embed func(ctx context.Context, texts []string) ([][]float32, error)

// Meanings makes vectors of questions and of tools, and caches those of tools. Several goroutines
// may use it at the same time.
type Meanings struct {
	// two functions, since some models want other words before a question than before a text
	Question, Tool Embed

	mu     sync.Mutex
	kept   map[string][]float32 // by text
	making chan struct{}        // closed when no vectors are being made any more; nil: none are
	failed time.Time            // when vectors could not be made
}

const (
	// patience is how long a search waits for vectors. The vectors of the tools are made at the
	// first search and continue in the background, because a model without a GPU takes minutes for
	// a thousand tools. Until then, searches compare words.
	patience = 10 * time.Second
	// mostTime bounds how long vectors of tools are made in the background.
	mostTime = 30 * time.Minute
	// pause is how long a server that has failed is not asked again.
	pause = time.Minute
	// mostTools is the largest number of tools that get vectors. Each tool has three, of four
	// kilobytes with most models.
	mostTools = 5000
	// atOnce is how many texts are embedded in one request. A failure loses at most one request's
	// vectors.
	atOnce = 32
	// longest is how many bytes of a text are embedded. Small models read 256 tokens.
	longest = 800
	// shortest is the length in bytes at which a text that the model finds too long is not cut
	// further.
	shortest = 100
)

// The weights of the rankings that are joined: by words, by the vector of the whole tool, by its
// description's first sentence and by its name. The first two count the same. The last two are
// parts, one of which may match better than the whole, and count half.
var weights = []float64{2, 2, 1, 1}

// near is the constant of reciprocal rank fusion. The usual 60 is for lists of thousands of hits.
// Here only five places count, and the tenth should not count nearly as much as the first.
const near = 10

// views returns the three texts of a tool that are compared with a question: the whole tool, the
// first sentence of its description, and its name. For a tool without a description, the second
// text is the name as well.
func views(t tools.Tool) [3]string {
	_, name, ok := strings.Cut(t.Name, ".")
	if !ok {
		name = t.Name
	}
	names, _ := parameters(t)
	whole := Words(t.Name) + ": " + clip.To(t.Description, longest*3/4)
	if names != "" {
		whole += " (" + names + ")"
	}
	first, _, _ := strings.Cut(t.Description, ". ")
	name = Words(name)
	return [3]string{clip.To(whole, longest), clip.To(cmp.Or(first, name), longest), name}
}

// Find returns the tools that match the text, the best first. It compares words, and also meanings
// if m is not nil and its vectors are available in time. The rankings are merged by the positions
// of the tools, since their scores cannot be compared.
func (f *Finder) Find(ctx context.Context, m *Meanings, text string) []tools.Tool {
	worded := f.rank(text)
	if m != nil && len(f.list) <= mostTools && strings.TrimSpace(text) != "" {
		if meant := m.rank(ctx, f.list, clip.To(text, longest)); meant != nil {
			var joined []int
			for _, hit := range lexical.Join(near, weights, append([][]int{worded}, meant...)...) {
				joined = append(joined, hit.Row)
			}
			worded = f.copiesLast(joined)
		}
	}
	return f.at(worded)
}

// rank returns one ranking of the tools for each of the three views (see views). It returns nil if
// the vectors cannot be made in time.
func (m *Meanings) rank(ctx context.Context, list []tools.Tool, text string) (all [][]int) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	texts := make([][3]string, len(list))
	for i, t := range list {
		texts[i] = views(t)
	}
	kept := m.need(ctx, texts)
	if kept == nil {
		return nil
	}
	asked, err := patiently(ctx, m.Question, []string{text})
	if err != nil {
		return nil
	}
	for view := range texts[0] {
		index := new(vector.Index)
		for i := range texts {
			if !index.Set(i, kept[i][view]) || index.Dimensions() != len(asked[0]) {
				m.restart() // another model answers by this name now
				return nil
			}
		}
		var rows []int
		for _, hit := range index.Search(asked[0], len(list), nil) {
			rows = append(rows, hit.Row)
		}
		all = append(all, rows)
	}
	return all
}

// need returns the vectors of texts, or nil if they are not ready before ctx ends or the server has
// just failed. Missing vectors are made in the background, which goes on after need has returned.
func (m *Meanings) need(ctx context.Context, texts [][3]string) [][3][]float32 {
	for {
		m.mu.Lock()
		all, missing := make([][3][]float32, len(texts)), []string(nil)
		for i, views := range texts {
			for j, text := range views {
				if all[i][j] = m.kept[text]; all[i][j] == nil {
					missing = append(missing, text)
				}
			}
		}
		if len(missing) == 0 {
			m.forget(texts)
			m.mu.Unlock()
			return all
		}
		if m.making == nil {
			if time.Since(m.failed) < pause {
				m.mu.Unlock()
				return nil
			}
			m.making = make(chan struct{})
			slices.Sort(missing)
			go m.make(context.WithoutCancel(ctx), slices.Compact(missing))
		}
		done := m.making
		m.mu.Unlock()
		select {
		case <-done:
		case <-ctx.Done():
			return nil
		}
	}
}

// make makes the vectors of texts and caches them. After an error it keeps those that it has made,
// and records the time of the failure. It closes m.making at the end.
func (m *Meanings) make(ctx context.Context, texts []string) {
	ctx, cancel := context.WithTimeout(ctx, mostTime)
	defer cancel()
	var err error
	for part := range slices.Chunk(texts, atOnce) {
		var vectors [][]float32
		if vectors, err = patiently(ctx, m.Tool, part); err != nil {
			break
		}
		m.mu.Lock()
		if m.kept == nil {
			m.kept = map[string][]float32{}
		}
		for i, text := range part {
			m.kept[text] = vectors[i]
		}
		m.mu.Unlock()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		m.failed = time.Now()
	}
	close(m.making)
	m.making = nil
}

// restart drops all cached vectors.
func (m *Meanings) restart() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept = nil
}

// forget drops all cached vectors except those of the given texts, if too many are cached. The
// caller holds m.mu.
func (m *Meanings) forget(texts [][3]string) {
	if len(m.kept) <= 2*3*mostTools {
		return
	}
	kept := map[string][]float32{}
	for _, views := range texts {
		for _, text := range views {
			kept[text] = m.kept[text]
		}
	}
	m.kept = kept
}

// patiently returns the vectors of texts. If a server refuses the texts, each half of the list is
// tried separately, so that one text that is too long does not cost the others their vectors. Of a
// single text that is refused, only the beginning is tried. It returns an error if a text cannot be
// embedded at all, or if ctx has ended.
func patiently(ctx context.Context, embed Embed, texts []string) ([][]float32, error) {
	vectors, err := embed(ctx, texts)
	switch {
	case err == nil && len(vectors) == len(texts):
		return vectors, nil
	case err == nil:
		err = errCount
	}
	half := len(texts) / 2
	if half == 0 && (len(texts) == 0 || len(texts[0]) <= shortest) || ctx.Err() != nil {
		return nil, err
	}
	if half == 0 {
		return patiently(ctx, embed, []string{clip.To(texts[0], len(texts[0])/2)})
	}
	first, err := patiently(ctx, embed, texts[:half])
	if err != nil {
		return nil, err
	}
	second, err := patiently(ctx, embed, texts[half:])
	return append(first, second...), err
}
