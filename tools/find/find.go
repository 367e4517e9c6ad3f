// Package find finds tools by words of what they do, for models that cannot be offered all of them.
package find

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"toolnorm/chat/schema"
	"toolnorm/internal/lexical"
	"toolnorm/tools"
)

// Finder finds tools by words.
type Finder struct {
	list   []tools.Tool
	index  *lexical.Index
	copies []bool // by place: whether an earlier tool is the same except for its server
}

// How much words of a tool's name and of its description count, compared with those of its
// parameters.
const (
	nameWeight  = 3
	aboutWeight = 1.5
)

// New reads tools. Each has three fields: its name in words, its description, and the names of its
// parameters.
func New(list []tools.Tool) *Finder {
	f := &Finder{list: list, index: new(lexical.Index)}
	seen := map[string]bool{}
	for _, t := range list {
		var parameters []string
		members, _ := schema.Parse(t.Schema).Written().Members()
		for _, m := range members {
			parameters = append(parameters, Words(m.Name))
		}
		f.index.Add("", Words(t.Name), t.Description, strings.Join(parameters, " "))
		_, bare, _ := strings.Cut(t.Name, ".")
		same := bare + "\x00" + t.Description
		f.copies = append(f.copies, seen[same])
		seen[same] = true
	}
	return f
}

// Words returns a name in words: getCurrentTime, get_current_time and get-current-time are get
// current time.
func Words(name string) string {
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

// Rank returns the tools that a text asks for, the best first, by BM25 over their fields and by how
// much of what is asked they have. Words that every question has do not count; words of people for
// something count as the words of tools for it (concepts.txt). A tool that repeats an earlier one
// of another server comes last: three copies of one server would take all places.
func (f *Finder) Rank(text string) []tools.Tool {
	type scored struct {
		place int
		score float64
	}
	query := lexical.Matter(Words(text + meant(text)))
	look := f.index.Look(query, nameWeight, aboutWeight, 1)
	var all []scored
	for _, hit := range f.index.Search(query, len(f.list), nil) {
		has := look.Features(hit.Row)
		all = append(all, scored{hit.Row, has.Ideal + has.Coverage})
	}
	slices.SortStableFunc(all, func(a, b scored) int {
		switch x, y := f.copies[a.place], f.copies[b.place]; {
		case x == y:
			return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.place, b.place))
		case x:
			return 1
		}
		return -1
	})
	out := make([]tools.Tool, len(all))
	for i, s := range all {
		out[i] = f.list[s.place]
	}
	return out
}

// Copy reports whether the tool at a place is the same as an earlier one except for its server.
func (f *Finder) Copy(place int) bool { return f.copies[place] }
