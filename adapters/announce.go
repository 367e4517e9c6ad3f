package adapters

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
)

// announceSize is how much of the text in front of a call, and behind it, is looked at, in bytes.
const announceSize = 240

// announced says whether the text in front of here announces a call that is the reply's last thing: its last sentence says
// that the model is about to act, and is no example, quotation or question.
func (d *decoder) announced() bool {
	text := d.announcement()
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
func resolved(text []byte) (does, known bool) {
	sentence := spacedWords(lastSentence(text))
	for _, start := range resolves {
		_, what, ok := strings.Cut(sentence, " "+start+" ")
		if !ok {
			continue
		}
		for _, adverb := range []string{"now ", "first ", "just ", "also ", "quickly ", "then ", "start by "} {
			what = strings.TrimPrefix(what, adverb)
		}
		shows := slices.ContainsFunc(showing, func(verb string) bool { return strings.HasPrefix(what, verb+" ") })
		sample := text[len(text)-1] == ':' && (strings.HasSuffix(what, "example ") || strings.HasSuffix(what, "sample "))
		return !shows && !sample && !hasWord([]byte(sentence), frames), true
	}
	return false, false
}

// announcement is the text in front of here, as far as it is looked at.
func (d *decoder) announcement() []byte {
	return bytes.TrimSpace(d.slice(max(d.base, d.gapAt-announceSize), d.gapAt))
}

// announces says whether a text ends as an announcement does, and whether the part of it that is looked at has words of
// intent and none of an example.
func announces(text, part []byte) bool {
	return endsAnnouncement(text) && hasWord(lastSentence(text), intents) && !hasWord(part, hedges)
}

// endsAnnouncement says whether a text can end so when a call is to follow: not as a member of a larger document, a question
// to the user, half a sentence, or the number of a list's entry.
func endsAnnouncement(text []byte) bool {
	if len(text) == 0 || bytes.HasSuffix(text, []byte(`":`)) || bytes.IndexByte([]byte("?,;"), text[len(text)-1]) >= 0 || bytes.HasSuffix(text, []byte("？")) {
		return false
	}
	return bytes.Trim(text[bytes.LastIndexByte(text, '\n')+1:], "0123456789.) ") != nil
}

// announcedForSure says whether the text in front of here announces a call so clearly that it may have prose behind it.
func (d *decoder) announcedForSure() bool {
	text := d.announcement()
	return len(text) > 0 && announces(text, text)
}

// continues says whether the prose behind a call goes on from it: it is about no example, and shows no other call.
func (d *decoder) continues() bool {
	n := 0
	for n < announceSize && d.at(n) >= 0 {
		n++
	}
	text := d.slice(d.pos, d.pos+n)
	return len(text) > 0 && text[0] == '\n' && bytes.IndexByte(text, '?') < 0 && !bytes.Contains(text, []byte("```")) && !hasWord(text, hedges)
}

// sentenceEnds are the marks that end a sentence or announce something; the wide ones need no blank behind them.
var sentenceEnds = []string{":", ".", "!", "?", "…", "。", "：", "！", "？"}

// lastSentence is what follows the last end of a sentence but the one at the end.
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

// hasWord says whether one of the words stands in a text, whatever their case. A word that ends in * may go on; those in
// scripts that put no blanks between words may stand anywhere.
func hasWord(text []byte, words []string) bool {
	plain := strings.ToLower(strings.ReplaceAll(string(text), "’", "'"))
	spaced := spacedWords(text)
	for _, w := range words {
		start, begins := strings.CutSuffix(w, "*")
		switch {
		case unspaced(w):
			if strings.Contains(plain, w) {
				return true
			}
		case begins:
			if strings.Contains(spaced, " "+start) {
				return true
			}
		case strings.Contains(spaced, " "+w+" "):
			return true
		}
	}
	return false
}

// spacedWords are the words of a text in lower case, with a blank around each.
func spacedWords(text []byte) string {
	plain := strings.ToLower(strings.ReplaceAll(string(text), "’", "'"))
	return " " + strings.Join(strings.FieldsFunc(plain, isNoWord), " ") + " "
}

// isNoWord says whether a character stands between words.
func isNoWord(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '-'
}

// unspaced says whether a word is of a script that puts no blanks between words.
func unspaced(w string) bool {
	for _, r := range w {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
			return true
		}
	}
	return false
}

