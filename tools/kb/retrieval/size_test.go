package retrieval

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"toolnorm/tools/kb/kbstore"
)

// zipf makes texts of words that are as frequent as those of a language.
type zipf struct {
	*rand.Zipf
}

// newZipf gives words of a vocabulary of 300,000.
func newZipf(seed uint64) zipf {
	return zipf{rand.NewZipf(rand.New(rand.NewPCG(seed, 0)), 1.07, 3, 300_000)}
}

// text is n words.
func (z zipf) text(n int) string {
	var b strings.Builder
	for range n {
		word := strconv.FormatUint(z.Uint64()*7919+11, 26) // digits and letters up to p
		b.WriteString(strings.Map(func(r rune) rune {
			if r <= '9' {
				return r - '0' + 'q'
			}
			return r
		}, word))
		b.WriteByte(' ')
	}
	return b.String()
}

// grow puts passages of about 60 words into a base, ten to a document, until it has n.
func grow(tb testing.TB, store *kbstore.Store, n int) kbstore.Base {
	tb.Helper()
	base, err := store.Create(tb.Context(), kbstore.Base{Name: "size", Tenant: "acme"})
	if err != nil {
		tb.Fatal(err)
	}
	collection, err := store.Collect(tb.Context(), base.ID, "all")
	if err != nil {
		tb.Fatal(err)
	}
	z := newZipf(1)
	for i := range n / 10 {
		d := kbstore.Document{Collection: collection, Source: fmt.Sprint("d", i), Title: z.text(3), Summary: z.text(10),
			Access: kbstore.Access{Tenant: "acme", Public: i%3 != 0, Departments: []string{"hr"}, Clearance: i % 4}}
		if d.Public {
			d.Departments = nil
		}
		chunks := make([]kbstore.Chunk, 10)
		for j := range chunks {
			chunks[j] = kbstore.Chunk{Heading: z.text(2), Text: z.text(40 + (i+j)%40)}
		}
		if err := store.Put(tb.Context(), base.ID, &d, chunks); err != nil {
			tb.Fatal(err)
		}
	}
	return base
}

// BenchmarkSize measures the goal of a base of many passages: the first search of a process, p50
// and p95 of the following ones by somebody who may see a part of it, and the memory. The file is
// kept where TOOLNORM_SIZE names a folder, so that another process can measure its first search.
// TOOLNORM_SIZE_PASSAGES is how many passages it has (100,000).
func BenchmarkSize(b *testing.B) {
	n, err := strconv.Atoi(os.Getenv("TOOLNORM_SIZE_PASSAGES"))
	if err != nil {
		n = 100_000
	}
	folder := os.Getenv("TOOLNORM_SIZE")
	if folder == "" {
		folder = b.TempDir()
	}
	store := openAt(b, filepath.Join(folder, fmt.Sprintf("size-%d.db", n)))
	bases, err := store.Bases(b.Context(), someone)
	if err != nil {
		b.Fatal(err)
	}
	if len(bases) == 0 {
		began := time.Now()
		bases = []kbstore.Base{grow(b, store, n)}
		b.ReportMetric(time.Since(began).Seconds(), "import-s")
	}
	debug.FreeOSMemory()
	local, z := &Local{Store: store}, newZipf(2)
	p := *someone
	p.Clearance = 2
	search := func() time.Duration {
		began := time.Now()
		q := Query{Text: z.text(6), Base: bases[0].ID, Threshold: DefaultThreshold, Max: DefaultMax, Principal: &p}
		if _, err := local.Search(b.Context(), q); err != nil {
			b.Fatal(err)
		}
		return time.Since(began)
	}
	b.ReportMetric(float64(search().Microseconds())/1000, "first-ms")
	var took []time.Duration
	for b.Loop() {
		took = append(took, search())
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
	b.ReportMetric(peak(b), "peak-MB")
}

// peak is the most memory that this process has had, in megabytes.
func peak(b *testing.B) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip("the memory is known on Linux alone")
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	kb, err := strconv.Atoi(strings.Fields(after + " 0")[0])
	if err != nil {
		b.Fatal(err)
	}
	return float64(kb) / 1024
}
