package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// section is a section of a manual: its title without its number, and the beginning of its text.
type section struct{ title, text string }

// number matches the number before the title of a section.
var number = regexp.MustCompile(`^[\d.٠-٩۰-۹]+\s+`)

// longestPassage is the length in bytes from which on no further paragraph is added to a passage.
const longestPassage = 1000

// readHandbook returns a set for each language of a manual made by DocBook, such as the package
// debian-handbook (/usr/share/doc/debian-handbook/html). The text of a section is a passage, and
// its title, which is not in the passage, is the question that the passage answers. Sections that
// are not translated are left out. Titles that occur twice are no questions. It returns an error if
// a page cannot be read, and nothing if folder is "".
func readHandbook(folder string) (sets []set, err error) {
	folders, err := filepath.Glob(filepath.Join(folder, "*-*"))
	if err != nil || folder == "" {
		return nil, err
	}
	english, err := sections(filepath.Join(folder, "en-US"))
	if err != nil {
		return nil, err
	}
	for _, f := range folders {
		language, _, _ := strings.Cut(filepath.Base(f), "-")
		all, err := sections(f)
		if err != nil {
			return nil, err
		}
		s := set{name: "handbook, " + filepath.Base(f), language: language}
		times := map[string]int{}
		for _, is := range all {
			times[is.title]++
		}
		for _, is := range all {
			same := func(e section) bool { return e.title == is.title || e.text == is.text }
			if language != "en" && slices.ContainsFunc(english, same) {
				continue
			}
			if times[is.title] == 1 {
				s.questions = append(s.questions,
					question{is.title, map[int]bool{len(s.passages): true}})
			}
			s.passages = append(s.passages, passage{"", is.text})
		}
		if len(s.questions) >= 50 {
			sets = append(sets, s)
		}
	}
	return sets, nil
}

// sections returns the sections with text in the pages of a folder, in order. It returns an error
// if a page cannot be read.
func sections(folder string) (all []section, err error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.html"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		root, err := html.Parse(f)
		_ = f.Close() // it was read
		if err != nil {
			return nil, err
		}
		var now *section
		for n := range root.Descendants() {
			switch {
			case n.Type != html.ElementNode:
			case strings.HasPrefix(n.Data, "h") && class(n) == "title":
				all = append(all, section{title: number.ReplaceAllString(text(n), "")})
				now = &all[len(all)-1]
			case class(n) == "para" && now != nil && len(now.text) < longestPassage:
				now.text += text(n) + "\n"
			}
		}
	}
	return slices.DeleteFunc(all, func(s section) bool {
		return len(s.text) < 200 || s.title == ""
	}), nil
}

// class returns the class of an element.
func class(n *html.Node) string {
	for _, a := range n.Attr {
		if a.Key == "class" {
			return a.Val
		}
	}
	return ""
}

// text returns the text of an element, with single blanks.
func text(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
