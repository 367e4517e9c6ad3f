package retrieval

import (
	"context"
	"maps"
	"slices"
	"sync"

	"toolnorm/tools/kb/kbstore"
)

// mostKept is about how many bytes of lists each of the two halves of lists may have.
const mostKept = 32 << 20

// lists keeps the lists of words that searches have read, since segments do not change, other
// searches have the same words, and the lists of frequent words are long. Words that nobody has
// searched for lately are dropped. The zero value is ready for use.
type lists struct {
	mu         sync.Mutex
	young, old map[wordOf]kept // old is young as it was when it was last full
	bytes      int             // of young
}

// wordOf is a word of a base.
type wordOf struct{ base, word string }

// kept has the lists of a word in the given segments.
type kept struct {
	segments []int64
	*kbstore.ListsOf
}

// get returns the lists that are kept of a base's words in the given segments, and the words that
// have none.
func (l *lists) get(base string, segments []int64, words []string) (
	known kbstore.Lists, others []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known = kbstore.Lists{}
	for _, word := range words {
		of := wordOf{base, word}
		k, there := l.young[of]
		if !there {
			if k, there = l.old[of]; there {
				l.put(of, k)
			}
		}
		if there && slices.Equal(k.segments, segments) {
			known[word] = k.ListsOf
		} else {
			others = append(others, word)
		}
	}
	return known, others
}

// keep keeps lists of a base that were read in the given segments. They must not be changed any
// more.
func (l *lists) keep(base string, segments []int64, read kbstore.Lists) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for word, of := range read {
		l.put(wordOf{base, word}, kept{segments, of})
	}
}

// put puts lists into young, which becomes old when it is full.
func (l *lists) put(of wordOf, k kept) {
	if l.young == nil || l.bytes > mostKept {
		l.young, l.old, l.bytes = map[wordOf]kept{}, l.young, 0
	}
	l.young[of] = k
	for _, segments := range k.ListsOf {
		for _, list := range segments {
			l.bytes += len(list) + 64 // what a map takes besides
		}
	}
}

// look is [kbstore.Reader.Look], but does not read the lists that are kept for the segments that
// the base had at the last search.
func (l *Local) look(ctx context.Context, r *kbstore.Reader, base string, last []int64,
	words []string) (kbstore.Indexed, kbstore.Lists, error) {
	known, others := l.lists.get(base, last, words)
	now, read, err := r.Look(ctx, others)
	if err == nil && len(known) > 0 && !slices.Equal(now.Segments, last) {
		known = nil
		now, read, err = r.Look(ctx, words)
	}
	if err == nil {
		l.lists.keep(base, now.Segments, read)
		maps.Copy(read, known)
	}
	return now, read, err
}
