package lexical

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestTokens(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"リモート手当", "りも もー ーと と手 手当"},
		{"ﾘﾓｰﾄ", "りも もー ーと"},         // half width
		{"Ｅ－４０１２", "e 4012 =e-4012"}, // full width
		{"サ-バ-", "さー ーば ばー"},         // hyphens that OCR read
		{"東京-大阪", "東京 大阪"},           // a hyphen between kanji is none of them
		{"재택근무 수당은", "재택 택근 근무 수당 당은"},
		{"\u1112\u1161\u11ab\u1100\u1173\u11af", "한글"}, // in parts
		{"副", "副"},
		{"users.created_at", "user ~users =users.created_at creat ~creat at"},
		{"Applying, applied; applies", "appli ~apply appli ~appli appli ~appli"},
		{"The employees'", "the employe ~emplo"},
		{"naïve café", "naïve ~naïve café"}, // no English, so no stem
		{"Ἄνθρωποι книгами", "ανθρωποι ~ανθρω книгами ~книга"},
		{"كِتَابٌ", "كتاب"}, // marks that say how it is read
		{"والملفات بالملفات للملفات ملفات", "ملفات ~ملفات ملفات ~ملفات ملفات ~ملفات ملفات ~ملفات"},
		{"بالاتر الى إلى", "بالاتر ~بالات الي الي"},   // بال is part of the first word
		{"می\u200cخواهم کتاب", "ميخواهم ~ميخوا كتاب"}, // a joiner that is not seen, other letters
		{"विज्ञान", "विज्ञान ~विज्ञ"},                 // vowels that are marks belong to the word
		{"แม่โขง", "แม่ ม่โ ่โข โขง"},                 // no blanks between words
		{"İstanbul 20240101", "istanbul ~istan 20240101"},
		{"...--__", ""},
		{"", ""},
	} {
		got := Tokens(c.text)
		want := strings.Fields(c.want)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("Tokens(%q) = %q, want %q", c.text, got, want)
		}
	}
}

func TestTheVersionChangesWithTheTokens(t *testing.T) {
	// Whoever changes this line changes Version too: stored tokens of before would no longer meet
	// those of queries.
	got := fmt.Sprint(Version, Tokens("サ-バ-の E-4012 を applying, 수당을"))
	if want := "4 [さー ーば ばー ーの e =e-4012 4012 を appli ~apply 수당 당을]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSearchOrdersAndFilters(t *testing.T) {
	x := New([]string{"副業の許可条件", "副業は申請して許可を得る", "年次有給休暇", "remote work allowance"})
	if hits := x.Search("副業 許可 条件", 10, nil); len(hits) != 2 || hits[0].Row != 0 {
		t.Errorf("got %v", hits)
	}
	if hits := x.Search("副業 許可 条件", 10, func(row int) bool { return row != 0 }); len(hits) != 1 || hits[0].Row != 1 {
		t.Errorf("filtered: got %v", hits)
	}
	if hits := x.Search("allowances for working remotely", 1, nil); len(hits) != 1 || hits[0].Row != 3 {
		t.Errorf("stems: got %v", hits)
	}
	for _, query := range []string{"", "？", "絶対無い"} {
		if hits := x.Search(query, 10, nil); len(hits) != 0 {
			t.Errorf("Search(%q) = %v, want nothing", query, hits)
		}
	}
	if hits := x.Search("副業", 0, nil); len(hits) != 0 {
		t.Errorf("none asked for: got %v", hits)
	}
}

func TestSearchIsBM25(t *testing.T) {
	x := New([]string{"aa aa bb", "aa cc", "dd"})
	// N 3, df(aa) 2, lengths 3 2 1, average 2
	got := x.Search("aa", 3, nil)
	if len(got) != 2 || fmt.Sprintf("%.4f %.4f", got[0].Score, got[1].Score) != "0.5666 0.4700" {
		t.Errorf("got %v", got)
	}
}

func TestEqualsComeByTheirID(t *testing.T) {
	x := new(Index)
	for _, id := range []string{"c", "a", "b"} {
		x.Add(id, "same text")
	}
	if hits := x.Search("text", 2, nil); hits[0].Row != 1 || hits[1].Row != 2 {
		t.Errorf("got %v, want those of a and b", hits)
	}
}

func TestNothingScoresAboveItsIdeal(t *testing.T) {
	x := New([]string{"副業の許可条件", "副業", "副業 副業 副業 副業 副業 副業", "年次有給休暇", strings.Repeat("長い文章です。", 50)})
	if ideal := x.Ideal("副業"); x.Search("副業", 1, nil)[0].Score > 1.3*ideal {
		t.Errorf("ideal %f, best %f", ideal, x.Search("副業", 1, nil)[0].Score)
	}
	if x.Ideal("") != 0 {
		t.Error("an empty query has an ideal")
	}
}

