package ocr

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"toolnorm/internal/test/must"

	"golang.org/x/text/unicode/norm"
	"golang.org/x/text/width"
)

// byRule normalizes by the rule alone.
func byRule(t testing.TB, text string) Result {
	t.Helper()
	res, err := (&Normalizer{Without: Keep}).Normalize(context.Background(), text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return res
}

// TestTheTableOfTheSpecification holds every row of it. Which hyphens are ambiguous is counted;
// they stay.
func TestTheTableOfTheSpecification(t *testing.T) {
	for _, row := range []struct {
		in, out   string
		ambiguous int
	}{
		{"マネ-ジャ-", "マネージャー", 0},
		{"ユ-ザ-", "ユーザー", 0},
		{"サ-ビス（service）のガイドライン", "サービス（service）のガイドライン", 0},
		{"コ-ヒ-を飲む", "コーヒーを飲む", 0},
		{"ス-パ-マ-ケット", "スーパーマーケット", 0},
		{"リモ-トワ-ク手当", "リモートワーク手当", 0},
		{"パ-ト・アルバイト", "パート・アルバイト", 0},
		{"Wi-Fiル-タ-", "Wi-Fiルーター", 0},
		{"メ-ル", "メール", 0},
		{"サーバ-", "サーバー", 0},
		{"self-service", "self-service", 0},
		{"e-mail", "e-mail", 0},
		{"03-1234-5678", "03-1234-5678", 0},
		{"A-1", "A-1", 0},
		{"3-A", "3-A", 0},
		{"東京-大阪", "東京-大阪", 0},
		{"カメラ-レンズ", "カメラ-レンズ", 1},
		{"スキル-マップ", "スキル-マップ", 1},
		{"デ-タ-ベ-ス", "データ-ベース", 1}, // データー is a word, so that is the one that both readings do not share
		{"ヘルプデスク-担当", "ヘルプデスク-担当", 1},
		{"ア-イ", "ア-イ", 1},
		{"マイナビキャリ-では、キャリアコンサルティングを提供しています。", "マイナビキャリーでは、キャリアコンサルティングを提供しています。", 0},
		// Beyond the table.
		{"ネ‐ム、ネ‑ム、ネ–ム、ネ—ム、ネ−ム、ネ－ムプレ-ト", "ネーム、ネーム、ネーム、ネーム、ネーム、ネームプレート", 0},
		{"プラン-A、プラン-１、カッ-プ、ｻ-ﾋﾞｽ", "プラン-A、プラン-１、カッ-プ、ｻｰﾋﾞｽ", 0},
		{"ﾃﾞ-ﾀ入力、ﾊﾟ-ﾄのﾒ-ﾙ", "ﾃﾞｰﾀ入力、ﾊﾟｰﾄのﾒｰﾙ", 0},
		{"ウェブサ-バ-とファイルサ-バ-", "ウェブサーバーとファイルサーバー", 0},
		{"", "", 0},
		{"ア", "ア", 0},
		{"-ア--ア", "-ア--ア", 1},
		{"メ-\xff\xfeル-", "メ-\xff\xfeルー", 1},
	} {
		res := byRule(t, row.in)
		if res.Text != row.out || res.Ambiguous != row.ambiguous {
			t.Errorf("%s is %s with %d ambiguous, want %s with %d", row.in, res.Text, res.Ambiguous, row.out, row.ambiguous)
		}
		// In half width the same is found, with marks in half width.
		if res := byRule(t, narrowed(row.in)); res.Text != narrowed(row.out) || res.Ambiguous != row.ambiguous {
			t.Errorf("%s is %s with %d ambiguous, want %s with %d", narrowed(row.in), res.Text, res.Ambiguous, narrowed(row.out), row.ambiguous)
		}
	}
}

// narrowed returns a text with its katakana in half width.
func narrowed(text string) string {
	var b strings.Builder
	for at := 0; at < len(text); {
		r, n := utf8.DecodeRuneInString(text[at:])
		if isKatakana(r) || r == longMark {
			b.WriteString(width.Narrow.String(norm.NFD.String(text[at : at+n])))
		} else {
			b.WriteString(text[at : at+n]) // bytes that are no UTF-8 as they are
		}
		at += n
	}
	return b.String()
}

// TestTheDictionaryIsRestored holds that every word of it comes back, and that no hyphen between
// two of its words is taken for a mark.
func TestTheDictionaryIsRestored(t *testing.T) {
	all := slices.Sorted(maps.Keys(words()))
	if len(all) < 17_000 {
		t.Fatalf("%d words", len(all))
	}
	marked := 0
	for _, word := range all {
		if !strings.ContainsRune(word, longMark) {
			continue
		}
		marked++
		if res := byRule(t, strings.ReplaceAll(word, "ー", "-")); res.Text != word {
			t.Errorf("%s came back as %s", word, res.Text)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	kept, open := 0, 0
	for range 3000 {
		text := all[r.IntN(len(all))] + "-" + all[r.IntN(len(all))]
		switch res := byRule(t, text); {
		case words().has(strings.ReplaceAll(text, "-", "ー")):
		case isCandidate([]rune(text), strings.IndexByte(text, '-')/3) && utf8.RuneCountInString(text) < 8: // short ones are words by chance
		case res.Text != text:
			t.Errorf("%s became %s", text, res.Text)
		case res.Ambiguous > 0:
			open++
		default:
			kept++
		}
	}
	t.Logf("%d words with a mark restored; of hyphens between words %d are kept and %d ambiguous", marked, kept, open)
}

// labelled are the lines of testdata/labelled.txt: as OCR reads them, as they should be, and where
// the marks were.
func labelled(t *testing.T) (in, out []string) {
	t.Helper()
	text := must.Read(t, "testdata/labelled.txt")
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			in, out = append(in, strings.ReplaceAll(line, "~", "-")), append(out, strings.ReplaceAll(line, "~", "ー"))
		}
	}
	return in, out
}

// TestLabelledLines holds that the rule is right where it is certain, in 99 of 100 lines: whoever
// answers what it asks, as the labels do here, gets the line. And that it asks about few.
func TestLabelledLines(t *testing.T) {
	in, out := labelled(t)
	if len(in) < 300 {
		t.Fatalf("%d lines", len(in))
	}
	right, alone := 0, 0
	for i, line := range in {
		want := []rune(out[i])
		n := Normalizer{Ask: func(_ context.Context, _ []rune, offsets []int) (yes []bool, _ error) {
			for _, at := range offsets {
				yes = append(yes, want[at] == longMark)
			}
			return yes, nil
		}}
		res := must.Have(n.Normalize(context.Background(), line))(t)
		if res.Text == out[i] {
			right++
		} else {
			t.Logf("%s became %s", line, res.Text)
		}
		if res.Text == out[i] && res.Ambiguous == 0 {
			alone++
		} else {
			t.Logf("asked about %s", line)
		}
	}
	if right*100 < 99*len(in) || alone*100 < 80*len(in) {
		t.Errorf("of %d lines %d are right, %d of them without asking", len(in), right, alone)
	}
	t.Logf("of %d lines %d are right, %d of them without asking", len(in), right, alone)
}

func TestWhatBecomesOfAmbiguousHyphens(t *testing.T) {
	const text = "マネ-ジャ-のカメラ-レンズ"
	answers := func(yes []bool, err error) Ask {
		return func(context.Context, []rune, []int) ([]bool, error) { return yes, err }
	}
	down := errors.New("connection refused")
	for name, row := range map[string]struct {
		n       Normalizer
		want    string
		by      string // who changed the last hyphen
		warning string
		err     error
	}{
		"nobody to ask":        {Normalizer{}, "", "", "", ErrUnavailable},
		"down":                 {Normalizer{Ask: answers(nil, down)}, "", "", "", ErrUnavailable},
		"down, keep":           {Normalizer{Ask: answers(nil, down), Without: Keep}, "マネージャーのカメラ-レンズ", "rule", "the model cannot be asked: 1 ambiguous hyphens are unchanged", nil},
		"nobody, keep":         {Normalizer{Without: Keep}, "マネージャーのカメラ-レンズ", "rule", "no model is configured: 1 ambiguous hyphens are unchanged", nil},
		"nobody, lengthen":     {Normalizer{Without: Lengthen}, "マネージャーのカメラーレンズ", "policy", "no model is configured: 1 ambiguous hyphens are long-vowel marks now", nil},
		"yes":                  {Normalizer{Ask: answers([]bool{true}, nil)}, "マネージャーのカメラーレンズ", "llm", "", nil},
		"no":                   {Normalizer{Ask: answers([]bool{false}, nil), Without: Lengthen}, "マネージャーのカメラ-レンズ", "rule", "", nil},
		"too many":             {Normalizer{Ask: answers([]bool{true, true}, nil)}, "マネージャーのカメラ-レンズ", "rule", "the model's answer cannot be read: 1 ambiguous hyphens are unchanged", nil},
		"none":                 {Normalizer{Ask: answers(nil, nil)}, "マネージャーのカメラ-レンズ", "rule", "the model's answer cannot be read: 1 ambiguous hyphens are unchanged", nil},
		"unreadable, lengthen": {Normalizer{Ask: answers(nil, errUnreadable), Without: Lengthen}, "マネージャーのカメラ-レンズ", "rule", "the model's answer cannot be read: 1 ambiguous hyphens are unchanged", nil},
	} {
		res, err := row.n.Normalize(context.Background(), text)
		if !errors.Is(err, row.err) || res.Text != row.want || strings.Join(res.Warnings, ";") != row.warning {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
		if err == nil && (res.Ambiguous != 1 || res.Changes[len(res.Changes)-1].By != row.by || res.Changes[0] != (Change{2, "-", "ー", "rule"})) {
			t.Errorf("%s: %+v", name, res)
		}
	}
	// What the rule can judge needs no model.
	if res, err := new(Normalizer).Normalize(context.Background(), "マネ-ジャ-"); err != nil || res.Text != "マネージャー" {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestTextsAreBounded(t *testing.T) {
	must.Have(new(Normalizer).Normalize(context.Background(), strings.Repeat("あ", MaxText)))(t)
	if _, err := new(Normalizer).Normalize(context.Background(), strings.Repeat("あ", MaxText+1)); !errors.Is(err, ErrTooLong) || err.Error() != "Text too long (max 10000 chars)" {
		t.Error(err)
	}
}

// TestRepairIsAGuessFromTheRest holds both outcomes of the specification's sample, and that a guess
// needs a reason.
func TestRepairIsAGuessFromTheRest(t *testing.T) {
	for _, row := range []struct{ in, rule, repair string }{
		{"マイナビキャリ-では、キャリアコンサルティングを提供しています。", "マイナビキャリーでは、キャリアコンサルティングを提供しています。", "マイナビキャリアでは、キャリアコンサルティングを提供しています。"},
		{"キャリ-では、キャリアとキャリーバッグ", "キャリーでは、キャリアとキャリーバッグ", "キャリーでは、キャリアとキャリーバッグ"},
		{"キャリ-では、キャリアとキャリコ", "キャリーでは、キャリアとキャリコ", "キャリーでは、キャリアとキャリコ"},
		{"キャリ-では、マイナビキャリア", "キャリーでは、マイナビキャリア", "キャリーでは、マイナビキャリア"},
		{"マネ-ジャ-とマネジメント", "マネージャーとマネジメント", "マネージャーとマネジメント"},
	} {
		for repair, want := range map[bool]string{false: row.rule, true: row.repair} {
			res, err := (&Normalizer{Without: Keep, Repair: repair}).Normalize(context.Background(), row.in)
			if err != nil || res.Text != want {
				t.Errorf("%s, repair %v: %s, %v; want %s", row.in, repair, res.Text, err, want)
			}
			if want != row.rule && res.Changes[0] != (Change{7, "-", "ア", "repair"}) {
				t.Errorf("%+v", res.Changes)
			}
		}
	}
}

func TestNothingElseMayChange(t *testing.T) {
	for after, ok := range map[string]bool{"メール-A": true, "メ-ル-A": true, "メアル-A": true, "メール-B": false, "メール": false, "メxル-A": false, "メールーA": false} {
		if err := verify("メ-ル-A", after); (err == nil) != ok {
			t.Errorf("%s: %v", after, err)
		}
	}
}

// hostile answers with whatever does most harm: too much, too little, errors, and anything for each
// hyphen.
func hostile(r *rand.Rand) Ask {
	return func(_ context.Context, _ []rune, offsets []int) ([]bool, error) {
		if r.IntN(8) == 0 {
			return nil, errUnreadable
		}
		yes := make([]bool, max(0, len(offsets)+[]int{0, 0, 0, 0, 0, 0, 1, -1}[r.IntN(8)]))
		for i := range yes {
			yes[i] = r.IntN(2) == 0
		}
		return yes, nil
	}
}

// checkOnlyHyphens normalizes a text with a hostile model, and holds that nothing but candidates
// changed; without repair only to marks.
func checkOnlyHyphens(t *testing.T, n *Normalizer, text string) {
	t.Helper()
	res, err := n.Normalize(context.Background(), text)
	if errors.Is(err, ErrTooLong) {
		return
	}
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	before, after := []rune(text), []rune(res.Text)
	if len(before) != len(after) {
		t.Fatalf("%q became %q", text, res.Text)
	}
	changed := 0
	for i := range before {
		if before[i] == after[i] {
			continue
		}
		narrow := i > 0 && before[i-1] >= 'ｦ' && before[i-1] <= 'ﾟ' && before[i-1] != 'ｰ'
		if changed++; narrow && strings.ContainsRune("-‐‑–—−－", before[i]) && after[i] == 'ｰ' {
			continue
		}
		if !strings.ContainsRune("-‐‑–—−－", before[i]) || i == 0 || before[i-1] < 'ァ' || before[i-1] > 'ヺ' || after[i] != 'ー' && !n.Repair {
			t.Fatalf("%q became %q: character %d", text, res.Text, i)
		}
	}
	if changed != len(res.Changes) {
		t.Fatalf("%q: %d changes, %d told", text, changed, len(res.Changes))
	}
}

// TestAHostileModelChangesNothingElse takes 100,000 texts.
func TestAHostileModelChangesNothingElse(t *testing.T) {
	pieces := strings.Split("- ‐ ‑ – — − － ー ア イ カ ッ ン サ ビ ス メ ル ユ ザ データ ベース マネ ジャ カメラ レンズ キャリ 東京 の 。 a 1 Ａ \n \x00 \xff 😀 ｻ ﾒ ﾙ ｰ ﾃﾞ ﾞ ｯ -- true ]}", " ")
	r := rand.New(rand.NewPCG(7, 7))
	n := 100_000
	if testing.Short() {
		n = 20_000
	}
	for range n {
		var b strings.Builder
		for range r.IntN(24) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		checkOnlyHyphens(t, &Normalizer{Ask: hostile(r), Without: Keep, Repair: r.IntN(4) == 0}, b.String())
	}
}

func FuzzNormalize(f *testing.F) {
	for _, s := range []string{"マネ-ジャ-", "デ-タ-ベ-ス", "カメラ-レンズ", "self-service", "メ-\xff"} {
		f.Add(s, uint64(1), false)
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64, repair bool) {
		checkOnlyHyphens(t, &Normalizer{Ask: hostile(rand.New(rand.NewPCG(seed, 1))), Without: Lengthen, Repair: repair}, text)
	})
}

// BenchmarkRule is 10,000 characters of the labelled lines, by the rule alone.
func BenchmarkRule(b *testing.B) {
	page := []rune(strings.Repeat(strings.ReplaceAll(string(must.Read(b, "testdata/labelled.txt")), "~", "-"), 3))[:MaxText]
	n := Normalizer{Without: Keep}
	for b.Loop() {
		must.Have(n.Normalize(b.Context(), string(page)))(b)
	}
}

// BenchmarkKatakanaAlone is the text that costs most: one run of 10,000 characters, with as many
// hyphens as are judged.
func BenchmarkKatakanaAlone(b *testing.B) {
	page := "サ-ビ-ス-メ-ル-カ-" + strings.Repeat("マネジャ", 2497)
	n := Normalizer{Without: Keep}
	for b.Loop() {
		must.Have(n.Normalize(b.Context(), page))(b)
	}
}
