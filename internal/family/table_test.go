package family

import (
	"strings"
	"testing"

	"toolnorm/adapters"
	"toolnorm/internal/test/must"
)

func TestATableTellsWhatFamiliesAre(t *testing.T) {
	f, err := adapters.Builtin().Parse([]byte("# JSON in tags | pipes: Mine. More is said elsewhere.\nformat mine\nmodels mine* my-own*\nthink <t>{reasoning}</t>\ncall <|mine|>{call}</mine>\n-- a: raw --\nx\n-- a: events --\nfinish stop\n"))
	must.OK(t, err)
	got, err := Table([]*adapters.Format{f})
	want := "| `mine` | JSON in tags \\| pipes: Mine | `mine*` `my-own*` | `<\\|mine\\|>` | `<t>…</t>` | 1 |\n\n1 families, 1 cases.\n"
	if err != nil || !strings.HasSuffix(got, want) {
		t.Errorf("got %q, %v, want %q at its end", got, err, want)
	}
}

func TestATableIsFilledIn(t *testing.T) {
	doc := "a\n" + tableBegins + "old\n" + tableEnds + "b\n"
	if got, ok := Fill([]byte(doc), "new\n"); !ok || string(got) != "a\n"+tableBegins+"\nnew\n\n"+tableEnds+"b\n" {
		t.Errorf("got %q, %v", got, ok)
	}
	if _, ok := Fill([]byte("no table"), "new\n"); ok {
		t.Error("a document without a place for the table is taken")
	}
}
