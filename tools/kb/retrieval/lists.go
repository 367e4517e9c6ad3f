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

// lists caches what searches have read from the index for each word, because the lists of frequent
// words are long and other searches have the same words. The lists stay valid, because segments do
// not change. Words that nobody has searched for lately are dropped. The zero value is ready for
// use.
type lists struct {
	mu         sync.Mutex
	young, old map[wordOf]kept // old is young as it was when it was last full
	bytes      int             // of young
}

// wordOf is a word, with the knowledge base in whose index it is looked up.
type wordOf struct{ base, word string }

// kept has the lists of a word, and the ids of the segments from which they were read.
type kept struct {
	segments []int64
	*kbstore.ListsOf
}

// get returns the cached lists of words, and the words that are not cached. A list is used only if
// it was read from exactly the given segments of the base.
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

// keep stores lists in the cache. They were read from the given segments of the base, and must not
// be changed any more.
func (l *lists) keep(base string, segments []int64, read kbstore.Lists) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for word, of := range read {
		l.put(wordOf{base, word}, kept{segments, of})
	}
}

// put stores the lists of a word in l.young, the newer of the cache's two maps. When that is full,
// it first replaces the older map, l.old, whose words are dropped, and a new map begins.
func (l *lists) put(of wordOf, k kept) {
	if l.young == nil || l.bytes > mostKept {
		l.young, l.old, l.bytes = map[wordOf]kept{}, l.young, 0
	}
	l.bytes += k.size() - l.young[of].size()
	l.young[of] = k
}

// size returns about how many bytes of memory the lists of a word take. It is 0 for the zero value.
func (k kept) size() (bytes int) {
	if k.ListsOf == nil {
		return 0
	}
	for _, segments := range k.ListsOf {
		for _, list := range segments {
			bytes += len(list) + 64 // what a map takes besides
		}
	}
	return bytes
}

// look returns the base's version, the segments of its index and the lists of words, as
// [kbstore.Reader.Look] does. It takes lists from the cache if the base still has the segments of
// the last search, which are the parameter last. It returns the errors of Reader.Look.
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
