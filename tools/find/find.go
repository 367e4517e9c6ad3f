// Package find finds tools by what they do, for models that cannot be offered all of them.
//
//	find.go      tools by their words
//	concepts.go  what people say in place of a tool's words (concepts.txt)
//	loans.go     words that another script writes as they sound
//	meaning.go   tools by vectors, where there is a model that makes them
package find

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode"

	"toolnorm/chat/schema"
	"toolnorm/internal/lexical"
	"toolnorm/tools"
)

// Finder finds tools by words.
type Finder struct {
	list    []tools.Tool
	index   *lexical.Index
	copies  []bool            // by place: whether an earlier tool is the same except for its server
	loans   loans             // the words of the tools by their sound
	spelled map[string]string // how they are spelled, by how they may be spelled: see spell
}

// How much words of a tool's name and of its description count, compared with those of its
// parameters.
const (
	nameWeight  = 3
	aboutWeight = 1.5
)

// errCount is the error for a model server that answers with another number of vectors.
var errCount = errors.New("the server has sent another number of vectors than texts")

// New reads tools. Each has three fields: its name in words, its description, and its parameters.
func New(list []tools.Tool) *Finder {
	f := &Finder{list: list, index: new(lexical.Index), loans: loans{},
		spelled: map[string]string{}}
	seen := map[string]bool{}
	for _, t := range list {
		names, about := parameters(t)
		name := Words(t.Name)
		f.index.Add("", name, t.Description, names+" "+about)
		f.spell(name, t.Description)
		f.loans.add(name)
		f.loans.add(t.Description)
		f.loans.add(names)
		_, bare, _ := strings.Cut(t.Name, ".")
		same := bare + "\x00" + t.Description
		f.copies = append(f.copies, seen[same])
		seen[same] = true
	}
	return f
}

// parameters returns the names of a tool's parameters in words, and what their schema says about
// them: descriptions and values.
func parameters(t tools.Tool) (names, about string) {
	var all, said []string
	members, _ := schema.Parse(t.Schema).Written().Members()
	for _, m := range members {
		all = append(all, strings.TrimSpace(Words(m.Name)))
		said = append(said, m.At.Description())
		for _, value := range m.At.Values() {
			var text string
			if json.Unmarshal([]byte(value), &text) == nil {
				said = append(said, Words(text))
			}
		}
	}
	return strings.Join(all, " "), strings.Join(said, " ")
}

// spell notes how a tool writes its words, for respelled: each word, and each two of its name as
// one.
func (f *Finder) spell(name, text string) {
	all := strings.Fields(strings.ToLower(name))
	for i := 1; i < len(all); i++ {
		f.spelled[all[i-1]+all[i]] = all[i-1] + " " + all[i]
	}
	for _, word := range append(all, strings.Fields(strings.ToLower(Words(text)))...) {
		if _, there := f.spelled[word]; !there {
			f.spelled[word] = word
		}
	}
}

// respelled returns words of a text as tools write them, each with a blank before it: local storage
// where a tool has localstorage, and the other way round.
func (f *Finder) respelled(text string) string {
	var b strings.Builder
	all := strings.Fields(strings.ToLower(text))
	for i, word := range all {
		if as := f.spelled[word]; as != word && as != "" {
			b.WriteString(" " + as)
		}
		if i > 0 {
			if as := f.spelled[all[i-1]+word]; as != "" && as != all[i-1]+" "+word {
				b.WriteString(" " + as)
			}
		}
	}
	return b.String()
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

// Rank returns the tools that a text asks for, the best first, by their words.
func (f *Finder) Rank(text string) []tools.Tool { return f.at(f.rank(text)) }

// at returns the tools at places.
func (f *Finder) at(rows []int) []tools.Tool {
	out := make([]tools.Tool, len(rows))
	for i, row := range rows {
		out[i] = f.list[row]
	}
	return out
}

// rank returns the places of the tools that a text asks for, the best first, by BM25 over their
// fields and by how much of what is asked they have. Words that every question has do not count;
// words of people for something count as the words of tools for it (concepts.txt), and so do words
// that sound like one of a tool's.
func (f *Finder) rank(text string) []int {
	words := Words(text)
	query := lexical.Matter(words + f.respelled(words) + meant(text) + f.loans.heard(text))
	look := f.index.Look(query, nameWeight, aboutWeight, 1)
	hits := f.index.Search(query, len(f.list), nil)
	scores, rows := map[int]float64{}, make([]int, len(hits))
	for i, hit := range hits {
		has := look.Features(hit.Row)
		rows[i], scores[hit.Row] = hit.Row, has.Ideal+has.Coverage
	}
	slices.SortFunc(rows, func(a, b int) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b))
	})
	return f.copiesLast(rows)
}

// copiesLast returns places with those at the end whose tool repeats an earlier one of another
// server: three copies of one server would take all places.
func (f *Finder) copiesLast(rows []int) []int {
	isCopy := func(row int) bool { return f.copies[row] }
	first := slices.DeleteFunc(slices.Clone(rows), isCopy)
	return append(first, slices.DeleteFunc(rows, func(row int) bool { return !isCopy(row) })...)
}
