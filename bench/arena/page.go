package main

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"toolnorm/bench/arena/input"
)

//go:embed page.html
var pageFile embed.FS

// The limits on the differences that the page shows. The page names a command that prints all of
// them.
const (
	mostBetter = 25  // of a row, where the other reader is right and toolnorm is not
	mostOthers = 3   // of a row, where toolnorm is right and the other reader is not
	mostText   = 900 // bytes of a text
)

// row has the name of a row of the page, a sentence about it, and its cells.
type row struct {
	Name, About string
	Cells       []cell
}

// cell has the outcomes of one program for the inputs of a row of the page, and toolnorm's outcomes
// for the same inputs.
type cell struct {
	Reader, Name                     string
	Asked, Right, Lost, Bad          int
	OurRight, OurLost, OurBad        int
	Wrong, False, OurWrong, OurFalse int
	Unlike, OurUnlike                int
	Early                            string
	Better                           bool // the reader reads more right
	Safer                            bool // fewer of its calls are wrong
	Self                             bool
	Theirs, Ours                     []shown // the first differences
	More                             int
}

// shown is an input that another program and toolnorm have read differently, as the page shows it.
type shown struct {
	difference
	Cut     bool
	Fetched bool // the text is another package's, and is not published
}

// AsText returns calls as text, one per line and shortened, or "none" if there are no calls.
func (shown) AsText(all []input.Call) string {
	var out []string
	for _, c := range all {
		out = append(out, c.Name+" "+c.Arguments)
	}
	if out == nil {
		return "none"
	}
	return clip(strings.Join(out, "\n"))
}

// clip returns a text cut to mostText bytes. If something was cut, it ends in an ellipsis.
func clip(text string) string {
	if len(text) <= mostText {
		return text
	}
	return strings.ToValidUTF8(text[:mostText], "") + " …"
}

// page has everything that is shown on the page with the results and in the JSON file.
type page struct {
	Better, Safer []string
	Rows          []row
	Readers       []readerInfo
	Cost          []cost
	Headline      string
	Suite         *suiteResult
	Evidence      []evidence
	Inputs        int
}

// readerInfo is what the page says about a reader.
type readerInfo struct {
	ID, Name, Entry, Version, Failure string
	Families                          int
}

// cost is the time that a reader takes per byte, and how that time grows with the length. It is not
// a count, and varies from run to run.
type cost struct {
	Reader, Family string
	Nanoseconds    string // for a byte of a long call
	Growth         string // the time for a call four times as long, divided by four times the time
	Early          string
}

// page returns everything that is shown on the page with the results.
func (b *board) page() *page {
	p := &page{Inputs: len(b.cases), Evidence: b.evidence}
	for _, e := range b.evidence {
		p.Better = append(p.Better, e.Better...)
	}
	for _, x := range b.better() {
		if x.right {
			p.Better = append(p.Better, x.sentence())
		} else {
			p.Safer = append(p.Safer, x.sentence())
		}
	}
	differences := map[string]map[string][]difference{}
	for _, r := range b.readers[1:] {
		differences[r.id] = map[string][]difference{}
		for _, d := range b.differences(r) {
			differences[r.id][d.Row] = append(differences[r.id][d.Row], d)
		}
	}
	for _, name := range rowNames {
		one := row{Name: name[0], About: name[1]}
		for i, r := range b.readers {
			if q := b.pairs[r][name[0]]; q != nil {
				one.Cells = append(one.Cells, newCell(r, q, differences[r.id][name[0]], i == 0))
			}
		}
		if len(one.Cells) > 0 {
			p.Rows = append(p.Rows, one)
		}
	}
	for _, r := range b.readers {
		p.Readers = append(p.Readers,
			readerInfo{r.id, r.name, r.entry, strings.Join(r.versions, ", "), r.failure,
				b.families(r)})
	}
	p.Cost = b.costs()
	p.Headline, p.Suite = b.headline(), b.suite
	return p
}

// headline returns a sentence that compares toolnorm with the best of the other readers, the
// programs that read calls. It says how many of 100 calls with slips, the small mistakes of models,
// each of the two reads as they were meant. It returns "" if toolnorm has no results for such
// calls, or if no other reader reads any of them right.
func (b *board) headline() string {
	ours := b.pairs[b.readers[0]]["slips"]
	best, share := "", 0.0
	var same float64
	for _, r := range b.readers[1:] {
		if q := b.pairs[r]["slips"]; q != nil && q.Theirs.asked() > 0 {
			if s := float64(q.Theirs[right]) / float64(q.Theirs.asked()); s > share {
				best, share, same = r.name, s, float64(q.Ours[right])/float64(q.Ours.asked())
			}
		}
	}
	if ours == nil || best == "" {
		return ""
	}
	return fmt.Sprintf(
		"Of %d calls with slips toolnorm reads %.0f of 100 as they were meant; the best of the other readers, %s, reads %.0f of 100 of those that it was asked (toolnorm %.0f of the same).",
		ours.Ours.asked(), 100*float64(ours.Ours[right])/float64(ours.Ours.asked()), best,
		100*share, 100*same)
}

// families returns for how many model families the program r reads a call without mistakes
// correctly. A family is the models that write calls in the same form.
func (b *board) families(r *reader) int {
	n := 0
	for i, a := range b.answers[r] {
		if b.cases[i].Row == "plain" && a.is == right {
			n++
		}
	}
	return n
}

