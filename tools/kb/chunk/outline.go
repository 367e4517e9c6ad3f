package chunk

import (
	"strings"

	"toolnorm/internal/clip"
)

// longestTitle is the largest width of a title or a heading, and the number of its characters that
// are used. A wider one is really a paragraph in large letters.
const longestTitle = 200

// isLong reports whether a title or a heading is too long for one, and therefore text.
func isLong(title string) bool { return columns(title) > longestTitle }

// outline has the headings above the current position of a reader. Levels may be missing, such as
// an h4 below an h2, so it has a stack of levels and not one title per level.
type outline struct {
	levels []int
	titles []string
}

// enter adds a heading, after it has removed the headings of the same level and of deeper levels.
// It adds nothing if title is empty.
func (o *outline) enter(level int, title string) {
	for len(o.levels) > 0 && o.levels[len(o.levels)-1] >= level {
		o.levels, o.titles = o.levels[:len(o.levels)-1], o.titles[:len(o.titles)-1]
	}
	if title = strings.Join(strings.Fields(title), " "); title != "" {
		o.levels, o.titles = append(o.levels, level),
			append(o.titles, clip.Runes(title, longestTitle))
	}
}

// path returns the headings in one line, such as "Leave > Sick leave".
func (o *outline) path() string { return strings.Join(o.titles, " > ") }

// headed is a text below headings. No heading is lost: those without text below them become blocks,
// since otherwise no passage would contain them.
type headed struct {
	Text
	outline
	lone bool // nothing is below the last heading yet
}

// add adds a block below the current headings, unless the text is blank.
func (h *headed) add(text string) {
	if strings.TrimSpace(text) != "" {
		h.Blocks = append(h.Blocks, Block{h.path(), text})
		h.lone = false
	}
}

// heading adds a heading, or a block if it is too long for a heading.
func (h *headed) heading(level int, title string) {
	if last := len(h.titles) - 1; h.lone && last >= 0 && level <= h.levels[last] {
		h.add(h.titles[last])
	}
	if isLong(title) {
		h.enter(level, "")
		h.add(title)
		return
	}
	h.enter(level, title)
	h.lone = h.lone || strings.TrimSpace(title) != ""
}

// restart removes all headings, because what follows is another sheet or slide, or the end of the
// file.
func (h *headed) restart() {
	h.heading(0, "")
	h.outline, h.lone = outline{}, false
}
