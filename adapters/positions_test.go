package adapters

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"toolnorm/chat"
)

// positionWords are what stands around calls in the model's own marks: sentences that announce
// nothing and quote nothing, without the sign that ends them. Those of the last list were not
// looked at while the rule was written.
var positionWords = [][]string{
	{
		"Some text before", "The capital of France is Paris", "Clock", "hello", "Das Wetter ist heute wichtig", "Il fait beau ici",
		"मैं समय देखता हूँ", "ขอตรวจสอบเวลาก่อนนะครับ", "我看一下时间", "時刻を確認", "سأتحقق من الوقت", "Sprawdzam godzinę",
		"Saat kaç bakıyorum", "Đang xem giờ", "시간을 확인", "Смотрю время", "Olen valmis", "Κοιτάζω την ώρα", "בודק את השעה",
		"ಸಮಯ ನೋಡುತ್ತೇನೆ", "Jag ser efter", "v2", "The clock (UTC)", "1) Time", "3.5", "A — B", "x = 5", "C++ and C#", "50 %", "Step 2/3",
	},
	{
		"One more thing", "No problem", "Paris and Rome are far apart", "Zürich", "ok", "Ahora mismo lo miro", "Ora guardo io",
		"সময় দেখছি", "សូមរង់ចាំ", "ငါကြည့်မယ်", "ጊዜውን አያለሁ", "დროს ვნახავ", "Ժամը նայում եմ", "நேரம் பார்க்கிறேன்", "వేచి ఉండండి",
		"وقت دیکھتا ہوں", "等等", "ちょっと待って", "잠깐", "Гляну час", "Mrknu na hodiny", "Katson kelloa", "Megnézem az órát", "Čia pat",
		"Ninaangalia saa", "Nakikita ko", "Tôi biết", "Sekejap ya", "A/B test", "version 2.0", "Room #5", "foo_bar", "10 km", "Q&A", "(done)",
	},
	{
		"It rained all week", "That depends", "São Paulo é grande", "Ein Moment noch", "Un attimo", "Een ogenblik", "Øyeblikk", "Hetkinen",
		"Жодних проблем", "Разбира се", "Ένα λεπτό", "רגע אחד", "لحظة من فضلك", "یک لحظه", "एक क्षण", "ஒரு நிமிடம்", "ఒక్క నిమిషం", "ഒരു നിമിഷം",
		"එක මොහොතක්", "ຈັກນາທີ", "ခဏလေး", "មួយភ្លែត", "ጥቂት ይጠብቁ", "Бір минут", "Бир мүнөт", "Bir dəqiqə", "Mwanzo mzuri", "Ọkan", "稍候", "少々お待ちください",
		"잠시만요", "Xin chờ", "Tunggu sebentar", "Isang saglit", "Un moment si us plau", "Momento", "Egy pillanat", "Hipi", "O clipă", "U redu",
		"Nr. 7", "π ≈ 3.14", "$20", "#todo", "GET /users", "🙂", "I", "α", "№ 4", "H₂O",
	},
}

// positionEnds are what may end such a sentence.
var positionEnds = [][]string{
	{"", ".", "!", "?", "…", "。", "！", "।", " 😊", "**", ")", " –", ",", ";", "؟", "</b>"},
	{"", ".", "...", "?!", "۔", "።", "።", " ✅", "*", "]", " —", "，", "、", "։", "♪", "~", "</p>", "_", " →"},
	{"", "", ".", "!!", "॥", "؟!", "၊", "။", "᙮", " 👍", "***", "}", "»", " ⇒", "､", "｡", "…", "</i>", "·", " ☀️", "、"},
}

// positionGaps are the white space between text and call.
var positionGaps = []string{"", " ", "\n", "\n\n", "  ", " \n", "\t", "\n\t", "\n  "}

// positionTool is what the calls at these positions call.
var positionTool = []chat.Tool{{Name: "get_time", Schema: json.RawMessage(
	`{"type":"object","properties":{"timezone":{"type":"string"}},"required":["timezone"]}`)}}

// markedFamilies are the families whose calls stand between marks.
func markedFamilies() (all []*Format) {
	for _, f := range All() {
		opener := strings.TrimSpace(string(f.Append(nil, positionCall)))
		if opener[0] == '<' || opener[0] == '[' && !strings.HasPrefix(opener, "[get_time") && !strings.HasPrefix(opener, "[{") || opener[0] >= 0x80 {
			all = append(all, f)
		}
	}
	return all
}

// positionCall is the call.
var positionCall = chat.Call{ID: "call00001", Name: "get_time", Args: json.RawMessage(`{"timezone":"UTC"}`)}

// position returns what stands in front of a call and behind it.
func position(r *rand.Rand, set int) (front, behind string) {
	one := func(words []string) string { return words[r.IntN(len(words))] }
	if r.IntN(12) > 0 {
		front = one(positionWords[set]) + one(positionEnds[set])
		if r.IntN(3) == 0 {
			front = one(positionWords[set]) + one(positionEnds[set]) + one([]string{" ", "\n", "\n\n"}) + front
		}
		front += one(positionGaps)
	}
	switch r.IntN(6) {
	case 0:
	case 1:
		behind = one([]string{"\n", " ", "\n\n"})
	case 2, 3:
		behind = "\n\n" + one(positionWords[set]) + one(positionEnds[set])
	case 4:
		behind = "\n" + one(positionWords[set]) + one(positionEnds[set])
	case 5:
		if behind = one(positionWords[set]) + one(positionEnds[set]); unicode.ToTitle([]rune(behind)[0]) == []rune(behind)[0] {
			behind = one([]string{"", " "}) + behind // behind a blank small letters go on with the sentence
		}
	}
	return front, behind
}

// TestOwnMarksAnywhere puts a call in the model's own marks at random positions in text of any
// script, which quotes nothing.
func TestOwnMarksAnywhere(t *testing.T) {
	families := markedFamilies()
	for set, seed := range []uint64{1, 20261125, 77001} {
		r, lost := rand.New(rand.NewPCG(seed, 990)), 0
		for range 990 {
			f := families[r.IntN(len(families))]
			front, behind := position(r, set)
			text := front + strings.Trim(string(f.Append(nil, positionCall)), "\n") + behind
			calls := decodeCalls(t, f, []string{text}, Options{Tools: positionTool})
			if len(calls) != 1 || compact(calls[0].Args) != `{"timezone":"UTC"}` {
				lost++
				t.Logf("%s: %q, call, %q: %v", f.Name, front, behind, calls)
			}
		}
		if lost > 0 {
			t.Errorf("set %d: %d of 990 calls are lost", set, lost)
		}
	}
}
