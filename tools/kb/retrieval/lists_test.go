package retrieval

import (
	"fmt"
	"testing"

	"toolnorm/internal/lexical"
	"toolnorm/tools/kb/kbstore"
)

// TestListsAreKeptForTheirSegments searches twice: the lists of the first search are there for the
// second, and for no other segments.
func TestListsAreKeptForTheirSegments(t *testing.T) {
	store := openStore(t)
	store.Words.Sizes = kbstore.Sizes{Fresh: 5, Small: 10, Many: 3, Large: 40}
	base, l := fill(t, store, sample(t, "en")), &Local{Store: store}
	q := Query{Text: "remote work allowance", Base: base.ID, Max: 10, Principal: someone}
	first := answerByWords(t, l, q)
	segments, words := l.states.get(base.ID).at.Segments, lexical.Words(q.Text)
	known, others := l.lists.get(base.ID, segments, words)
	if len(segments) == 0 || len(known) != len(words) || len(others) != 0 || len(known["work"][kbstore.OfPassages]) == 0 {
		t.Errorf("of %q in the segments %v are kept %v, not %q", words, segments, known, others)
	}
	if known, others = l.lists.get(base.ID, append(segments, 99), words); len(known) != 0 || len(others) != len(words) {
		t.Errorf("for another segment too are kept %v", known)
	}
	if second := answerByWords(t, l, q); second != first {
		t.Errorf("the second answer is\n%s, the first\n%s", second, first)
	}
}

// TestListsThatAreKeptAreNotTooMany keeps lists of two hundred megabytes, and one word that is asked
// for again and again: it stays. A word whose segments change counts once.
func TestListsThatAreKeptAreNotTooMany(t *testing.T) {
	var l lists
	megabyte, asked := make([]byte, 1<<20), []string{"asked"}
	l.keep("b", nil, kbstore.Lists{"asked": {{1: megabyte}, {}}})
	for i := range 200 {
		l.keep("b", nil, kbstore.Lists{fmt.Sprint(i): {{1: megabyte}, {}}})
		if _, others := l.get("b", nil, asked); len(others) > 0 {
			t.Fatalf("after %d others the word is not kept", i)
		}
	}
	if n := len(l.young) + len(l.old); n > 2*(mostKept>>20+1) {
		t.Errorf("%d megabytes are kept", n)
	}
	l = lists{}
	for i := range int64(200) {
		l.keep("b", []int64{i}, kbstore.Lists{"again": {{i: megabyte}, {}}})
	}
	if l.old != nil {
		t.Errorf("a word that is read again counts again: %d megabytes for %d", l.bytes>>20, len(l.young))
	}
}
