package print

import (
	"fmt"
	"slices"
	"strings"

	"toolnorm/adapters/internal/declaration"
	"toolnorm/chat"
)

// Results appends the results of calls as the family's templates print them, without the special
// tokens around the whole message. texts[i] is the result of calls[i], and the calls must have the
// ids that Number gives. It appends nothing if the declaration has no result line.
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

// appendResults appends the results of the given calls one after the other. Between two results are
// the newlines with which the example of a result begins, as between hermes's <tool_response>
// blocks. In a list such as command-r7b's, a comma and the white space that follows the list's
// bracket are between them.
func appendResults(dst []byte, f *declaration.Family, before string, calls []chat.Call,
	texts []string) []byte {
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

// appendResult appends the example of a tool's result to dst, with the text of the result and the
// call's name and id in its placeholders. The text is printed unchanged, even if it contains
// special tokens. Only some families quote it: harmony and Llama 3 print it as a JSON string.
// mistral-v3 prints it without quotation marks inside an object, so that object is valid JSON only
// if the text is. If a client sends a result as a list of text parts, callers join the parts first,
// because templates print such a list as code, print nothing, or raise an error.
func appendResult(dst []byte, p *declaration.Pattern, c chat.Call, text string) []byte {
	return fill(dst, p, func(dst []byte, i int) []byte {
		switch p.Parts[i].Placeholder {
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

// Number returns a copy of the calls with ids that the family writes. The parameter first is the
// number of earlier calls in the conversation. An id that the family could have written is not
// changed, and in most families that is any id. But command-r7b's model was never trained on ids
// like OpenAI's call_abc123, so its calls are numbered through the conversation. An id must be
// replaced in the call and in its result, so callers use Number with the same first for both.
//
//	kimi-k2       functions.get_weather:0    counts through the conversation, and names the tool
//	command-r7b   0                          counts through the conversation
//	mistral-v3    abc123XY0                  any id, so the client's own is used
//
// Most templates do not print ids, and match results by order or name. Their calls have the
// client's ids.
func Number(f *declaration.Family, first int, calls []chat.Call) []chat.Call {
	calls = slices.Clone(calls)
	for i := range calls {
		calls[i].ID = id(f, calls[i], first+i)
	}
	return calls
}

// id returns the id with which the family prints the call c, which has the index n in a
// conversation. In families such as kimi-k2, in whose calls only the id names the tool, an id that
// does not name it is replaced. In command-r7b an id that is not a number is replaced by n. If the
// family prints ids, a call without one gets a new one. Any other id is returned unchanged.
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

// writes reports whether calls of the family are written with the given placeholder, such as {id}.
// It only examines the family's first example of a call, and returns false if there is none, as in
// some families that write calls as messages.
func writes(f *declaration.Family, placeholder string) bool {
	return len(f.Calls) > 0 && f.Calls[0].Index(placeholder) >= 0
}