func TestFeatures(t *testing.T) {
	x := new(Index)
	spread := x.Add("", "規程", "休暇", "手当の話。リモートの話。ワークの話。")
	piece := x.Add("", "規程", "リモートワーク手当", "リモートワーク手当の金額は月額5,000円とする。")
	none := x.Add("", "規程", "休暇", "年次有給休暇は十日とする。")
	look := x.Look("リモートワーク手当の金額は？", 1, 2, 1)
	a, b, c := look.Features(spread), look.Features(piece), look.Features(none)
	if !(b.Coverage > a.Coverage && b.Longest > a.Longest && b.Ideal > a.Ideal) {
		t.Errorf("in one piece %+v, spread %+v", b, a)
	}
	if b.Coverage < .99 {
		t.Errorf("all of it is there: %+v", b)
	}
	if c.Coverage > .05 || c.Longest > .05 {
		t.Errorf("nothing of it is there: %+v", c)
	}
	for _, f := range []Features{a, b, c} {
		for _, v := range []float64{f.Ideal, f.Coverage, f.Longest} {
			if v < 0 || v > 1 {
				t.Errorf("%+v is not within [0,1]", f)
			}
		}
	}
	if f := x.Look("", 1).Features(piece); f != (Features{}) {
		t.Errorf("of nothing: %+v", f)
	}
	if f := x.Look("はいくら", 1).Features(piece); f.Coverage < 0 || f.Coverage > 1 {
		t.Errorf("of particles: %+v", f)
	}
}

func TestWorthIsCountedInRareWords(t *testing.T) {
	for query, want := range map[string]float64{"tea": 1, "tea cup": 2, "kettle": 1, "unheard": 1, "说明": 1, "": 0} {
		x := New([]string{"tea cup", "kettle", "说明", "milk", "sugar"})
		if f := x.Look(query).Features(0); math.Abs(f.Worth-want) > 1e-9 {
			t.Errorf("%q is worth %v words, want %v", query, f.Worth, want)
		}
	}
}

func TestGrammarCountsLittle(t *testing.T) {
	x := new(Index)
	row := x.Add("", "アルムナイサービスは退職者と企業をつなぐ。")
	x.Add("", "経費精算の締め日は二十日。")
	for _, query := range []string{"アルムナイサービスについて教えて", "アルムナイサービス", "アルムナイサービスとは何ですか"} {
		if f := x.Look(query).Features(row); f.Coverage < .75 {
			t.Errorf("%s: %+v", query, f)
		}
	}
}

func TestFormsOfAWordMeet(t *testing.T) {
	for query, text := range map[string]string{
		"ハサミの貸出": "はさみを貸出する", "サーバの設定": "サーバーの設定", "книга": "с книгами", "Vertrages": "Vertragsende",
		"çalışanların": "çalışanlar", "άνθρωπος": "ανθρώπους", "副業の規定": "副業の規程",
	} {
		if hits := New([]string{"something else", text}).Search(query, 1, nil); len(hits) != 1 || hits[0].Row != 1 {
			t.Errorf("%s does not find %s", query, text)
		}
	}
}

func TestFuseScores(t *testing.T) {
	hits := FuseScores([]int{3, 1}, []int{3, 2})
	if hits[0] != (Hit{3, 1}) || hits[1].Row != 1 || hits[2].Row != 2 || hits[1].Score >= .5 {
		t.Errorf("got %v", hits)
	}
	if got := Fuse(2, []int{5, 4, 3}); !slices.Equal(got, []int{5, 4}) {
		t.Errorf("one ranking: %v", got)
	}
}

// pieces are words that random texts are made of.
var pieces = strings.Fields("副業 許可 条件 リモートワーク手当 の は 金額 재택근무 수당 은 employees apply e-4012 users.created_at ー - 。")

