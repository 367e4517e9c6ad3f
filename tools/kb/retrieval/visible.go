package retrieval

import "toolnorm/internal/lexical"

// visible returns the index of the passages' words, with the statistics of only those passages that
// may be seen. The score of a passage must not reveal which words are in hidden passages.
func (m *memory) visible(query string) *lexical.Index {
	if m.all {
		return &m.text
	}
	if m.part == nil {
		texts, tokens := 0, 0
		for n, seen := range m.seen {
			if seen {
				texts, tokens = texts+len(m.byNumber[n].rows), tokens+m.byNumber[n].tokens
			}
		}
		m.part = m.text.Part(texts, tokens, func(row int) bool {
			return m.chunks[row].ID != "" &&
				m.seen[m.owner[row]]
		}, query)
	}
	return m.part
}

// visibleSummaries returns the index of the summaries' words. Its statistics include only summaries
// that may be seen, because a score must not reveal which words are in hidden ones.
func (m *memory) visibleSummaries(query string) *lexical.Index {
	if m.all {
		return &m.summaries
	}
	texts, tokens, rows := 0, 0, map[int]bool{}
	for n, seen := range m.seen {
		if seen {
			row := m.byNumber[n].summary
			texts, tokens, rows[row] = texts+1, tokens+m.summaries.Length(row), true
		}
	}
	return m.summaries.Part(texts, tokens, func(row int) bool { return rows[row] }, query)
}

// comparable returns nil if a query's vector can be compared with the vectors of the passages that
// may be seen. Otherwise its error says why not, for example that another model made these vectors.
func (m *memory) comparable(v []float32) error {
	if m.all {
		return m.vectors.comparable(v)
	}
	seen := vectors{model: m.vectors.model, exact: m.vectors.exact, small: m.vectors.small,
		others: map[string]int{}}
	for row := range m.chunks {
		switch model := m.chunks[row].Model; {
		case !m.allowed(row) || model == "":
		case m.vectors.has[row]:
			seen.count = 1
			return seen.comparable(v)
		default:
			seen.others[model]++
		}
	}
	return seen.comparable(v)
}
