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

// Finder finds tools by words. New makes one.
type Finder struct {
	list  []tools.Tool
	index *lexical.Index
	// for each tool of list: whether an earlier tool is the same except for its server
	copies []bool
	loans  loans // the words of the tools by their sound: see loans
	// the tools' spelling of a word, by the other ways to write it: see spell
	spelled map[string]string
}

// How much words in a tool's name and in its description count, compared with words in its
// parameters.
const (
	nameWeight  = 3
	aboutWeight = 1.5
)

// errCount is the error for a model server that returns more or fewer vectors than it was sent
// texts.
var errCount = errors.New("the server has sent another number of vectors than texts")

// New returns a Finder for the tools in list. Each tool is indexed with three fields: its name in
// words, its description, and its parameters.
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

// parameters returns the names of a tool's parameters in words, and the descriptions and values in
// their schema. Both results are empty if the tool has no parameters.
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

// spell records how a tool writes its words, so that respelled can bring the words of a text into
// that spelling. It records each word of the tool's name and of its text. It also records each two
// neighbouring words of the name as the one word that they make together.
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

// respelled returns words of a text in the spelling of the tools, each with a blank before it. For
// example, it returns "local storage" for localstorage if a tool writes it so, and the other way
// round. Words whose spelling is the same are left out, so the result may be empty.
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

// Words returns a name split into words by blanks: getCurrentTime becomes "get Current Time", and
// get_current_time and get-current-time become "get current time".
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

// Rank returns the tools whose words match the text, the best first.
func (f *Finder) Rank(text string) []tools.Tool { return f.at(f.rank(text)) }

// at returns the tools at the given indexes of f.list.
func (f *Finder) at(rows []int) []tools.Tool {
	out := make([]tools.Tool, len(rows))
	for i, row := range rows {
		out[i] = f.list[row]
	}
	return out
}

// rank returns the indexes of the tools whose words match the text, the best first. Tools are
// scored by BM25 over their fields and by how many of the text's words they have. Words that every
// question has do not count. Other words for what a tool does (concepts.txt) count as the tool's
// own words, and so do words that sound like one of them.
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

// copiesLast returns the rows, which are indexes of tools, with the copies among the tools moved to
// the end. A copy is a tool that equals an earlier tool except for its server. Without this, three
// servers with the same tools would take all places at the top.
func (f *Finder) copiesLast(rows []int) []int {
	isCopy := func(row int) bool { return f.copies[row] }
	first := slices.DeleteFunc(slices.Clone(rows), isCopy)
	return append(first, slices.DeleteFunc(rows, func(row int) bool { return !isCopy(row) })...)
}
