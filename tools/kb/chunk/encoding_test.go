package chunk

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	xunicode "golang.org/x/text/encoding/unicode"

	"toolnorm/internal/test/must"
)

// sentencesOf are texts in the languages that guesses know.
var sentencesOf = map[string][]string{
	"ja":      {"社員は年に二十日の有給休暇を取ることができます。", "プロキシの設定は管理画面から変更してください。", "会議室の予約は前日までに行い、利用後は窓を閉めること。", "経費の精算には領収書が必要です。"},
	"ko":      {"직원은 매년 스무 날의 유급 휴가를 사용할 수 있습니다.", "회의실은 하루 전까지 예약해야 합니다.", "출장비는 영수증과 함께 월말까지 제출하십시오.", "비밀번호는 석 달마다 바꾸어야 하며 다른 사람에게 알려서는 안 됩니다."},
	"zh":      {"员工每年可以享受二十天的带薪休假。", "会议室需要提前一天预订,使用后请关好窗户。", "出差费用应当在月底以前连同发票一起提交。", "如果您忘记了密码,请联系管理员,他们会为您重新设置。"},
	"zh-Hant": {"員工每年可以享受二十天的有薪休假。", "會議室需要提前一天預訂,使用後請關好窗戶。", "出差費用應當在月底以前連同發票一起提交。", "如果您忘記了密碼,請聯絡管理員,他們會為您重新設定。"},
	"ru":      {"Сотрудники имеют право на двадцать дней оплачиваемого отпуска в год.", "Переговорную комнату следует бронировать за день.", "Расходы на командировку подаются вместе с чеками до конца месяца.", "Пароль нельзя сообщать другим людям; его меняют каждые три месяца."},
	"el":      {"Οι εργαζόμενοι δικαιούνται είκοσι ημέρες άδεια μετ' αποδοχών τον χρόνο.", "Η αίθουσα συσκέψεων κρατείται μία ημέρα νωρίτερα.", "Τα έξοδα ταξιδιού υποβάλλονται μαζί με τις αποδείξεις."},
	"he":      {"העובדים זכאים לעשרים ימי חופשה בתשלום בכל שנה.", "את חדר הישיבות יש להזמין יום מראש.", "הוצאות הנסיעה יוגשו יחד עם הקבלות עד סוף החודש."},
	"ar":      {"يحق للموظفين عشرون يوما من الإجازة المدفوعة كل سنة.", "يجب حجز قاعة الاجتماعات قبل يوم واحد.", "تقدم مصاريف السفر مع الإيصالات قبل نهاية الشهر."},
	"th":      {"พนักงานมีสิทธิลาพักร้อนได้ปีละยี่สิบวัน", "ต้องจองห้องประชุมล่วงหน้าหนึ่งวัน", "ค่าใช้จ่ายในการเดินทางต้องส่งพร้อมใบเสร็จภายในสิ้นเดือน"},
	"tr":      {"Çalışanların yılda yirmi gün ücretli izin hakkı vardır.", "Toplantı odası bir gün önceden ayrılmalıdır; şifrenizi kimseye söylemeyiniz.", "İşyerinde ağır eşya taşınmaz."},
	"pl":      {"Pracownikom przysługuje dwadzieścia dni płatnego urlopu w roku.", "Salę konferencyjną należy zarezerwować dzień wcześniej.", "Źródło błędu znajdą Państwo w dzienniku; hasło zmienia się co trzy miesiące."},
	"cs":      {"Zaměstnanci mají nárok na dvacet dní placené dovolené ročně.", "Zasedací místnost je třeba rezervovat den předem.", "Cestovní výdaje se předkládají společně s účtenkami do konce měsíce; heslo nikomu nesdělujte."},
	"hu":      {"A munkavállalók évente húsz nap fizetett szabadságra jogosultak.", "A tárgyalót egy nappal előbb kell lefoglalni, különben később nem lesz szabad.", "Az útiköltséget a hónap végéig kell elszámolni, a gépjárművek kivételével; a jelszó hűvös fejjel őrzendő."},
	"de":      {"Mitarbeiter haben im Jahr zwanzig Tage bezahlten Urlaub.", "Der Besprechungsraum muß für größere Gruppen früher gebucht werden – „später“ heißt zu spät.", "Über Änderungen entscheidet die Geschäftsführung."},
	"fr":      {"Les employés ont droit à vingt jours de congés payés par an.", "La salle de réunion doit être réservée la veille ; l’accès est refusé après dix-huit heures.", "Où trouver les clés ? À l’accueil, bien sûr."},
	"es":      {"Los empleados tienen derecho a veinte días de vacaciones pagadas al año.", "La sala de reuniones se reserva con un día de antelación; ¿quién tiene la contraseña?", "Mañana habrá una reunión."},
	"pt":      {"Os funcionários têm direito a vinte dias de férias remuneradas por ano.", "A sala de reuniões deve ser reservada com um dia de antecedência; não é possível fazê-lo à tarde.", "As instruções estão na página de apresentação."},
	"sv":      {"Anställda har rätt till tjugo dagars betald semester per år.", "Mötesrummet måste bokas en dag i förväg, även på lördagar.", "Reseräkningar lämnas före månadens slut."},
	"lt":      {"Darbuotojams priklauso dvidešimt mokamų atostogų dienų per metus.", "Posėdžių salę reikia užsakyti prieš dieną; slaptažodį keiskite kas tris mėnesius.", "Išlaidų ataskaitą pateikite iki mėnesio pabaigos, įskaitant čekius."},
	"en":      {"Employees may take twenty days of paid leave a year – “carry over” is possible.", "The room’s key is with reception; a lost one costs £20.", "Travel above 30 °C © 2024 is paid twice."},
}

