package xml

import "strings"

// lines is a text as lines, each with its line end. Indentation means nothing in these prompts. The
// line ends are kept so that the rest of a prompt stays the same, byte for byte.
type lines []string

// split cuts a text into lines, which joined are the text again.
func split(text string) lines { return strings.SplitAfter(text, "\n") }

// find returns the first line from i on that is word or, if more is true, that begins with word; -1
// when there is no such line. Callers bound how far they look by cutting l.
func (l lines) find(i int, word string, more bool) int {
	for ; i < len(l); i++ {
		line := strings.TrimSpace(l[i])
		if line == word || more && strings.HasPrefix(line, word) {
			return i
		}
	}
	return -1
}

// ends returns the first line from i on that ends with word; -1 when there is no such line.
func (l lines) ends(i int, word string) int {
	for ; i < len(l); i++ {
		if strings.HasSuffix(strings.TrimSpace(l[i]), word) {
			return i
		}
	}
	return -1
}

// blank returns the first blank line from i on, or the end.
func (l lines) blank(i int) int {
	for ; i < len(l); i++ {
		if strings.TrimSpace(l[i]) == "" {
			return i
		}
	}
	return len(l)
}

// text returns the lines from i up to j.
func (l lines) text(i, j int) string { return strings.Join(l[i:j], "") }

// element is <name>body</name>.
type element struct{ name, body string }

// mostElements is how many marks of a text are looked at.
// Each costs a search through the rest of the text, which a hostile one could make quadratic.
const mostElements = 200

// elements returns the outermost elements of a text. The text between them is skipped, and so are a
// second element of the same name and a mark without its closing mark.
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
