package adapters

import (
	"iter"
	"math/rand"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/golden"
	"toolnorm/internal/test/calldocs"
)

// callDocs makes documents about the calls of a family.
func callDocs(r *rand.Rand, f *Format) *calldocs.Docs {
	d := &calldocs.Docs{Rand: r, Own: f}
	for _, p := range f.Calls {
		d.Marks = append(d.Marks, calldocs.Mark{Open: p.Parts[0].Lit.Plain(), Close: p.Parts[len(p.Parts)-1].Lit.Plain(), Around: p.Index("call") < 0})
	}
	for _, o := range All() {
		d.Others = append(d.Others, o)
	}
	return d
}

func TestDocumentsAboutCallsComeBack(t *testing.T) {
	seed, most := calldocs.Numbers(60)
	if testing.Short() {
		most = 4
	}
	r := rand.New(rand.NewSource(seed))
	var all calldocs.Count
	for _, f := range tagFamilies() {
		count, wrong, err := callDocs(r, f).Trips(most, func(pieces []string) iter.Seq2[chat.Event, error] {
			return f.Decode(golden.Source(pieces, chat.Stop), Options{Tools: calldocs.Tools})
		})
		if err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		for _, raw := range wrong {
			t.Logf("%s: another value was read: %q", f.Name, raw)
		}
		t.Logf("%-16s %v", f.Name, count)
		all.Add(count)
	}
	t.Logf("all %v", all)
	// What is left are halves of calls that belong to each other by chance.
	if all[calldocs.Wrong] > 1+all.All()/300 {
		t.Errorf("of the calls another value was read: %v", all)
	}
}
