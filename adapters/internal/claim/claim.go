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

// Gap is what a model wrote between two calls.
type Gap struct {
	Text   string          // with the marks that are not shown
	Calls  int             // how many there are in front
	Before json.RawMessage // the arguments of the call in front
	Tool   string          // which the call behind it names
	Next   json.RawMessage // the arguments of the call behind it
	// Known reports whether a value stands in what the model was given to read; nil: nobody knows.
	// It counts where it knows what the call in front is about.
	Known func(value string) bool
}

// Longest is how much of a text between two calls need be looked at, in bytes; one that announces a
// call is shorter than longest.
const (
	Longest = 2048
	longest = 400
)

// Plain reports whether nothing stands there but white space, signs, and marks around calls.
func (g *Gap) Plain() bool {
	return !strings.ContainsFunc(g.Text, func(r rune) bool { return !unicode.IsSpace(r) }) ||
		!Speaks(g.Text) && !strings.ContainsFunc(callMarks.ReplaceAllString(g.Text, ""), isWord)
}

// IsResult reports whether the text claims to be, or to know, what the call in front of it has
// answered. One sentence that announces the next call is none; two sentences are, since the first
// is about something else.
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

// callMarks are the marks around calls and turns that are left over between two calls, and mean
// nothing there: tags by which something closes, fences that hold nothing, and special tokens that
// speak of calls and of ends.
var callMarks = regexp.MustCompile("(?i)</[^<>\n]{1,60}>|<[|｜]?[^<>\n]{0,30}(?:call|end|eo[ts]|eom|sep|assistant|model|think|invoke|parameter|im_start)[^<>\n]{0,30}>|\\[/?TOOL_CALLS?\\]" +
	"|(?m:^\\s*[`~]{3,}(?:json|xml|tool_call|tool_code|tool)?[ \t]*$)|(?m:^\\s*(?:assistant|model)\\s*$)")

// failed are calls that were not read: of a tool that nobody offers, or with two readings. They are
// text and no result.
var failed = regexp.MustCompile(`(?is)<[|｜]?[^<>/\n]{0,20}(?:call|function=|invoke)[^<>\n]{0,60}>.*?(?:</[^<>\n]{0,20}(?:call|function|invoke)[^<>\n]{0,20}>|<[|｜]?[^<>\n]{0,20}call[^<>\n]{0,20}end[^<>\n]{0,5}>)`)

// spoken are the turns of somebody else, and results in the marks of any family: tags and tokens
// that are named for one, the names of speakers, and JSON.
var spoken = regexp.MustCompile(`(?i)<[|｜]?[^<>/\n]{0,30}(?:response|result|output|observation|returns?)[^<>\n]{0,30}>` +
	`|\[/?(?:tool|function)?_?(?:results?|outputs?|responses?|tool_content)[\]:]` +
	`|<[|｜]?(?:user|tool|ipython|observation|system|human|environment)[|｜]?>` +
	`|<[|｜]?(?:im_start|im_user|im_system|start_header_id|start_of_turn|start|turn|begin|role|im_middle)[|｜]?>\s*(?:user|tool|ipython|function|observation|environment|system)` +
	`|(?m:^\s*(?:user|tool|human|observation|system|ipython|environment)\s*(?::|：|$))`)

// markup is what no sentence of an announcement has: tags, JSON, tables, quoted lines, arrows,
// code.
var markup = regexp.MustCompile("(?m)[<＜][|｜A-Za-z_]|^[\\s#/*-]*(?:[{\\[|]|> |=+>|-+>|→|⇒|⟶|>>>)|`{3}|~{3}|\\|\\s*$")

// Speaks reports whether a text has the marks or the label of a result.
func Speaks(text string) bool {
	if spoken.MatchString(text) {
		return true
	}
	for line := range strings.Lines(text) {
		if labelled(line) {
			return true
		}
	}
	return false
}

// labelled reports whether a line begins with the label of a result: a word for one among few, and
// a colon, a bracket or nothing behind it. "Result: 21", "**[Tool Result: read_file]**", "결과: 21"
// and "```output" do.
func labelled(line string) bool {
	line = strings.TrimLeft(line, " \t*_#>`~-–[(【「\"'|")
	end := strings.IndexAny(line, ":：]】")
	label := line
	if end >= 0 {
		label = line[:end]
	}
	label = strings.TrimRight(strings.TrimSpace(label), "*_`~")
	if n := utf8.RuneCountInString(label); n == 0 || n > 40 || len(strings.Fields(label)) > 4 || strings.ContainsAny(label, ".,;!?。、，") {
		return false
	}
	return labels.in(label)
}

// sentences splits a text into its lines, and the lines into sentences. List numbers and the like
// before a sentence are left out, since they say nothing, and so are sentences that hold no words.
func sentences(text string) (all []string) {
	add := func(s string) {
		if s = strings.TrimSpace(ordinal.ReplaceAllString(strings.Trim(s, " \t\r*_#`"), "")); strings.ContainsFunc(s, isWord) {
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

// ordinal is what counts entries and steps.
var ordinal = regexp.MustCompile(`^[\s*_#-]*(?:\(?\d{1,2}[.)]\s+|\p{L}+ ?\d{1,2}\s*[:：.)–-]\s+|[-*•–]\s+)`)

// sentenceEnd is where a sentence ends and another may begin. Those of scripts that put no blanks
// between sentences need none.
var sentenceEnd = regexp.MustCompile(`[.!?…؟۔።]+["”»')\]*_]*\s+|[。！？।॥]+["”」』）]*`)

// isWord reports whether a character says something.
func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

// weight weighs one sentence; more than 0 is a claim.
// Who ends with a colon, or says what he will do, announces; a statement is taken at its values.
func (g *Gap) weight(sentence string) int {
	w := g.values(sentence)
	colon := strings.HasSuffix(strings.TrimRight(sentence, " *_"), ":") || strings.HasSuffix(sentence, "：")
	if g.reports(sentence) {
		return 1
	}
	if colon || prose.Intends([]byte(sentence)) {
		return w - 1
	}
	// a label that nobody has listed: something in front of a colon, and behind it what the next
	// call knows nothing of
	if i := strings.IndexAny(sentence, ":：="); i > 0 && len(strings.Fields(sentence[:i])) <= 4 && !g.names(sentence[i:]) {
		return 1
	}
	return w
}

// names reports whether a text names an argument of the call that follows, or its tool.
func (g *Gap) names(text string) bool {
	text = strings.ToLower(text)
	return holds(text, g.Tool) || slices.ContainsFunc(scalars(g.Next), func(s string) bool { return holds(text, s) })
}

// reports reports whether the first part of a sentence says what something contains or has
// answered, before any part announces an action. "Let me see what b.txt says:" announces first.
func (g *Gap) reports(sentence string) bool {
	for _, part := range strings.FieldsFunc(sentence, func(r rune) bool { return strings.ContainsRune(",;，、–—:：", r) }) {
		if prose.Acts([]byte(part)) {
			return false
		}
		if reports.in(part) {
			return true
		}
	}
	return false
}
