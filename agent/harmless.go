package agent

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"toolnorm/adapters"
)

// harmless returns a text from outside with the special tokens of models broken up. Otherwise a web
// page, for example, could forge the result of a tool or a turn of the system. It adds a word
// joiner, which people do not see, after the first character of a token. It looks at every
// position, since a token may contain another one.
func harmless(text string) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(text); {
		_, n := utf8.DecodeRuneInString(text[i:])
		if beginsMark(text, i) {
			b.WriteString(text[done:i+n] + "\u2060")
			done = i + n
		}
		i += n
	}
	if done == 0 {
		return text
	}
	return b.String() + text[done:]
}

// shapes matches the beginnings of special tokens that count for models of every family
// (<|im_start|>, <｜User｜>, <turn|>), and the headers of results. Those made of words occur in
// prompts, which no format declares, because formats describe replies.
var shapes = regexp.MustCompile(`^(?i:</?[|｜][^\s<>|｜]|<[^\s<>|｜]+[|｜]>|` +
	`</?(?:start|end)_of_[a-z]|</?(?:tool|function)_[a-z]|<\]\w|</?(?:s|bos|eos|pad|unk|sop|eop|mask|system|assistant)>|` +
	`<</?SYS>>|<(?:extra_id|unused|reserved|special)_?\d|\]~!?b|\[\s*Tool\s+Result|` +
	`\[/?(?:INST|TOOL_|AVAILABLE_TOOLS|SYSTEM_PROMPT|MODEL_SETTINGS|ARGS|CALL_ID|BOS|EOS|[gs]MASK)|Observation\s*:)`)

// longestShape is how many bytes shapes is matched against.
const longestShape = 64

// beginsMark reports whether a special token of a model, such as <|im_start|>, begins at byte i of
// a text.
func beginsMark(text string, i int) bool {
	switch text[i] {
	case 'O', 'o':
		if i > 0 && text[i-1] != '\n' {
			return false
		}
	case '<', '[', ']', "◁"[0]:
		for _, m := range known()[text[i:min(i+2, len(text))]] {
			if len(text)-i >= len(m) && strings.EqualFold(text[i:i+len(m)], m) {
				return true
			}
		}
	default:
		return false
	}
	return shapes.MatchString(text[i:min(i+longestShape, len(text))])
}

// known returns the opening and closing tags that the formats declare, grouped by their first two
// bytes. Of several tags in a row only the first is listed.
var known = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	add := func(m string) {
		for _, head := range []string{m[:2], strings.ToLower(m[:2]), strings.ToUpper(m[:2])} {
			all[head] = append(all[head], m)
		}
	}
	for _, m := range adapters.Marks() {
		if tag, _, ok := strings.Cut(m, ">"); ok && tag != "" {
			m = tag + ">"
		}
		if len(m) < 3 {
			continue
		}
		add(m)
		if name, ok := strings.CutPrefix(m, "</"); ok { // templates write both
			add("<" + name)
		}
	}
	for head, list := range all {
		slices.SortFunc(list, func(a, b string) int {
			return cmp.Or(len(a)-len(b), strings.Compare(a, b))
		})
		all[head] = slices.Compact(list)
	}
	return all
})
