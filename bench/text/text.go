// Package text writes replies of any length as model families write them, and cuts them into
// tokens.
package text

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Tool is the name of the tool that Call calls. Its arguments are path and content, both strings.
const Tool = "write_file"

// Schema is the JSON Schema of the tool's arguments.
const Schema = `{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]}`

// EditSchema is the schema of a tool such as editors offer, with descriptions, choices and a list
// of objects.
const EditSchema = `{"type":"object","properties":{"path":{"type":"string","description":"The path of the file to edit, relative to the workspace folder."},"mode":{"type":"string","enum":["replace","insert","delete"],"description":"What is done with the lines."},"edits":{"type":"array","minItems":1,"items":{"type":"object","properties":{"first":{"type":"integer","minimum":1,"description":"The first line, from 1 on."},"last":{"type":"integer","minimum":1},"text":{"type":"string","description":"What the lines become."}},"required":["first","text"],"additionalProperties":false}},"dry_run":{"type":"boolean","default":false,"description":"Only say what would be done."}},"required":["path","edits"],"additionalProperties":false}`

// TokenBytes is the length of a token in bytes. Tokens of English text and code have about this
// length.
const TokenBytes = 4

// sentence and line are repeated up to the length that is wanted, each time with another number,
// because a model that repeats the same text for longer than the setting max-repeat is stopped.
// Both contain characters that a decoder has to look at twice.
const (
	sentence = "The river %06d runs past the old mill, and in spring it is wide; nobody knows why (a < b, they say).\n"
	line     = "\tif got[%06d] < want && !ok { return fmt.Errorf(\"row %%d: {%%q}\", i, want) } // it's \\done\n"
)

// Prose returns n bytes of text without a call. For Harmony, the only family here that writes a
// header before plain text, the header comes first.
func Prose(family string, n int) string {
	text := repeat(sentence, n)
	if family == "harmony" {
		return "<|channel|>final<|message|>" + text
	}
	return text
}

// Call returns one call of Tool as the models of the family write it, and the value of the call's
// argument content. This value is n bytes long and comes after the short argument path, so a client
// can show it while it is being written. For an unknown family the call is bare JSON.
func Call(family string, n int) (reply, content string) {
	content = repeat(line, n)
	args := fmt.Sprintf(`{"path": "a.go", "content": %s}`, quote(content))
	switch family {
	case "hermes":
		return fmt.Sprintf("<tool_call>\n{\"name\": %q, \"arguments\": %s}\n</tool_call>", Tool,
			args), content
	case "qwen3-coder":
		return fmt.Sprintf(
			"<tool_call>\n<function=%s>\n<parameter=path>\na.go\n</parameter>\n<parameter=content>\n%s\n</parameter>\n</function>\n</tool_call>", Tool, content), content
	case "glm4":
		return fmt.Sprintf(
			"<tool_call>%s\n<arg_key>path</arg_key>\n<arg_value>a.go</arg_value>\n<arg_key>content</arg_key>\n<arg_value>%s</arg_value>\n</tool_call>", Tool, content), content
	case "gemma4":
		return fmt.Sprintf(
			`<|tool_call>call:%s{path:<|"|>a.go<|"|>,content:<|"|>%s<|"|>}<tool_call|>`, Tool,
			content), content
	case "mistral":
		return fmt.Sprintf("[TOOL_CALLS]%s[ARGS]%s", Tool, args), content
	case "harmony":
		return fmt.Sprintf("<|channel|>commentary to=functions.%s <|constrain|>json<|message|>%s",
			Tool, args), content
	}
	return fmt.Sprintf(`{"name": %q, "arguments": %s}`, Tool, args), content
}

// Tokens returns s in pieces of TokenBytes bytes. The pieces cut through tags and escapes, as real
// tokens do.
func Tokens(s string) []string {
	tokens := make([]string, 0, len(s)/TokenBytes+1)
	for len(s) > TokenBytes {
		tokens = append(tokens, s[:TokenBytes])
		s = s[TokenBytes:]
	}
	return append(tokens, s)
}

// repeat formats the text piece with 0, 1, 2 and so on, and returns the first n bytes of the joined
// results.
func repeat(piece string, n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, piece, i)
	}
	return b.String()[:n]
}

// quote returns s as a JSON string without escapes for HTML, as models write it. An encoder that
// escapes < would hide characters that a decoder has to look at twice.
func quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always encodes
	return strings.TrimSuffix(b.String(), "\n")
}
