package agent

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"toolnorm/chat/schema"
	"toolnorm/internal/lexical"
	"toolnorm/tools"
)

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
