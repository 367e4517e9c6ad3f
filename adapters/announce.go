package adapters

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
)

// announceSize is how much of the text in front of a call, and behind it, is looked at, in bytes.
// Two or three sentences: what stands further in front is about something else.
const announceSize = 240

// announced says whether the text in front of here announces a call that is the reply's last thing: its last sentence says
// that the model is about to act, and is no example, quotation or question.
// Without marks a call needs this, since one that is missed costs less than a snippet of documentation that runs.
//
//	Let me check the weather.   announces: "let me", and what follows is no showing
//	You could call it like this: is advice, and what follows an example
//	Shall I look it up?         waits for an answer
func (d *decoder) announced() bool { return d.announcedBy(d.announcement()) }

// announcedBy is announced for a text that stood in front.
// A mark that is read as a draft asks again when the draft has moved the buffer, so the text is passed in. Nothing in front
// needs no announcement, and with `--calls eager` nothing does.
func (d *decoder) announcedBy(text []byte) bool {
	if len(text) == 0 || d.which == Eager {
		return true
	}
	if does, known := resolved(text); known {
		return does && endsAnnouncement(text)
	}
	return announces(text, lastSentence(text))
}

// resolved says what the last sentence of a text resolves to do, if it says so: "let me look up the user" does something,
// "let me show you the format" only shows it. What the sentence is about is no hedge then: users, logs and examples are what
// tools are asked for.
// The first of the phrases that stands there decides. A colon behind "example" or "sample" makes one of the call, whatever the
// verb.
func resolved(text []byte) (does, known bool) {
	sentence := spacedWords(lastSentence(text))
	for _, start := range resolves {
		_, what, ok := strings.Cut(sentence, " "+start+" ")
		if !ok {
			continue
		}
		// "let me now first check" resolves to check
		for _, adverb := range []string{"now ", "first ", "just ", "also ", "quickly ", "then ", "start by "} {
			what = strings.TrimPrefix(what, adverb)
		}
		shows := slices.ContainsFunc(showing, func(verb string) bool { return strings.HasPrefix(what, verb+" ") })
		sample := text[len(text)-1] == ':' && (strings.HasSuffix(what, "example ") || strings.HasSuffix(what, "sample "))
		return !shows && !sample && !frames.in([]byte(sentence)) && !waits.in([]byte(sentence)), true
	}
	return false, false
}

// announcement is the text in front of here, as far as it is looked at.
// White space between text and call is not part of it: a call mostly stands on a line of its own.
func (d *decoder) announcement() []byte {
	return bytes.TrimSpace(d.Slice(max(d.Base, d.gapAt-announceSize), d.gapAt))
}

// announces says whether a text ends as an announcement does, and whether the part of it that is looked at has words of
// intent and none of an example.
// The part is the last sentence where the call ends the reply, all of it where prose follows, see announcedForSure.
func announces(text, part []byte) bool {
	return endsAnnouncement(text) && willAct(lastSentence(text)) && !hedges.in(part)
}

// endsAnnouncement says whether a text can end so when a call is to follow: not as a member of a larger document, a question
// to the user, half a sentence, or the number of a list's entry.
// `"raw":` is a member of a JSON answer whose value looks like a call; "1." a list of calls that the text is about.
// A comma or a semicolon leaves the sentence open: what follows may still take it back.
func endsAnnouncement(text []byte) bool {
	if len(text) == 0 || bytes.HasSuffix(text, []byte(`":`)) || bytes.IndexByte([]byte("?,;"), text[len(text)-1]) >= 0 || bytes.HasSuffix(text, []byte("？")) {
		return false
	}
	return bytes.Trim(text[bytes.LastIndexByte(text, '\n')+1:], "0123456789.) ") != nil
}

// willAct says whether a part of a sentence has words of intent and takes nothing back: it is no refusal, no report of what
// was done, and waits for nobody.
// Parts end at commas, so "I don't know that yet, let me search" acts and "I'm not able to call tools, so copy this" does not.
func willAct(sentence []byte) bool {
	if waits.in(sentence) {
		return false
	}
	for _, part := range bytes.FieldsFunc(sentence, func(r rune) bool { return strings.ContainsRune(",;，、–—", r) }) {
		if intents.in(part) && !refusals.in(part) {
			return true
		}
	}
	return false
}