// newCell returns the table cell for a reader and a row of inputs. It shows the outcomes in q, and
// the first of the inputs that the reader and toolnorm read differently. The parameter self is true
// if the reader is toolnorm itself.
func newCell(r *reader, q *pair, all []difference, self bool) cell {
	t, o := q.Theirs, q.Ours
	c := cell{Reader: r.id, Name: r.name, Asked: t.asked(), Right: t[right], Lost: t[lost],
		Wrong: t[wrong], False: t[falsely], Bad: t.bad(),
		OurRight: o[right], OurLost: o[lost], OurWrong: o[wrong], OurFalse: o[falsely],
		OurBad: o.bad(), Unlike: q.Unlike, OurUnlike: q.OursUnlike,
		Better: t[right] > o[right], Safer: t.bad() < o.bad(), Self: self}
	if q.EarlyCalls > 0 {
		c.Early = fmt.Sprintf("%.0f %%", 100*q.Early/float64(q.EarlyCalls))
	}
	for _, d := range all {
		short := d
		short.Text = clip(d.Text)
		one := shown{difference: short, Cut: short.Text != d.Text}
		if d.Row == "canitoolcall" {
			one = shown{difference: difference{Reader: d.Reader, Row: d.Row, ID: d.ID,
				Family: d.Family, Theirs: d.Theirs, Ours: d.Ours}, Fetched: true}
		}
		switch theirs := d.Theirs == outcomeNames[right] || d.Theirs == outcomeNames[lost] &&
			d.Ours != outcomeNames[right]; {
		case theirs && len(c.Theirs) < mostBetter:
			c.Theirs = append(c.Theirs, one)
		case !theirs && len(c.Ours) < mostOthers &&
			(len(c.Ours) > 0 || d.Theirs != outcomeNames[lost] || t.bad() == 0):
			c.Ours = append(c.Ours, one)
		default:
			c.More++
		}
	}
	return c
}

// costs returns how much time each reader takes, by model family, for long calls that arrive in
// pieces.
func (b *board) costs() (all []cost) {
	for _, r := range b.readers {
		took := map[string]map[int]answer{}
		for i, a := range b.answers[r] {
			c := b.cases[i]
			if c.Row == "cost" && a.is != skipped {
				if took[c.Format] == nil {
					took[c.Format] = map[int]answer{}
				}
				took[c.Format][len(c.Text)] = a
			}
		}
		for family, byLength := range took {
			one := cost{Reader: r.name, Family: family}
			lengths := slices.Sorted(maps.Keys(byLength))
			short, long := lengths[0], lengths[len(lengths)-1]
			if a := byLength[long]; a.took > 0 && a.err == "" {
				one.Nanoseconds = fmt.Sprintf("%.0f", float64(a.took.Nanoseconds())/float64(long))
				if s := byLength[short]; s.took > 0 && short < long {
					one.Growth = fmt.Sprintf("%.1f",
						float64(a.took)/float64(s.took)*float64(short)/float64(long))
				}
				if a.early >= 0 {
					one.Early = fmt.Sprintf("%.0f %%", 100*a.early)
				}
			} else {
				one.Nanoseconds = a.err
			}
			all = append(all, one)
		}
	}
	slices.SortStableFunc(all, func(x, y cost) int {
		return cmp.Or(cmp.Compare(x.Family, y.Family))
	})
	return all
}

// write writes the page and the JSON file into a folder. It returns an error if a file cannot be
// written.
func (b *board) write(out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	p := b.page()
	t, err := template.New("page.html").Funcs(template.FuncMap{"percent": func(n, of int) string {
		return fmt.Sprintf("%.1f", 100*float64(n)/float64(max(of, 1)))
	}}).ParseFS(pageFile, "page.html")
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(out, "index.html"))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := t.Execute(f, p); err != nil {
		return err
	}
	return writeJSON(filepath.Join(out, "arena.json"), p)
}

// writeJSON writes the counts into a file, without times and texts, so that two equal runs write
// equal files. It returns an error if the file cannot be written.
func writeJSON(name string, p *page) error {
	type counted struct {
		Asked  int `json:"asked"`
		Right  int `json:"right"`
		Lost   int `json:"lost"`
		Wrong  int `json:"wrong"`
		False  int `json:"false"`
		Unlike int `json:"read_otherwise_in_pieces,omitempty"`
	}
	type both struct {
		Reader   counted `json:"reader"`
		Toolnorm counted `json:"toolnorm"`
	}
	doc := struct {
		Inputs   int                        `json:"inputs"`
		Better   []string                   `json:"other_readers_right_more_often"`
		Safer    []string                   `json:"other_readers_wrong_less_often"`
		Readers  []readerInfo               `json:"readers"`
		Rows     map[string]map[string]both `json:"rows"`
		Suite    *suiteResult               `json:"canitoolcall_by_its_own_runner"`
		Evidence map[string][]table         `json:"evidence"`
	}{p.Inputs, p.Better, p.Safer, p.Readers, map[string]map[string]both{}, p.Suite,
		map[string][]table{}}
	for _, e := range p.Evidence {
		doc.Evidence[e.File] = e.Tables
	}
	for _, r := range p.Rows {
		doc.Rows[r.Name] = map[string]both{}
		for _, c := range r.Cells {
			doc.Rows[r.Name][c.Reader] = both{counted{c.Asked, c.Right, c.Lost, c.Wrong, c.False,
				c.Unlike},
				counted{c.Asked, c.OurRight, c.OurLost, c.OurWrong, c.OurFalse, c.OurUnlike}}
		}
	}
	out, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(out, '\n'), 0o644)
}
