package repeat

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolnorm/internal/golden"
	"toolnorm/internal/test/must"
)

// defaultRepeat is the engine's limit.
const defaultRepeat = 8 << 10

// longest is for how many bytes a text is found to repeat itself, read in pieces of up to n bytes.
func longest(text string, n int) (most int) {
	var r Text
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	for text != "" {
		cut := min(1+rng.IntN(n), len(text))
		most = max(most, r.Write(text[:cut]))
		text = text[cut:]
	}
	return most
}

// each joins what f gives for 0 to n-1.
func each(n int, f func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(f(i))
	}
	return b.String()
}

func TestEndlessRepetitionIsFound(t *testing.T) {
	prose := each(400, func(i int) string { return fmt.Sprintf("Sentence %d says something else. ", i*i) })
	paragraph := prose[:500]
	for name, text := range map[string]string{
		"a word":               strings.Repeat("la ", 8000),
		"blanks":               strings.Repeat(" ", 20000),
		"line breaks":          strings.Repeat("\n", 20000),
		"one letter":           strings.Repeat("a", 20000),
		"a sentence":           strings.Repeat("I will now call the tool.\n", 800),
		"a paragraph":          strings.Repeat(paragraph, 40),
		"behind a good answer": prose + strings.Repeat("So the answer is 42. ", 900),
		"Hangul":               strings.Repeat("안녕하세요. ", 1500),
		"empty calls":          strings.Repeat(`{"name": "get_weather", "arguments": {"city": "Paris"}}`+"\n", 400),
	} {
		found := longest(text, 1)
		if found < defaultRepeat {
			t.Errorf("%s: %d bytes are found", name, found)
		}
		for _, n := range []int{3, 100, 5000} {
			if got := longest(text, n); got != found {
				t.Errorf("%s: in pieces of up to %d bytes %d are found, byte by byte %d", name, n, got, found)
			}
		}
	}
}

func TestWhatOnlyLooksRepetitiveIsLeftAlone(t *testing.T) {
	random := make([]byte, 30000)
	rng := rand.New(rand.NewPCG(7, 7))
	for i := range random {
		random[i] = byte(rng.Uint32())
	}
	texts := map[string]string{
		"a table":              each(600, func(i int) string { return fmt.Sprintf("| row %4d | 0 | 0 | yes |\n", i) }),
		"a long list":          each(2000, func(i int) string { return fmt.Sprintf("%d. item\n", i) }),
		"indentation":          each(400, func(i int) string { return strings.Repeat(" ", i%60) + "x = f(x)\n" }),
		"braces":               strings.Repeat("[", 3000) + strings.Repeat("]", 3000),
		"a line of dashes":     strings.Repeat("-", 4000) + "\nAnd so on.",
		"a matrix of zeros":    "[" + strings.Repeat("[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],\n", 100) + "]",
		"random base64":        base64.StdEncoding.EncodeToString(random),
		"base64 with zeros":    base64.StdEncoding.EncodeToString(slices.Concat(random[:9000], make([]byte, 3000), random[9000:])),
		"objects of one shape": each(500, func(i int) string { return fmt.Sprintf(`{"id": %d, "name": "a", "tags": []}, `, i) }),
		"a picture in letters": strings.Repeat(strings.Repeat("#", 60)+"\n", 60),
		"a poem's refrain":     strings.Repeat("Row, row, row your boat, gently down the stream.\n", 100),
	}
	files, err := filepath.Glob("../../adapters/families/*.txt")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d families, %v", len(files), err)
	}
	for _, f := range files {
		src := must.Read(t, f)
		cases, err := golden.Cases(src)
		must.OK(t, err)
		all := ""
		for _, c := range cases {
			all += c.Raw
		}
		texts[filepath.Base(f)] = all
		texts[filepath.Base(f)+" itself"] = string(src)
	}
	for name, text := range texts {
		if n := longest(text, 7); n >= defaultRepeat {
			t.Errorf("%s: %d bytes of repetition", name, n)
		}
	}
}

func BenchmarkRepetition(b *testing.B) {
	text := each(3000, func(i int) string { return fmt.Sprintf("Sentence %d says something else. ", i*i) })
	var r Text
	b.SetBytes(4)
	for i := range b.N {
		at := i * 4 % (len(text) - 4)
		r.Write(text[at : at+4])
	}
}

// FuzzRepetition holds the search for a period against the plain one, and pieces of any length
// against single bytes.
func FuzzRepetition(f *testing.F) {
	f.Add("la ", "x", 7)
	f.Add("ab", "ba", 1)
	f.Add(strings.Repeat("abc", 200), "", 100)
	f.Fuzz(func(t *testing.T, unit, tail string, n int) {
		if unit == "" || len(unit) > 2000 || n < 1 || n > 1<<20 {
			return
		}
		text := strings.Repeat(unit, 12000/len(unit)) + tail
		var window [longestPeriod + repeatStep]byte
		if copy(window[:], text[max(len(text)-len(window), 0):]) == len(window) && repeats(&window) != repeatsPlainly(window[:]) {
			t.Errorf("%q: a period is found: %v", window, repeats(&window))
		}
		if whole, single := longest(text, n), longest(text, 1); whole != single {
			t.Errorf("in pieces of up to %d bytes %d are found, byte by byte %d", n, whole, single)
		}
	})
}

// repeatsPlainly tries every period.
func repeatsPlainly(text []byte) bool {
	for p := 1; p <= longestPeriod; p++ {
		if string(text[p:]) == string(text[:len(text)-p]) {
			return true
		}
	}
	return false
}