// announcedForSure says whether the text in front of here announces a call so clearly that it may have prose behind it.
// Prose behind a call is mostly an explanation of it, so the whole text in front must be free of words of an example.
func (d *decoder) announcedForSure() bool {
	text := d.announcement()
	return len(text) > 0 && announces(text, text)
}

// continues says whether the prose behind a call goes on from it: it is about no example, and shows no other call.
// A question there offers the call ("Shall I?"), a further fence shows an alternative.
// "Please wait." goes on from a call; "Explanation: it reads the file." shows that the call was an example.
func (d *decoder) continues() bool {
	n := 0
	for n < announceSize && d.At(n) >= 0 {
		n++
	}
	text := d.Slice(d.Pos, d.Pos+n)
	return len(text) > 0 && text[0] == '\n' && bytes.IndexByte(text, '?') < 0 && !bytes.Contains(text, []byte("```")) && !hedges.in(text)
}

// sentenceEnds are the marks that end a sentence or announce something; the wide ones need no blank behind them.
var sentenceEnds = []string{":", ".", "!", "?", "…", "。", "：", "！", "？"}

// lastSentence is what follows the last end of a sentence but the one at the end.
// "v1.5" and "e.g" end none: a Latin mark counts in front of white space only.
func lastSentence(text []byte) []byte {
	body := bytes.TrimRight(text, ":.!…。：！ \n")
	start := 0
	for _, end := range sentenceEnds {
		for _, space := range []string{" ", "\n", ""} {
			if space == "" && end[0] < 0x80 {
				continue
			}
			if i := bytes.LastIndex(body, []byte(end+space)); i >= 0 {
				start = max(start, i+len(end+space))
			}
		}
	}
	return text[start:]
}

// phrases are words and sequences of words to look for, in any case.
// Words of a whole are compared as words: "may" is none in "maybe", "I" none in "in".
// "Let me check the logs." was no announcement once, since "logs" has "log" in it.
type phrases struct {
	whole   map[string]bool // between other words
	longest int             // of those, in words
	parts   []string        // what may go on: beginnings of words, and those of scripts that put no blanks between words
}

// newPhrases sorts words by how they are looked for. One that ends in * may go on.
// A star stands for endings of inflected languages: "könnte*" is könntest and könnten.
func newPhrases(words ...string) *phrases {
	p := &phrases{whole: map[string]bool{}}
	for _, w := range words {
		switch start, begins := strings.CutSuffix(w, "*"); {
		case unspaced(w):
			p.parts = append(p.parts, w)
		case begins:
			p.parts = append(p.parts, " "+start)
		default:
			p.whole[w] = true
			p.longest = max(p.longest, strings.Count(w, " ")+1)
		}
	}
	return p
}

// in says whether one of the phrases stands in a text.
// It looks at every run of words that is no longer than the longest phrase: 240 bytes hold some forty words.
func (p *phrases) in(text []byte) bool {
	spaced := spacedWords(text)
	if slices.ContainsFunc(p.parts, func(w string) bool { return strings.Contains(spaced, w) }) {
		return true
	}
	words := strings.Fields(spaced)
	for i := range words {
		for n := 1; n <= p.longest && i+n <= len(words); n++ {
			if p.whole[strings.Join(words[i:i+n], " ")] {
				return true
			}
		}
	}
	return false
}

// spacedWords are the words of a text in lower case, with a blank around each.
// Typographic apostrophes count as plain ones: models write both in "I’ll" and "I'll".
func spacedWords(text []byte) string {
	plain := strings.ToLower(strings.ReplaceAll(string(text), "’", "'"))
	return " " + strings.Join(strings.FieldsFunc(plain, isNoWord), " ") + " "
}

// isNoWord says whether a character stands between words.
// An apostrophe and a hyphen belong to words: i'll, laissez-moi.
func isNoWord(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '-'
}

// unspaced says whether a word is of a script that puts no blanks between words.
// Korean has blanks, but glues endings to its words, so its phrases are looked for anywhere as well.
func unspaced(w string) bool {
	return strings.ContainsFunc(w, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
	})
}

// resolves are how a sentence begins in which its writer is about to do something; the next word is what.
// They are English alone; for other languages the lists below decide.
var resolves = []string{
	"let me", "let's", "let us", "allow me to", "i'll", "i will", "i shall", "i'm going to", "i am going to", "going to", "i need to", "i have to", "i must", "i should", "we should", "we need to", "we have to", "i want to",
	"i'd like to", "so i'll", "so i will",
}

