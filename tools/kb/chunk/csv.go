package chunk

import (
	"strings"

	"toolnorm/internal/csvrows"
)

// readCSV reads rows of values that are separated by commas, semicolons, tabs or bars. It returns
// an error if the encoding is not known or there is too much text.
func readCSV(data []byte) (Text, error) {
	text, problem, err := utf8Text(data)
	if err != nil {
		return Text{}, err
	}
	f := &flow{elements: new(elements)}
	f.tell(problem)
	comma := separator(text)
	// for Excel
	if said, rest, found := strings.Cut(text, "\n"); found && strings.HasPrefix(said, "sep=") &&
		len(said) == 5 {
		comma, text = said[4], rest
	}
	f.addSheet(csvrows.Of(text, comma, len(text)))
	return f.whole()
}

// separators are the characters that may separate the values of a row.
const separators = "\t,;|"

// separator returns the character that separates the values of a text. It tries all separators and
// takes the one that results in the most rows of equal length among the first rows.
func separator(text string) byte {
	best, most := byte(','), 0
	for _, comma := range []byte(separators) {
		counts := map[int]int{}
		for _, row := range csvrows.Of(text[:min(len(text), 1<<16)], comma, 50) {
			if len(row) > 1 {
				counts[len(row)]++
			}
		}
		for fields, rows := range counts {
			if worth := rows*100 + min(fields, 99); worth > most {
				best, most = comma, worth
			}
		}
	}
	return best
}
