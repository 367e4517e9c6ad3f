package claim

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolnorm/adapters/internal/prose"
)

// Gap is the text that a model wrote between two calls, and what surrounds it.
type Gap struct {
	Text   string          // the text, including tags that are not shown
	Calls  int             // number of calls before the text
	Before json.RawMessage // arguments of the call before the text
	Tool   string          // tool of the call after the text
	Next   json.RawMessage // arguments of the call after the text
	// Known reports whether a value occurs in the conversation. It is nil if the conversation is
	// unknown. It is used only if it knows a value of the call before the text.
	Known func(value string) bool
}

// Longest is the number of bytes of a text between two calls that are kept. A text longer than
// longest bytes is not an announcement.
const (
	Longest = 2048
	longest = 400
)

// Plain reports whether the text has no words, but only white space, signs, and tags around calls.
func (g *Gap) Plain() bool {
	return !strings.ContainsFunc(g.Text, func(r rune) bool { return !unicode.IsSpace(r) }) ||
		!Speaks(g.Text) && !strings.ContainsFunc(callMarks.ReplaceAllString(g.Text, ""), isWord)
}

// IsResult reports whether the text claims to be the result of the call before it, or to know that
// result. A text with tags or the label of a result does, and so does a long text. One sentence
// that announces the next call does not, but two sentences do, because the first of them is about
// something else.
func (g *Gap) IsResult() bool {
	if g.Plain() {
		return false
	}
	text := callMarks.ReplaceAllString(failed.ReplaceAllString(g.Text, ""), "")
	if Speaks(g.Text) || len(text) > longest || markup.MatchString(text) {
		return true
	}
	units := sentences(text)
	if len(units) != 1 {
		return len(units) > 1
	}
	return g.weight(units[0]) > 0
}

// callMarks matches tags and labels around calls and turns that are left over between two calls:
// closing tags, fences, special tokens about calls and ends, and the name of the model's role on a
// line.
var callMarks = regexp.MustCompile(
	"(?i)</[^<>\n]{1,60}>|<[|｜]?[^<>\n]{0,30}(?:call|end|eo[ts]|eom|sep|assistant|model|think|invoke|parameter|im_start)[^<>\n]{0,30}>|\\[/?TOOL_CALLS?\\]" +
		"|(?m:^\\s*[`~]{3,}(?:json|xml|tool_call|tool_code|tool)?[ \t]*$)|(?m:^\\s*(?:assistant|model)\\s*$)")

// failed matches calls that were not read, because the tool is not offered or the text has two
// readings. Such calls are not results.
var failed = regexp.MustCompile(
	`(?is)<[|｜]?[^<>/\n]{0,20}(?:call|function=|invoke)[^<>\n]{0,60}>.*?(?:</[^<>\n]{0,20}(?:call|function|invoke)[^<>\n]{0,20}>|<[|｜]?[^<>\n]{0,20}call[^<>\n]{0,20}end[^<>\n]{0,5}>)`)

// spoken matches turns of other speakers, and tags of results in any model family: tags, special
// tokens and the names of speakers.
var spoken = regexp.MustCompile(
	`(?i)<[|｜]?[^<>/\n]{0,30}(?:response|result|output|observation|returns?)[^<>\n]{0,30}>` +
		`|\[/?(?:tool|function)?_?(?:results?|outputs?|responses?|tool_content)[\]:]` +
		`|<[|｜]?(?:user|tool|ipython|observation|system|human|environment)[|｜]?>` +
		`|<[|｜]?(?:im_start|im_user|im_system|start_header_id|start_of_turn|start|turn|begin|role|im_middle)[|｜]?>\s*(?:user|tool|ipython|function|observation|environment|system)` +
		`|(?m:^\s*(?:user|tool|human|observation|system|ipython|environment)\s*(?::|：|$))`)

// asked matches the turn of a user, by the tags that chat templates put around it, at the beginning
// of a line or after another tag. Words such as "User:" are not enough, because they may be
// anything.
var asked = regexp.MustCompile(`(?im)(?:^|>)[ \t]*(?:<[|｜]?(?:user|human|im_user)[|｜]?>|\[INST\]` +
	`|<[|｜]?(?:im_start|start_header_id|start_of_turn|start|turn|begin|role)[|｜]?>\s*(?:user|human)\b)`)

// block matches a block of code.
var block = regexp.MustCompile("(?ms)^[ \t]*```.*?^[ \t]*```")

// Asks reports whether a text contains what looks like a message of the user, outside of blocks of
// code.
func Asks(text string) bool { return asked.MatchString(block.ReplaceAllString(text, "")) }

