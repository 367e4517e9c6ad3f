package chunk

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// headLines is how many lines of a page's beginning and of its end may be a running head or foot.
const headLines = 2

// withoutHeads returns the lines of all pages without those that stand at the top or the foot of
// many, the same but for a number that counts the pages: they would be put into the middle of
// sentences that go over two pages. The first one at a top stays, since it may be the head of a
// table that goes on, and so does a page that has nothing else.
func withoutHeads(pages [][]line) (all []line) {
	tops, feet := map[string]int{}, map[string]int{}
	for i, page := range pages {
		count(tops, page[:min(headLines, len(page))], i)
		count(feet, page[max(0, len(page)-headLines):], i)
	}
	most := max(3, len(pages)/20) // chapters have their own
	often := func(l line, at int, counts map[string]int) string {
		for _, key := range keysOf(l, at) {
			if counts[key] >= most {
				return key
			}
		}
		return ""
	}
	seen := map[string]bool{}
	for i, page := range pages {
		end, start := len(page), 0
		for end > 0 && end > len(page)-headLines && often(page[end-1], i, feet) != "" {
			end--
		}
		for start < end && start < headLines && often(page[start], i, tops) != "" {
			start++
		}
		if start == end {
			start, end = 0, len(page)
		}
		for _, l := range page[:start] {
			if key := often(l, i, tops); !seen[key] {
				seen[key] = true
				all = append(all, l)
			}
		}
		all = append(all, page[start:end]...)
	}
	return all
}

// count counts what the lines of a page say, each key once.
func count(counts map[string]int, lines []line, page int) {
	var keys []string
	for _, l := range lines {
		for _, key := range keysOf(l, page) {
			if !slices.Contains(keys, key) {
				keys = append(keys, key)
				counts[key]++
			}
		}
	}
}

// keysOf returns what a line of a page says: as it is, and with each of its numbers as the distance
// from the page's own. A line without letters counts the pages or says nothing.
func keysOf(l line, page int) (keys []string) {
	words := strings.Fields(l.text)
	if strings.ContainsFunc(l.text, unicode.IsLetter) {
		keys = append(keys, strings.Join(words, " "))
	}
	for i, word := range words {
		if n, err := strconv.Atoi(strings.Trim(word, "-–()[]|./:")); err == nil {
			other := slices.Clone(words)
			other[i] = "#" + strconv.Itoa(n-page)
			keys = append(keys, strings.Join(other, " "))
		}
	}
	return keys
}