// randomText is some pieces in a row.
func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(12) {
		b.WriteString(pieces[r.IntN(len(pieces))])
		if r.IntN(3) == 0 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// fresh is an index of texts made at once.
func fresh(texts map[string]string) *Index {
	x := new(Index)
	for _, id := range slices.Sorted(maps.Keys(texts)) {
		x.Add(id, texts[id][:len(texts[id])/2], texts[id])
	}
	return x
}

// asIDs are hits in a form that two indexes share.
func asIDs(x *Index, hits []Hit) (all []string) {
	for _, hit := range hits {
		all = append(all, fmt.Sprintf("%s %.12f", x.rows[hit.Row].id, hit.Score))
	}
	return all
}

// checkSame holds an index that was changed step by step to one made at once of what it holds now.
func checkSame(t *testing.T, x *Index, texts map[string]string, queries ...string) {
	t.Helper()
	want := fresh(texts)
	if x.texts != want.texts || x.tokens != want.tokens {
		t.Fatalf("%d texts of %d tokens, want %d of %d", x.texts, x.tokens, want.texts, want.tokens)
	}
	for _, query := range queries {
		if got, want := asIDs(x, x.Search(query, 100, nil)), asIDs(want, want.Search(query, 100, nil)); !reflect.DeepEqual(got, want) {
			t.Fatalf("Search(%q) = %q, made at once %q", query, got, want)
		}
		if a, b := x.Ideal(query), want.Ideal(query); cmp.Compare(a, b) != 0 {
			t.Fatalf("Ideal(%q) = %v, made at once %v", query, a, b)
		}
	}
}

// change applies steps to an index: each byte adds a text under one of sixteen names, or removes
// what is there.
func change(steps []byte) (*Index, map[string]string) {
	x, rows, texts := new(Index), map[string]int{}, map[string]string{}
	for i, step := range steps {
		id := fmt.Sprintf("t%02d", step%16)
		if row, there := rows[id]; there {
			x.Remove(row)
			delete(rows, id)
			delete(texts, id)
		}
		if step < 160 {
			text := randomText(rand.New(rand.NewPCG(uint64(step), uint64(i))))
			rows[id], texts[id] = x.Add(id, text[:len(text)/2], text), text
		}
	}
	return x, texts
}

func TestAddingAndRemovingEqualsBuildingAtOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		steps := make([]byte, r.IntN(60))
		for i := range steps {
			steps[i] = byte(r.IntN(256))
		}
		x, texts := change(steps)
		checkSame(t, x, texts, randomText(r), "副業 許可", "employees e-4012")
	}
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte{1, 2, 3, 161, 1, 255}, "副業の許可")
	f.Add([]byte{}, "")
	f.Fuzz(func(t *testing.T, steps []byte, query string) {
		x, texts := change(steps[:min(len(steps), 200)])
		x.Remove(-1)
		x.Remove(len(x.rows))
		checkSame(t, x, texts, query)
	})
}

func FuzzTokens(f *testing.F) {
	for _, text := range append(pieces, "ﾘﾓｰﾄ", "Ｅ－４０１２", "a\x00b", "ア-イ", "\xff") {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tokens := Tokens(text)
		for _, token := range tokens {
			if token == "" || strings.ContainsAny(token, " '\\\x00") {
				t.Fatalf("Tokens(%q) has %q", text, token)
			}
		}
		if again := Tokens(strings.ToUpper(text)); !strings.ContainsAny(text, "ßﬀŉǰΐΰ") && len(tokens) > 0 && len(again) == 0 {
			t.Fatalf("Tokens(%q) = %q, and of the capitals nothing", text, tokens)
		}
	})
}

func TestStatisticsOfTheWholeScoreAPart(t *testing.T) {
	texts := []string{"副業の許可条件", "副業は申請して許可を得る", "年次有給休暇の条件", "許可 許可 副業"}
	whole := New(texts)
	s := whole.Statistics("副業 許可")
	part := New([]string{texts[1], texts[3]})
	part.Whole = &s
	a, b := whole.Search("副業 許可", 9, func(row int) bool { return row%2 == 1 }), part.Search("副業 許可", 9, nil)
	if len(a) != 2 || len(b) != 2 || a[0].Score != b[0].Score || a[1].Score != b[1].Score {
		t.Errorf("among all %v, alone %v", a, b)
	}
}

// corpus is n texts of about 90 tokens.
func corpus(n int) []string {
	r, texts := rand.New(rand.NewPCG(7, 7)), make([]string, n)
	for i := range texts {
		var b strings.Builder
		for range 12 {
			b.WriteString(randomText(r))
			fmt.Fprintf(&b, "第%d条 ", r.IntN(3000))
		}
		texts[i] = b.String()
	}
	return texts
}

func BenchmarkSearch5000(b *testing.B) {
	x := New(corpus(5000))
	b.ReportAllocs()
	for b.Loop() {
		x.Search("リモートワーク手当の金額は 第123条", 500, nil)
	}
}

func BenchmarkAdd(b *testing.B) {
	texts := corpus(1000)
	b.ReportAllocs()
	for b.Loop() {
		New(texts)
	}
}

func TestPairsBetweenWordsAreNotUnknownWords(t *testing.T) {
	x := New([]string{"社区在一九九三年创建了这个计划。", "手册由志愿者编写。", "内核由学生发布。"})
	if with, without := x.Look("计划是谁创建").Features(0), x.Look("计划 是谁 创建").Features(0); with.Coverage < without.Coverage*.75 {
		t.Errorf("words written together cover %.2f, apart %.2f", with.Coverage, without.Coverage)
	}
	// What stands beside nothing known is a word that no text has.
	if all := x.asked("火星计划"); all[0].share != 1 || all[1].share != ofSeam || all[2].share != 1 {
		t.Errorf("%+v", all)
	}
	if all := x.asked("火星 月球"); all[0].share != 1 || all[1].share != 1 {
		t.Errorf("%+v", all)
	}
}