// markup matches a part of a text that does not occur in an announcement: tags, JSON, tables,
// quoted lines, arrows, code.
var markup = regexp.MustCompile(
	"(?m)[<＜][|｜A-Za-z_]|^[\\s#/*-]*(?:[{\\[|]|> |=+>|-+>|→|⇒|⟶|>>>)|`{3}|~{3}|\\|\\s*$")

// Speaks reports whether a text gives the result of a call, with tags around it or a label such as
// "Result:".
func Speaks(text string) bool { return Begins(text) >= 0 }

// Begins returns the offset at which a text begins to give the result of a call, with tags or a
// label such as "Result:". It returns -1 if the text does not.
func Begins(text string) int {
	if at := spoken.FindStringIndex(text); at != nil {
		return at[0]
	}
	from := 0
	for line := range strings.Lines(text) {
		if labelled(line) {
			return from
		}
		from += len(line)
	}
	return -1
}

// labelled reports whether a line begins with the label of a result. A label is a few words, one of
// which means a result, followed by a colon, a bracket or the end of the line. Examples are
// "Result: 21", "**[Tool Result: read_file]**", "결과: 21" and "```output".
func labelled(line string) bool {
	line = strings.TrimLeft(line, " \t*_#>`~-–[(【「\"'|")
	end := strings.IndexAny(line, ":：]】")
	label := line
	if end >= 0 {
		label = line[:end]
	}
	label = strings.TrimRight(strings.TrimSpace(label), "*_`~")
	if n := utf8.RuneCountInString(label); n == 0 || n > 40 || len(strings.Fields(label)) > 4 ||
		strings.ContainsAny(label, ".,;!?。、，") {
		return false
	}
	return labels.in(label)
}

// sentences splits a text into its lines, and the lines into sentences. The number or bullet before
// a sentence is removed. Sentences without words are left out.
func sentences(text string) (all []string) {
	add := func(s string) {
		if s = strings.TrimSpace(ordinal.ReplaceAllString(strings.Trim(s, " \t\r*_#`"),
			"")); strings.ContainsFunc(s, isWord) {
			all = append(all, s)
		}
	}
	for line := range strings.Lines(text) {
		rest := ordinal.ReplaceAllString(strings.TrimSpace(line), "")
		for {
			at := sentenceEnd.FindStringIndex(rest)
			if at == nil {
				break
			}
			add(rest[:at[1]])
			rest = rest[at[1]:]
		}
		add(rest)
	}
	return all
}

// ordinal matches the number or bullet of a list entry, or the label of a step such as "Step 1:".
var ordinal = regexp.MustCompile(
	`^[\s*_#-]*(?:\(?\d{1,2}[.)]\s+|\p{L}+ ?\d{1,2}\s*[:：.)–-]\s+|[-*•–]\s+)`)

// sentenceEnd matches the end of a sentence with the white space after it. White space is not
// needed in scripts that write no blanks between sentences.
var sentenceEnd = regexp.MustCompile(`[.!?…؟۔።]+["”»')\]*_]*\s+|[。！？।॥]+["”」』）]*`)

// isWord reports whether a character belongs to a word or a number.
func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// weight returns a number above 0 if one sentence claims to state a result. It is lower for a
// sentence that ends with a colon or has words of intent, which more likely announces the next
// call. Any other sentence is judged by the values in it, such as numbers and names.
func (g *Gap) weight(sentence string) int {
	w := g.values(sentence)
	colon := strings.HasSuffix(strings.TrimRight(sentence, " *_"), ":") ||
		strings.HasSuffix(sentence, "：")
	if g.reports(sentence) {
		return 1
	}
	if colon || prose.Intends([]byte(sentence)) {
		return w - 1
	}
	// an unlisted label: a few words before a colon, and after it nothing that the next call names
	if i := strings.IndexAny(sentence, ":：="); i > 0 && len(strings.Fields(sentence[:i])) <= 4 &&
		!g.names(sentence[i:]) {
		return 1
	}
	return w
}

// names reports whether a text contains an argument of the next call, or the name of the tool that
// it calls.
func (g *Gap) names(text string) bool {
	text = strings.ToLower(text)
	return holds(text, g.Tool) || slices.ContainsFunc(scalars(g.Next), func(s string) bool {
		return holds(text, s)
	})
}

// reports reports whether a sentence states a content or a result, and does not announce an action
// before that. It returns false for "Let me see what b.txt says:", where the announcement comes
// first.
func (g *Gap) reports(sentence string) bool {
	for _, part := range strings.FieldsFunc(sentence, func(r rune) bool {
		return strings.ContainsRune(",;，、–—:：", r)
	}) {
		if prose.Acts([]byte(part)) {
			return false
		}
		if reports.in(part) {
			return true
		}
	}
	return false
}
