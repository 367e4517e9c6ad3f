package chunk

import "toolnorm/internal/csvrows"

// readCSV reads a file of rows whose values are separated, for example by commas (see
// csvrows.Read). It returns an error if the encoding is not known or there is too much text.
func readCSV(data []byte) (Text, error) {
	text, problem, err := utf8Text(data)
	if err != nil {
		return Text{}, err
	}
	f := &flow{elements: new(elements)}
	f.tell(problem)
	f.addSheet(csvrows.Read(text))
	return f.whole()
}