// resolves are how a sentence begins in which its writer is about to do something; the next word is what.
var resolves = []string{
	"let me", "let's", "let us", "allow me to", "i'll", "i will", "i shall", "i'm going to", "i am going to", "going to", "i need to", "i have to", "i must", "i should", "we should", "we need to", "we have to", "i want to",
	"i'd like to", "so i'll", "so i will",
}

// showing are the verbs behind which a call is an example, or waits for somebody.
var showing = []string{
	"show", "give you", "give an", "give a sample", "explain", "illustrate", "demonstrate", "describe", "say", "suggest", "tell", "quote", "paste", "repeat", "assume", "imagine", "walk", "know", "clarify", "summarise",
	"summarize", "answer", "leave", "wait", "stop", "not", "never",
}

// frames are words that make an example of what follows, whatever the sentence resolves to do.
var frames = []string{
	"for example", "for instance", "e g", "like this", "like so", "looks like", "look like", "such as", "as follows", "would be", "would look", "would have", "could be", "you can send", "you could", "you would", "example call",
	"example request", "sample call", "sample request", "format is", "syntax is", "json is", "schema is", "expected output", "show you", "if you want to", "need you to", "your permission", "your ok", "let me know",
	"be clear", "model answers", "it wrote",
}

// hedges are words of documentation, advice and quotation: a call behind them is an example.
var hedges = []string{
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
}

// intents are words by which a model says that it is about to act, in the languages of most users.
var intents = []string{
	"i'll", "i will", "let me", "let's", "let us", "allow me", "i need", "i must", "i have to", "i want to", "i can", "i'm", "i am", "i look", "i check", "i call", "i use", "i search", "i write", "i run", "i start",
	"i'd like to", "going to", "calling", "checking", "searching", "looking", "using", "running", "writing", "reading", "fetching", "getting", "retrieving", "executing", "querying", "opening", "listing",
	"here is the call", "here's the call", "here is the tool call", "here's the tool call", "here is the function call", "here's the function call", "sure", "okay", "ok", "one moment", "just a moment", "right away", "of course", "certainly", "on it",
	"ich", "lass mich", "lass uns", "lassen sie", "moment", "mal sehen", "gerne", "gern", "natürlich", "selbstverständlich",
	"je", "j'*", "laissez-moi", "laisse-moi", "permettez-moi", "un instant", "voyons", "bien sûr", "d'accord", "certainement",
	"voy", "déjame", "déjeme", "permíteme", "permítame", "vamos", "estoy", "necesito", "buscaré", "consultaré", "ejecutaré", "revisaré", "verificaré", "escribiré", "obtendré", "busco", "consulto", "ejecuto", "escribo", "reviso",
	"compruebo", "un momento", "claro", "por supuesto", "vou", "deixe-me", "deixa eu", "permita-me", "estou", "irei", "preciso", "procuro", "procurarei", "buscarei", "verificarei", "consultarei", "um momento", "com certeza",
	"cerco", "cercherò", "vado", "fammi", "lasciami", "mi permetta", "sto", "eseguo", "eseguirò", "scrivo", "devo", "vediamo", "verifico", "verificherò", "controllo", "controllerò", "un attimo", "certo", "certamente", "subito",
	"я", "сейчас", "давайте", "давай", "позвольте", "ищу", "поищу", "найду", "проверю", "проверяю", "посмотрю", "посмотрим", "смотрю", "выполняю", "выполню", "запускаю", "запущу", "запишу", "узнаю", "нужно", "минуту", "минутку", "конечно", "хорошо",
	"하겠", "할게", "볼게", "겠습니다", "합니다", "릴게", "게요", "잠시만", "します", "しましょう", "調べ", "みます", "ましょう", "少々お待ち", "我来", "让我", "我将", "我会", "我需要", "我要", "我先", "我去", "我帮", "正在", "请稍等", "稍等", "现在", "接下来", "好的",
}
