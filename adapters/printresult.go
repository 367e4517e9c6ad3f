package adapters

import (
	"strings"

	"toolnorm/chat"
	"toolnorm/chat/schema"
)

// AppendResults writes what tools answered as the family's templates do, without the marks of the turn around: texts[i] is
// the answer to calls[i], whose ids are those that Number gives. Without a result line in the declaration it writes nothing.
func (f *Format) AppendResults(dst []byte, calls []chat.Call, texts []string) []byte {
	if f.result == nil || len(texts) == 0 {
		return dst
	}
	if f.results == nil {
		return f.appendResults(dst, "", calls, texts)
	}
	before := ""
	for _, part := range f.results.parts {
		if part.hole == "results" {
			dst = f.appendResults(dst, before, calls, texts)
		} else {
			before = f.literalText(part.lit.text)
			dst = append(dst, before...)
		}
	}
	return appendNewlines(dst, f.results.tail)
}

// appendResults writes results one after the other: newlines in front of the example stand between two; in a list it is a
// comma, and the white space behind the bracket.
func (f *Format) appendResults(dst []byte, before string, calls []chat.Call, texts []string) []byte {
	p := f.result
	between := strings.Repeat("\n", p.glue)
	if list := strings.TrimRight(before, "\n "); strings.HasSuffix(list, "[") {
		if between = "," + before[len(list):]; between == "," {
			between = ", "
		}
	}
	for i, text := range texts {
		if i > 0 {
			dst = append(dst, between...)
		}
		dst = f.appendResult(dst, p, calls[i], text)
	}
	return dst
}

// appendResult fills the holes of a result.
func (f *Format) appendResult(dst []byte, p *pattern, c chat.Call, text string) []byte {
	for _, part := range p.parts {
		switch part.hole {
		case "":
			dst = append(dst, f.literalText(part.lit.text)...)
		case "name":
			dst = append(dst, c.Name...)
		case "id":
			dst = append(dst, c.ID...)
		case "result":
			dst = append(dst, text...)
		case "quoted":
			dst = schema.AppendQuote(dst, text)
		}
	}
	return appendNewlines(dst, p.tail)
}
