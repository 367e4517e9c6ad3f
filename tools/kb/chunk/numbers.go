package chunk

import (
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
)

// numbers generates the numbers of lists and headings. Word counts these itself, so the text of the
// file does not contain them, but people search for "第3条" in a regulation.
type numbers struct {
	lists  map[string]*wordList // by the ids that paragraphs use
	levels map[string]map[int]wordLevel
	counts map[string][]int // by list: the current count of each level
}

// wordList is a list to which paragraphs refer.
type wordList struct {
	of     string      // the abstract list that has its format and its counts
	starts map[int]int // by level: the number with which it restarts
}

// wordLevel is the format of one level of a list.
type wordLevel struct {
	start        int
	format, text string
}

// mostLevels is how many levels a list has in Word.
const mostLevels = 9

// wordNumbers reads the definitions of lists in a file.
func wordNumbers(x *elements) *numbers {
	n := &numbers{lists: map[string]*wordList{}, levels: map[string]map[int]wordLevel{},
		counts: map[string][]int{}}
	abstract, list, level := "", "", 0
	x.each(func(e xml.StartElement) {
		value := attribute(e, "val")
		look := n.levels[abstract][level]
		switch e.Name.Local {
		case "abstractNum":
			abstract, list = attribute(e, "abstractNumId"), ""
			n.levels[abstract] = map[int]wordLevel{}
		case "num":
			abstract, list = "", attribute(e, "numId")
			n.lists[list] = &wordList{starts: map[int]int{}}
		case "lvl", "lvlOverride":
			level = number0(attribute(e, "ilvl"))
			look = wordLevel{start: 1}
		case "abstractNumId":
			if n.lists[list] != nil {
				n.lists[list].of = value
			}
		case "startOverride":
			if n.lists[list] != nil {
				n.lists[list].starts[level] = number0(value)
			}
		case "start":
			look.start = number0(value)
		case "numFmt":
			look.format = value
		case "lvlText":
			look.text = value
		}
		if n.levels[abstract] != nil && level >= 0 && level < mostLevels {
			n.levels[abstract][level] = look
		}
	})
	return n
}

// next counts one more paragraph on a level of a numbered list, and returns the paragraph's number
// as Word shows it, or "" if it has none.
func (n *numbers) next(list string, level int) string {
	l := n.lists[list]
	if l == nil || level < 0 || level >= mostLevels {
		return ""
	}
	looks, counts := n.levels[l.of], n.counts[l.of]
	look, known := looks[level]
	if !known || look.format == "none" {
		return ""
	}
	if look.format == "bullet" {
		return "-"
	}
	for i := len(counts); i <= level; i++ {
		counts = append(counts, looks[i].start-1)
	}
	if start, anew := l.starts[level]; anew {
		counts[level] = start - 1
		delete(l.starts, level)
	}
	counts[level]++
	counts = counts[:level+1] // deeper levels begin again
	n.counts[l.of] = counts
	text := look.text
	for i, count := range counts {
		text = strings.ReplaceAll(text, fmt.Sprintf("%%%d", i+1),
			counted1(max(count, looks[i].start), looks[i].format))
	}
	return strings.TrimSpace(text)
}

// counters maps number formats to their letters or numerals, other than digits.
var counters = map[string]string{
	"ganada": "가나다라마바사아자차카타파하", "chosung": "ㄱㄴㄷㄹㅁㅂㅅㅇㅈㅊㅋㅌㅍㅎ",
	"lowerLetter": "abcdefghijklmnopqrstuvwxyz", "upperLetter": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
	"aiueo": "アイウエオカキクケコサシスセソタチツテトナニヌネノ", "aiueoFullWidth": "アイウエオカキクケコサシスセソタチツテトナニヌネノ",
	"iroha":                 "イロハニホヘトチリヌルヲワカヨタレソ",
	"decimalEnclosedCircle": "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳", "ideographTraditional": "甲乙丙丁戊己庚辛壬癸",
}

// counted1 returns a number in a number format of Word, such as lowerRoman. In an unknown format it
// returns digits.
func counted1(count int, format string) string {
	if letters := []rune(counters[format]); count >= 1 && count <= len(letters) {
		return string(letters[count-1])
	}
	switch format {
	case "lowerRoman":
		return strings.ToLower(roman(count))
	case "upperRoman":
		return roman(count)
	case "decimalZero":
		return fmt.Sprintf("%02d", count)
	case "japaneseCounting", "chineseCounting", "chineseCountingThousand", "ideographDigital",
		"japaneseDigitalTenThousand", "taiwaneseCountingThousand":
		return han(count)
	}
	return strconv.Itoa(count)
}

// roman returns a number in Roman numerals, or in digits if it is not 1 to 3999.
func roman(n int) (text string) {
	if n < 1 || n > 3999 {
		return strconv.Itoa(n)
	}
	values := []int{1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1}
	for i, sign := range strings.Fields("M CM D CD C XC L XL X IX V IV I") {
		text += strings.Repeat(sign, n/values[i])
		n %= values[i]
	}
	return text
}

// han returns a number in Chinese numerals, or in digits if it is not 0 to 99.
func han(n int) string {
	digits := []rune("〇一二三四五六七八九")
	switch {
	case n < 0 || n > 99:
		return strconv.Itoa(n)
	case n < 10:
		return string(digits[n])
	}
	text := "十"
	if n >= 20 {
		text = string(digits[n/10]) + text
	}
	if n%10 > 0 {
		text += string(digits[n%10])
	}
	return text
}