// textIn returns a text in a language of some sentences.
func textIn(r *rand.Rand, language string, n int) string {
	var b strings.Builder
	for i := range n {
		all := sentencesOf[language]
		b.WriteString(all[r.IntN(len(all))])
		b.WriteString([]string{"\n", "\n\n", " ", "\r\n"}[r.IntN(4)])
		if i%3 == 2 {
			fmt.Fprintf(&b, "- E-%d: see the manual, page %d\n", r.IntN(9000), r.IntN(90))
		}
	}
	return b.String()
}

// TestTextsAreReadInTheirEncodingOrRefused writes texts of twenty languages in every encoding that
// has their letters. Nearly all have to be read, and of those with six sentences all but one in
// 500; no text may be read as another one. The last seeds are held out.
func TestTextsAreReadInTheirEncodingOrRefused(t *testing.T) {
	codes := slices.Sorted(maps.Keys(sentencesOf))
	read, refused, long := 0, 0, 0
	for seed := range uint64(60) {
		if seed >= 40 {
			seed += 1_000_003
		}
		r := rand.New(rand.NewPCG(seed, 0))
		for _, code := range codes {
			n := 1 + r.IntN(12)
			text := textIn(r, code, n)
			for _, way := range readings {
				fits := code == "en" && strings.HasPrefix(way.name, "windows-125") || slices.Contains(strings.Fields(way.languages), code)
				data, err := way.from.NewEncoder().String(text)
				if !fits || err != nil || utf8.ValidString(data) {
					continue
				}
				got, problem, err := inUTF8([]byte(data), nil)
				switch {
				case err == nil && (string(got) != text || problem != ""):
					t.Errorf("seed %d, %s in %s: read as %.300q, %s; it is %.300q", seed, code, way.name, got, problem, text)
				case err != nil:
					refused++
					if n >= 6 {
						t.Logf("seed %d, %s in %s, %d sentences: %v", seed, code, way.name, n, err)
						long++
					}
				default:
					read++
				}
			}
		}
	}
	t.Logf("%d were read, %d refused, %d of them long", read, refused, long)
	if read < 20*refused || read < 500*long {
		t.Errorf("%d were read, %d refused, %d of them long", read, refused, long)
	}
}

// TestTextsOfUTF16WithoutAMarkAreRead holds that the bytes of zero tell it, and that a file that is
// no text is refused.
func TestTextsOfUTF16WithoutAMarkAreRead(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		for code := range sentencesOf {
			text := textIn(r, code, 1+r.IntN(4)) + "\n"
			for _, order := range []xunicode.Endianness{xunicode.LittleEndian, xunicode.BigEndian} {
				data := must.Have(xunicode.UTF16(order, xunicode.IgnoreBOM).NewEncoder().Bytes([]byte(text)))(t)
				if got, _, err := inUTF8(data, nil); string(got) != text {
					t.Errorf("seed %d, %s: %q, %v", seed, code, got, err)
				}
			}
		}
		noise := make([]byte, 400+r.IntN(400))
		for i := range noise {
			noise[i] = byte(r.IntN(256) & r.IntN(256)) // with zeros, as programs and archives have them
		}
		if got, _, err := inUTF8(noise, nil); err == nil {
			t.Errorf("seed %d: noise is read as %q", seed, got)
		}
	}
}

// TestPagesAreReadInWhatTheyAreIn tries the places where a page says what it is in, and pages that
// say what is not so.
func TestPagesAreReadInWhatTheyAreIn(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	text := textIn(r, "ja", 8)
	for head, ok := range map[string]bool{
		`<meta charset="Shift_JIS">`: true, `<style>` + strings.Repeat("p{}", 2000) + `</style><meta http-equiv=content-type content="text/html; charset=x-sjis">`: true,
		`<?xml version="1.0" encoding="Shift_JIS"?>`: true, `<meta charset="utf-8">`: true, ``: true, `<meta charset="nosuch">`: true,
		`<meta charset="EUC-KR">`: true, // in which it would have errors
	} {
		data := must.Have(japanese.ShiftJIS.NewEncoder().String("<html><head>" + head + "<title>規程</title></head><body><p>" + text))(t)
		got, err := Read("a.html", []byte(data))
		if said := show(got); (err == nil) != ok || ok && (got.Title != "規程" || !strings.Contains(said, text[:30])) {
			t.Errorf("%.80s: %s, %v", head, said, err)
		}
	}
	// A short page in Western letters is read by what it says alone.
	if got, err := Read("a.html", []byte("<meta charset=windows-1251><p>"+latin1(t, "\u00cc\u00c8\u00d0"))); err != nil || !strings.Contains(show(got), "МИР") {
		t.Errorf("%s, %v", show(got), err)
	}
}

// latin1 returns a text in bytes of windows-1252.
func latin1(t *testing.T, text string) string {
	return must.Have(charmap.Windows1252.NewEncoder().String(text))(t)
}

// TestAFewBadBytesLeaveTheRest holds that one odd byte does not take the file down, and is told.
func TestAFewBadBytesLeaveTheRest(t *testing.T) {
	text := []byte(strings.Repeat("Größe und Länge, täglich geprüft.\n", 20))
	at := bytes.Index(text, []byte("und"))
	text[at] = 0xE9
	got, err := Read("a.txt", text)
	if err != nil || len(got.Problems) != 1 || !strings.Contains(show(got), "Länge") || !strings.HasPrefix(got.Problems[0], "1 of its bytes") {
		t.Errorf("%v, %v: %s", err, got.Problems, show(got))
	}
}
