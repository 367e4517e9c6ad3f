package xml

import "strings"

// lines is a text as lines, each with its line end. The line ends are kept so that the rest of a
// prompt stays the same, byte for byte. Indentation means nothing in these prompts.
type lines []string

// split returns a text as lines. The lines joined together are the text again.
func split(text string) lines { return strings.SplitAfter(text, "\n") }

// find returns the index of the first line, from line i on, that is equal to word, or that begins
// with word if more is true. It returns -1 if there is no such line. Callers limit the search by
// slicing l.
func (l lines) find(i int, word string, more bool) int {
	for ; i < len(l); i++ {
		line := strings.TrimSpace(l[i])
		if line == word || more && strings.HasPrefix(line, word) {
			return i
		}
	}
	return -1
}

// ends returns the index of the first line, from line i on, that ends with word, or -1 if there is
// none.
func (l lines) ends(i int, word string) int {
	for ; i < len(l); i++ {
		if strings.HasSuffix(strings.TrimSpace(l[i]), word) {
			return i
		}
	}
	return -1
}

// blank returns the index of the first blank line, from line i on, or the number of lines if there
// is none.
func (l lines) blank(i int) int {
	for ; i < len(l); i++ {
		if strings.TrimSpace(l[i]) == "" {
			return i
		}
	}
	return len(l)
}

// text returns the lines from line i up to, but not including, line j.
func (l lines) text(i, j int) string { return strings.Join(l[i:j], "") }

// element is an XML element: <name>body</name>.
type element struct{ name, body string }

// mostElements is the most tags of a text that are looked at. Each costs a search through the rest
// of the text, which a hostile text could make quadratic.
const mostElements = 200

// elements returns the outermost elements of a text. Text between them is skipped, and so are a
// second element of the same name and an opening tag without a closing one.
func elements(text string) (all []element) {
	seen := map[string]bool{}
	for range mostElements {
		open := strings.IndexByte(text, '<')
		if open < 0 {
			return all
		}
		text = text[open+1:]
		name, _, ok := strings.Cut(text[:min(len(text), longestName+1)], ">")
		if !ok || !isName(name) || seen[name] {
			continue
		}
		body, rest, ok := strings.Cut(text[len(name)+1:], "</"+name+">")
		if !ok {
			continue
		}
		seen[name] = true
		all = append(all, element{name, body})
		text = rest
	}
	return all
}
