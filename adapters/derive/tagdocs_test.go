package derive

import (
	"iter"
	"math/rand"
	"testing"

	"toolnorm/adapters"
	"toolnorm/chat"
	"toolnorm/internal/golden"
	"toolnorm/internal/test/calldocs"
)

// TestDocumentsAboutCallsComeBack writes documents about calls with the families in tags that only
// their templates tell of, which know one form of their calls where a family's file has several.
func TestDocumentsAboutCallsComeBack(t *testing.T) {
	if testing.Short() {
		t.Skip("a set is loaded for each family")
	}
	seed, most := calldocs.Numbers(40)
	r := rand.New(rand.NewSource(seed))
	var all calldocs.Count
	for _, rec := range recordings(t) {
		if rec.Family == "" {
			continue
		}
		f, as := derived(t, rec)
		if len(f.Args) == 0 || len(f.Calls) == 0 || f.Calls[0].Index("args") < 0 {
			continue
		}
		d := &calldocs.Docs{Rand: r, Own: f}
		for _, p := range adapters.Named(rec.Family).Calls {
			d.Marks = append(d.Marks, calldocs.Mark{Open: p.Parts[0].Lit.Plain(), Close: p.Parts[len(p.Parts)-1].Lit.Plain(), Around: p.Index("call") < 0})
		}
		for _, o := range adapters.All() {
			d.Others = append(d.Others, o)
		}
		count, wrong, err := d.Trips(most, func(pieces []string) iter.Seq2[chat.Event, error] {
			return f.Decode(golden.Source(pieces, chat.Stop), adapters.Options{Tools: calldocs.Tools})
		})
		if err != nil {
			t.Errorf("%s by %s: %v", rec.Family, rec.Name, err)
		}
		for _, raw := range wrong {
			t.Logf("%s by %s: another value was read: %q", rec.Family, rec.Name, raw)
		}
		t.Logf("%-16s %v, as %.40q by %s", rec.Family, count, as, rec.Name)
		all.Add(count)
	}
	t.Logf("all %v", all)
	if all[calldocs.Wrong] > 1+all.All()/300 {
		t.Errorf("of the calls another value was read: %v", all)
	}
}
