package print

import (
	"fmt"
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/chat"
)

// Results writes what tools answered as the family's templates do, without the marks of the turn
// around: texts[i] is the answer to calls[i], whose ids are those that Number gives. Without a
// result line in the declaration it writes nothing.
//
//	hermes        \n<tool_response>\n{result}\n</tool_response>
//	mistral-v3    [TOOL_RESULTS]{"content": {result}, "call_id": "{id}"}[/TOOL_RESULTS]
//	apertus       [{result}, {result}]
func Results(dst []byte, f *declaration.Family, calls []chat.Call, texts []string) []byte {
	if f.Result == nil || len(texts) == 0 {
		return dst
	}
	if f.ResultList == nil {
		return appendResults(dst, f, "", calls, texts)
	}
	return fill(dst, f.ResultList, func(dst []byte, i int) []byte {
		before := ""
		if i > 0 {
			before = f.ResultList.Printed(i - 1)
		}
		return appendResults(dst, f, before, calls, texts)
	})
}

// appendResults writes results one after the other: newlines in front of the example stand between
// two, as in hermes's <tool_response> blocks; in a list, which command-r7b shows, it is a comma,
// and the white space behind the bracket.
func appendResults(dst []byte, f *declaration.Family, before string, calls []chat.Call, texts []string) []byte {
	p := f.Result
	between := strings.Repeat("\n", p.Glue)
	if list := strings.TrimRight(before, "\n "); strings.HasSuffix(list, "[") {
		if between = "," + before[len(list):]; between == "," {
			between = ", "
		}
	}
	for i, text := range texts {
		if i > 0 {
			dst = append(dst, between...)
		}
		dst = appendResult(dst, p, calls[i], text)
	}
	return dst
}

// appendResult fills the holes of a result. The text is printed as the tool gave it: what in it
// looks like a mark is the business of who lets tools' answers into a prompt (see declaration's
// Marked). Only some families quote: harmony and Llama 3 print a result as a JSON string,
// mistral-v3 bare inside an object, which is then JSON only if the result is. A list of text parts
// was joined before: templates print its source, nothing, or refuse it.
func appendResult(dst []byte, p *declaration.Pattern, c chat.Call, text string) []byte {
	return fill(dst, p, func(dst []byte, i int) []byte {
		switch p.Parts[i].Hole {
		case "name":
			return append(dst, c.Name...)
		case "id":
			return append(dst, c.ID...)
		case "quoted":
			return chat.AppendQuoted(dst, text)
		}
		return append(dst, text...)
	})
}

// Number returns a copy of the calls with the ids that the family writes, first being how many
// calls the conversation had before. An id that the family could have written stays; in most
// families that is any. Results refer to calls by them, and a client's ids, like OpenAI's
// call_abc123, are not what command-r7b's model has ever seen: its calls are numbered through the
// conversation. An id is replaced in the call and in its result alike, since both go through here
// with the same place in the conversation.
//
//	kimi-k2       functions.get_weather:0    counts through the conversation, and names the tool
//	command-r7b   0                          counts through the conversation
//	mistral-v3    abc123XY0                  any id; the client's own stays
//
// Most templates lose the ids and tie results by order or name, so there they are the client's.
func Number(f *declaration.Family, first int, calls []chat.Call) []chat.Call {
	calls = slices.Clone(calls)
	for i := range calls {
		calls[i].ID = id(f, calls[i], first+i)
	}
	return calls
}

// id returns the id of call n of a conversation. kimi-k2's id is the only place that names the
// tool, so one of another form is replaced; command-r7b counts. A family that writes ids gets one
// for a call that has none.
func id(f *declaration.Family, c chat.Call, n int) string {
	switch hasID, hasName := writes(f, "id"), writes(f, "name"); {
	case f.Layout.Counter != "" && strings.Trim(c.ID, "0123456789") == "" && c.ID != "":
		return c.ID
	case f.Layout.Counter != "":
		return fmt.Sprint(n)
	case !hasID:
		return c.ID
	case !hasName && !strings.HasPrefix(strings.TrimPrefix(c.ID, "functions."), c.Name+":"):
		return fmt.Sprintf("functions.%s:%d", c.Name, n) // the id is what names the tool
	case c.ID == "":
		return fmt.Sprintf("call%06d", n)
	}
	return c.ID
}

// writes reports whether the family prints a hole of that kind with a call; message families may
// have no call line.
func writes(f *declaration.Family, hole string) bool {
	return len(f.Calls) > 0 && f.Calls[0].Hole(hole) >= 0
}