// showing are the verbs behind which a call is an example, or waits for somebody.
// They are compared with what follows the resolve: "let me show you", "I'll wait for your approval".
var showing = []string{
	"show", "give you", "give an", "give a sample", "explain", "illustrate", "demonstrate", "describe", "say", "suggest", "tell", "quote", "paste", "repeat", "assume", "imagine", "walk", "know", "clarify", "summarise",
	"summarize", "answer", "leave", "wait", "stop", "not", "never",
}

// frames are words that make an example of what follows, whatever the sentence resolves to do.
// Unlike hedges they count in a sentence that resolves to do something: "let me search, for example like this:".
var frames = newPhrases(
	"for example", "for instance", "e g", "like this", "like so", "looks like", "look like", "such as", "as follows", "would be", "would look", "would have", "could be", "you can send", "you could", "you would", "example call",
	"example request", "sample call", "sample request", "format is", "syntax is", "json is", "schema is", "expected output", "show you", "if you want to", "need you to", "your permission", "your ok", "let me know",
	"be clear", "model answers", "it wrote",
)

// hedges are words of documentation, advice and quotation: a call behind them is an example.
// A word of a sentence's object can be one by chance: "user" and "example" once hid 33 of 98 calls, hence [resolved].
var hedges = newPhrases(
	"could", "would", "might", "may", "example", "examples", "like this", "like so", "e g", "for instance", "such as", "looks", "looks like", "look like", "if you", "you can", "you need", "you want",
	"either", "you should", "should be", "should look", "it should", "schema is", "syntax", "format is", "format of", "said", "wrote", "expected output", "expects", "means", "received", "request body", "payload",
	"user", "assistant", "json is", "json for", "never", "careful", "danger*", "fixture", "attacker", "inject*", "show you", "explain*", "describe*", "explanation", "illustrat*", "demonstrat*", "valid call",
	"will not", "won't", "cannot", "can't", "must not", "replace", "your permission",
	"beispiel", "zum beispiel", "könnte*", "würde*", "sollte*", "zeige", "zeigen", "erkläre", "sieht so aus", "wenn sie", "wenn du", "antwortete", "schrieb", "sagte",
	"exemple", "pourri*", "pourrai*", "devri*", "devrai*", "montrer", "montre", "explique*", "ressemble", "si vous", "si tu", "répondu", "écrit", "dit",
	"ejemplo", "podría*", "debería*", "mostrar*", "muestro", "explic*", "si quieres", "si necesitas", "quieres", "respondió", "dijo", "sería",
	"exemplo", "poderia*", "deveria*", "mostro", "se quiser", "respondeu", "disse", "seria",
	"esempio", "potrest*", "potrebbe*", "dovrest*", "mostra*", "spieg*", "se vuoi", "puoi", "risposto", "detto", "sarebbe",
	"например", "пример*", "покажу", "объясн*", "бы", "если", "ответил*", "выглядит", "написал*", "сказал*",
	"예를", "다음과 같", "예시", "예제", "보여 드리", "설명", "수 있습니다", "까요", "例えば", "例を", "次のように", "お見せ", "できます", "説明", "よろしい", "でしょうか",
	"例如", "比如", "举个例", "示例", "如下", "您可以", "你可以", "解释", "吗",
)

// waits are words of a model that acts only when it is told to.
// "Once you confirm, I'll run:" has words of intent, and must not run.
var waits = newPhrases(
	"let me know", "tell me", "once you", "after your", "after you", "as soon as you", "when you are", "when you're", "whenever you", "if it's ok", "if it's okay", "if that's ok", "if that's okay", "if that is", "if it is ok",
	"unless you", "i need you to", "i want you to", "your approval", "your permission", "sag mir", "sagen sie mir", "sobald du", "sobald sie", "dites-moi", "dis-moi", "dès que vous", "dès que tu",
	"dime", "dígame", "avísame", "cuando quieras", "diga-me", "me diga", "me avise", "quando quiser", "dimmi", "mi dica", "fammi sapere", "mi faccia sapere", "скажите", "скажи", "как только вы", "알려 주", "알려주", "教えてください", "告诉我",
)

