package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"toolnorm/internal/test/must"
)

func TestEvidenceIsRead(t *testing.T) {
	all := must.Have(readEvidence("../../docs/evidence"))(t)
	for _, e := range all {
		for _, table := range e.Tables {
			if len(table.Rows) == 0 || slices.ContainsFunc(table.Rows, func(r []string) bool { return len(r) != len(table.Head) }) {
				t.Errorf("%s, %s: %d columns, rows %q", e.File, table.Heading, len(table.Head), table.Rows)
			}
		}
	}
}

func TestWhereOthersAreBetter(t *testing.T) {
	text := "## A model\n\n| read by | right | false calls |\n|---|--:|--:|\n| Ollama's own `/v1` | 3 of 9 | 0 of 2 |\n" +
		"| toolnorm, `raw` | 9 of 9 | 1 of 2 |\n| toolnorm, `tap` | 2 of 9 | 0 of 2 |\n\n## Then\n\n| a |\n|---|\n| 1 |\n"
	all := tables(text, "## Then")
	if len(all) != 1 {
		t.Fatalf("%d tables", len(all))
	}
	s := &source{Title: "Real", theirs: "Ollama", more: []string{"right"}, less: []string{"false calls"}}
	got, err := s.better(all[0])
	want := []string{"Real, A model, right: Ollama's own /v1 3 of 9; toolnorm, tap 2 of 9.",
		"Real, A model, false calls: Ollama's own /v1 0 of 2; toolnorm, raw 1 of 2."}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	s.more = []string{"absent"}
	if _, err := s.better(all[0]); err == nil {
		t.Error("an absent column is no error")
	}
	s = &source{Title: "Pairs", pairs: [][2]string{{"Ollama right", "toolnorm right"}}}
	got, err = s.better(tables("| API | Ollama right | toolnorm right |\n|---|---|---|\n| chat | 5 | 4 |\n| other | 4 | 4 |\n", "")[0])
	if err != nil || !slices.Equal(got, []string{"Pairs, chat: Ollama right 5, toolnorm right 4."}) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestUnequalCounts(t *testing.T) {
	one := map[string]string{"/a": "1", "/b": "2", "/c": "3"}
	if got := unequal(one, maps.Clone(one)); len(got) > 0 {
		t.Errorf("%q", got)
	}
	got := unequal(one, map[string]string{"/a": "1", "/b": "4", "/d": "5"})
	if strings.Join(got, "; ") != "/b: 2, then 4; /c: 3, then absent; /d: absent, then 5" {
		t.Errorf("%q", got)
	}
}
