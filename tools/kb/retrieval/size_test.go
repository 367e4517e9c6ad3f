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
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"toolnorm/internal/store"
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

// grow puts passages of about 60 words into a base, ten to a document, until it has n, as a file of
// an older version has them: without an index of words.
func grow(b *testing.B, knowledge *kbstore.Store, where string, n int) kbstore.Base {
	b.Helper()
	base, err := knowledge.Create(b.Context(), kbstore.Base{Name: "size", Tenant: "acme"})
	if err != nil {
		b.Fatal(err)
	}
	collection, err := knowledge.Collect(b.Context(), base.ID, "all")
	if err != nil {
		b.Fatal(err)
	}
	db, err := store.Open(b.Context(), where)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	schema := map[store.Kind]string{store.Postgres: "knowledge."}[db.Kind]
	z, r := newZipf(1), rand.New(rand.NewPCG(3, 0))
	id := func() string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", r.Uint32(), r.Uint64()>>16) }
	for i := 0; i < n/10; {
		err := db.Alone(b.Context(), func(tx *store.Tx) error {
			for range 1000 {
				document, department := id(), []string{"", "hr", ""}[i%3]
				if _, err := tx.ExecContext(b.Context(), "INSERT INTO "+schema+"documents VALUES ($1, $2, 10, 'acme', $3, $4, $5, '', $6, '', NULL, 2, '')",
					document, collection, i%4, z.text(3), fmt.Sprint("d", i), z.text(10)); err != nil {
					return err
				}
				if _, err := tx.ExecContext(b.Context(), "INSERT INTO "+schema+"document_departments VALUES ($1, $2)", document, department); err != nil {
					return err
				}
				for j := range 10 {
					if _, err := tx.ExecContext(b.Context(), "INSERT INTO "+schema+"chunks (id, document_id, chunk_index, heading, text, model, vector) VALUES ($1, $2, $3, $4, $5, '', NULL)",
						id(), document, j, z.text(2), z.text(40+(i+j)%40)); err != nil {
						return err
					}
				}
				i++
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	return base
}

// large returns a base of many passages, and who searches it: somebody who may see a part of it.
// The file is kept where TOOLNORM_SIZE names a folder, so that another process can measure its
// first search. TOOLNORM_SIZE_PASSAGES is how many passages it has (100,000). TOOLNORM_SIZE may be
// the URL of an empty PostgreSQL instead of a folder.
func large(b *testing.B) (*Local, Query) {
	b.Helper()
	n, err := strconv.Atoi(os.Getenv("TOOLNORM_SIZE_PASSAGES"))
	if err != nil {
		n = 100_000
	}
	folder := os.Getenv("TOOLNORM_SIZE")
	if folder == "" {
		folder = b.TempDir()
	}
	where := filepath.Join(folder, fmt.Sprintf("size-%d.db", n))
	if strings.HasPrefix(folder, "postgres") {
		where = folder
	}
	knowledge := openAt(b, where)
	bases, err := knowledge.Bases(b.Context(), someone)
	if err != nil {
		b.Fatal(err)
	}
	if len(bases) == 0 {
		bases = []kbstore.Base{grow(b, knowledge, where, n)}
		began, last, longest := time.Now(), time.Now(), time.Duration(0)
		err := knowledge.Words.Index(b.Context(), bases[0].ID, func(done, all int) {
			longest, last = max(longest, time.Since(last)), time.Now()
			b.Logf("%d of %d passages are indexed after %.0f s", done, all, time.Since(began).Seconds())
		})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(began).Seconds(), "index-s")
		b.ReportMetric(longest.Seconds(), "longest-step-s")
	}
	debug.FreeOSMemory()
	p := *someone
	p.Clearance = 2
	return &Local{Store: knowledge}, Query{Base: bases[0].ID, Threshold: DefaultThreshold, Max: DefaultMax, Principal: &p}
}

// BenchmarkSize measures the goal of a base of many passages: the first search of a process, p50
// and p95 of the following ones, and the memory.
func BenchmarkSize(b *testing.B) {
	local, q := large(b)
	z := newZipf(2)
	search := func() (took, cpu time.Duration) {
		began, used := time.Now(), processor(b)
		q.Text = z.text(6)
		if _, err := local.Search(b.Context(), q); err != nil {
			b.Fatal(err)
		}
		return time.Since(began), processor(b) - used
	}
	first, firstCPU := search()
	var took, cpu []time.Duration
	for b.Loop() {
		t, c := search()
		took, cpu = append(took, t), append(cpu, c)
	}
	tell := func(name string, d time.Duration) { b.ReportMetric(float64(d.Microseconds())/1000, name) }
	tell("first-ms", first)
	tell("first-cpu-ms", firstCPU)
	for name, all := range map[string][]time.Duration{"ms": took, "cpu-ms": cpu} {
		slices.Sort(all)
		tell("p50-"+name, all[len(all)/2])
		tell("p95-"+name, all[len(all)*95/100])
	}
	b.ReportMetric(peak(b), "peak-MB")
}

// BenchmarkTwentyAtOnce measures how many searches of such a base end in a second if there are always
// twenty.
func BenchmarkTwentyAtOnce(b *testing.B) {
	local, q := large(b)
	var searches []Query
	z := newZipf(2)
	for b.Loop() {
		q.Text = z.text(6)
		searches = append(searches, q)
	}
	if _, err := local.Search(b.Context(), q); err != nil {
		b.Fatal(err)
	}
	began, used := time.Now(), processor(b)
	var next atomic.Int32
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(searches); i = next.Add(1) - 1 {
				if _, err := local.Search(b.Context(), searches[i]); err != nil {
					b.Error(err)
				}
			}
		})
	}
	all.Wait()
	n := float64(len(searches))
	b.ReportMetric(n/time.Since(began).Seconds(), "searches/s")
	b.ReportMetric(float64((processor(b)-used).Microseconds())/1000/n, "cpu-ms")
	b.ReportMetric(peak(b), "peak-MB")
}

// processor is how much time of a processor this process has used, which says more than the clock
// on a machine that has other work.
func processor(b *testing.B) time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
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