// refusals are words of one who does not act, or who reports what was done.
// "I'm not able to call tools, so copy this:" stood in front of a call that ran.
var refusals = newPhrases(
	"i'm not", "i am not", "not going to", "not able to", "i do not", "i don't", "i refuse", "rather not", "nicht", "kein", "keine", "keinen", "ich habe", "habe ich", "hatte ich", "fand ich", "sah ich",
	"je ne", "je n'*", "j'ai exécuté", "j'ai lancé", "j'ai trouvé", "j'ai vu", "j'ai lu", "j'ai reçu", "j'ai appelé", "j'ai envoyé", "j'ai fait", "no voy", "no puedo", "no debo", "no estoy", "no ejecut*", "no lo",
	"não vou", "não posso", "não devo", "não estou", "não irei", "não execut*", "non eseguo", "non eseguirò", "non devo", "non vado", "non sto", "non posso", "si je dois", "si debo", "se devo",
	"я не", "не буду", "не могу", "не стану", "я выполнил*", "я запустил*", "я наш*", "я вызвал*", "я отправил*", "я получил*", "я сделал*", "я увидел*", "нужно ли", "하지 않", "しません", "いたしません", "不会", "不能", "不执行",
)

// intents are words by which a model says that it is about to act, in the languages of most users.
// A word that is missing costs a call in prose, one too many runs an example: docs/calls.md has the figures of each language,
// and adapters/testdata/runs the texts that a new word must not break.
var intents = newPhrases(
	"i'll", "i will", "let me", "let's", "let us", "allow me", "i need", "i must", "i have to", "i want to", "i can", "i'm", "i am", "i look", "i check", "i call", "i use", "i search", "i write", "i run", "i start",
	"i should", "i shall", "i'd better", "we need to", "we should", "we'll", "we will", "gonna", "time to", "i'd like to", "going to", "calling", "checking", "searching", "looking", "using", "running", "writing", "reading", "fetching", "getting", "retrieving", "executing", "querying", "opening", "listing",
	"here is the call", "here's the call", "here is the tool call", "here's the tool call", "here is the function call", "here's the function call", "sure", "okay", "ok", "one moment", "just a moment", "right away", "of course", "certainly", "on it",
	"ich", "suche", "prüfe", "schaue", "rufe", "hole", "starte", "lass mich", "lass uns", "lassen sie", "moment", "mal sehen", "gerne", "gern", "natürlich", "selbstverständlich",
	"je", "j'*", "laissez-moi", "laisse-moi", "permettez-moi", "un instant", "voyons", "bien sûr", "d'accord", "certainement", "commençons", "vérifions", "cherchons", "regardons", "consultons", "allons",
	"voy", "déjame", "déjeme", "permíteme", "permítame", "vamos", "estoy", "necesito", "buscaré", "consultaré", "ejecutaré", "revisaré", "verificaré", "escribiré", "obtendré", "busco", "consulto", "ejecuto", "escribo", "reviso",
	"compruebo", "obtengo", "verifico", "consultando", "buscando", "verificando", "obteniendo", "comprobando", "revisando", "ejecutando", "un momento", "claro", "por supuesto", "vou", "deixe-me", "deixa eu", "permita-me", "estou", "irei", "preciso", "procuro", "procurarei", "buscarei", "verificarei", "consultarei", "um momento", "com certeza", "procurando", "executando", "obtendo", "busco",
	"cerco", "cercherò", "vado", "fammi", "lasciami", "mi permetta", "sto", "eseguo", "eseguirò", "scrivo", "devo", "vediamo", "verifico", "verificherò", "controllo", "controllerò", "un attimo", "certo", "certamente", "subito", "procedo", "procediamo", "cerchiamo", "verifichiamo", "controlliamo", "recupero", "cercando",
	"я", "сейчас", "давайте", "давай", "позвольте", "ищу", "поищу", "найду", "проверю", "проверяю", "посмотрю", "посмотрим", "смотрю", "выполняю", "выполню", "запускаю", "запущу", "запишу", "узнаю", "нужно", "минуту", "минутку", "конечно", "хорошо", "запрошу", "запрашиваю", "вызываю", "вызову", "получаю", "получу", "начну",
	"하겠", "할게", "볼게", "겠습니다", "합니다", "릴게", "게요", "잠시만", "します", "しましょう", "調べ", "みます", "ましょう", "少々お待ち", "我来", "让我", "我将", "我会", "我需要", "我要", "我先", "我去", "我帮", "正在", "请稍等", "稍等", "现在", "接下来", "好的", "首先", "马上", "开始",
)
