package lenient

import (
	"testing"

	"toolnorm/chat/schema"
)

// TestListedArguments reads arguments in lines, elements, flags and a query, and refuses those
// whose values may end in two places.
func TestListedArguments(t *testing.T) {
	typ := schema.Compile([]byte(`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"},"days":{"type":"integer"}},"required":["path"]}`))
	for text, want := range map[string]string{
		"path: a b\ndays: 3}":                               `{"path":"a b","days":3}`,
		"- days: 3\n- path: a b\n}}":                        `{"days":3,"path":"a b"}`,
		`--path "a b" --days 3}`:                            `{"path":"a b","days":3}`,
		`--path "a --x b" --days 3}`:                        "", // flags in a text
		"?days=3&path=a b}]":                                `{"days":3,"path":"a b"}`,
		"<path>a</path>\n<content>x\n<b>y</b>\n</content>}": "",
		"<path>a</path>\n<content>x <b>y</b></content>}":    `{"path":"a","content":"x <b>y</b>"}`,
		"<path>a</path><content>x</content> and </content>": "",
		"path: a\nmode: x\ndays: 3}":                        "", // a member that nobody knows, or text
		"path: a\npath: b}":                                 "",
		"path: \"a\"}":                                      "", // quotes of YAML, or of the text
		"path: a }":                                         "",
		"path: {'a': 1}}":                                   "",
		"days: 3}":                                          "", // a required member is missing
		"--path a --days 3}":                                "",
		"content: first\n\nthird\npath: a}":                 `{"content":"first\n\nthird","path":"a"}`,
	} {
		args, end, ok := Listed(text, typ)
		if !ok {
			args = ""
		}
		if args != want || ok && text[end:] != "" && text[end] != '}' && text[end] != '\n' {
			t.Errorf("%s: got %s to %d, want %s", text, args, end, want)
		}
	}
}
