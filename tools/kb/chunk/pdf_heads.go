package chunk

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// headLines is how many lines at the beginning and at the end of a page may be a page header or
// footer.
const headLines = 2

// withoutHeads returns the lines of all pages without page headers and footers, which would be in
// the middle of sentences that continue on the next page. These are lines that many pages have at
// the top or the bottom and that differ at most in a page number. The first occurrence at the top
// of a page is kept, since it may be the head of a table that continues. A page without other lines
// is kept whole.
func withoutHeads(pages [][]line) (all []line) {
	tops, feet := map[string]int{}, map[string]int{}
	for i, page := range pages {
		count(tops, page[:min(headLines, len(page))], i)
		count(feet, page[max(0, len(page)-headLines):], i)
	}
	most := max(3, len(pages)/20) // chapters may have headers of their own
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

// count adds 1 to the counts of all keys that lines of a page have (see keysOf), but counts each
// key only once per page.
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

// keysOf returns keys by which a line equals the same line on other pages: its text, and its text
// with each number replaced by its distance from the number of the page. A line without letters has
// only keys of the second kind.
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
