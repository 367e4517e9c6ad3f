package chunk

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// part is a heading of a generated document, or a paragraph if level is 0.
type part struct {
	level int
	text  string
}

// written has a writer of documents for each kind of file that has headings.
var written = map[string]func(t *testing.T, all []part) []byte{
	".md": func(_ *testing.T, all []part) []byte {
		return []byte(each(all, func(p part) string { return strings.TrimSpace(strings.Repeat("#", p.level)+" "+p.text) + "\n\n" }))
	},
	".html": func(_ *testing.T, all []part) []byte {
		return []byte(each(all, func(p part) string {
			name := "p"
			if p.level > 0 {
				name = fmt.Sprint("h", p.level)
			}
			return "<" + name + ">" + p.text + "</" + name + ">"
		}))
	},
	".docx": func(t *testing.T, all []part) []byte {
		return wordFile(t, each(all, func(p part) string { return wordPara([]string{"", "1", "2", "T"}[p.level], p.text) }))
	},
	".odt": func(t *testing.T, all []part) []byte {
		return odfFile(t, each(all, func(p part) string {
			if p.level == 0 {
				return "<text:p>" + p.text + "</text:p>"
			}
			return fmt.Sprintf(`<text:h text:outline-level="%d">%s</text:h>`, p.level, p.text)
		}))
	},
	".pptx": func(t *testing.T, all []part) []byte {
		var slides []string
		for _, p := range all {
			kind := ""
			if p.level > 0 {
				kind = `<p:nvPr><p:ph type="title"/></p:nvPr>`
			}
			shape := "<p:sp>" + kind + "<a:p><a:r><a:t>" + p.text + "</a:t></a:r></a:p></p:sp>"
			if n := len(slides) - 1; n >= 0 && p.level == 0 {
				slides[n] = strings.Replace(slides[n], "</p:sld>", shape+"</p:sld>", 1)
				continue
			}
			slides = append(slides, "<p:sld>"+shape+"</p:sld>")
		}
		return slideFile(t, slides...)
	},
	".pdf": func(t *testing.T, all []part) []byte {
		content, y := "BT /F1 10 Tf ", 780
		for _, p := range all {
			size := []int{10, 20, 16, 13}[p.level]
			for line := range slices.Chunk(strings.Fields(p.text), 12) {
				y -= 2 * size
				content += fmt.Sprintf("/F1 %d Tf 1 0 0 1 72 %d Tm (%s) Tj ", size, y, strings.Join(line, " "))
			}
		}
		return pdfOf(t, content+"ET")
	},
}

// each returns what write returns for all parts, joined.
func each(all []part, write func(part) string) (whole string) {
	for _, p := range all {
		whole += write(p)
	}
	return whole
}

// TestNoHeadingIsLost writes documents of headings and paragraphs by chance, some of them headings
// with nothing below or as long as paragraphs, and holds that each word can be found.
func TestNoHeadingIsLost(t *testing.T) {
	for ending, write := range written {
		for seed := range uint64(100) {
			r := rand.New(rand.NewPCG(seed, 7))
			var all []part
			words := 0
			for range 2 + r.IntN(8) {
				p := part{level: max(0, r.IntN(6)-2)}
				for range []int{1, 3, 60}[r.IntN(3)] {
					p.text = strings.TrimSpace(fmt.Sprintf("%s word%d", p.text, words))
					words++
				}
				all = append(all, p)
			}
			all = append(all, part{0, "end"})
			data := write(t, all)
			got, err := Read("x"+ending, data)
			if err != nil {
				t.Fatalf("%s, seed %d: %v\n%s", ending, seed, err, data)
			}
			found := strings.Fields(strings.NewReplacer("]", " ", "[", " ", "⏎", " ").Replace(show(got)))
			for i := range words {
				if word := fmt.Sprint("word", i); !slices.Contains(found, word) {
					t.Fatalf("%s, seed %d: %s is lost\n%v\n%s", ending, seed, word, all, show(got))
				}
			}
		}
	}
}
