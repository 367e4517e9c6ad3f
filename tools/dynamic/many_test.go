package dynamic

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"toolnorm/internal/store"
	"toolnorm/internal/test/must"
)

// TestASaveAmongManyTools compares a save with a thousand tools to one with a few, by what it
// allocates, which a busy machine does not change.
func TestASaveAmongManyTools(t *testing.T) {
	allocated := func(n int) uint64 {
		s := ownSet(t)
		err := s.config.DB.Alone(t.Context(), func(tx *store.Tx) error {
			for i := range n {
				d := dailyLimit
				if i%2 == 0 {
					d = multiply
				}
				d.Name = fmt.Sprintf("tool_%d", i)
				id, err := insert(t.Context(), tx, &d, "tester")
				if err == nil {
					err = remember(t.Context(), s.config.DB, tx, id, 0, &d, "tester", created)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		must.OK(t, err)
		one := draft(typePython, "1")
		tool := save(t, s, one)
		least := uint64(math.MaxUint64) // other goroutines allocate as well
		for i := range 5 {
			one.Definition, one.Version = fmt.Sprint(i), i+1
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := s.Update(t.Context(), "tester", tool.ID, one)
			runtime.ReadMemStats(&after)
			must.OK(t, err)
			least = min(least, after.Mallocs-before.Mallocs)
		}
		return least
	}
	few, many := allocated(5), allocated(maxTools-1)
	t.Logf("%d objects with few tools, %d with %d", few, many, maxTools)
	// The list of tools is copied. Making one tool anew allocates some 80 objects.
	if many > few+3*maxTools {
		t.Errorf("a save allocates %d objects with %d tools, and %d with few", many, maxTools, few)
	}
}

// TestASaveLeavesWhatAReadingOfAllGives makes random changes by two programs on one store. Behind
// each change of the first its list and its registry are those of a program that reads everything
// anew.
func TestASaveLeavesWhatAReadingOfAllGives(t *testing.T) {
	for _, seed := range []uint64{1, 2} {
		random := rand.New(rand.NewPCG(seed, 36))
		where := filepath.Join(t.TempDir(), "store.db")
		both := []*Set{newSet(t, where, nil), newSet(t, where, nil)}
		for n := range 60 {
			who := both[random.IntN(4)/3]
			d := draft(typePython, fmt.Sprint(n))
			if random.IntN(9) == 0 {
				d.Definition = "1 +" // cannot be saved
			}
			d.Name, d.Active = fmt.Sprintf("t%d", random.IntN(6)), random.IntN(4) > 0
			id := random.IntN(8)
			switch random.IntN(4) { // what fails changes nothing
			case 0:
				_, _ = who.Create(t.Context(), "tester", d)
			case 1:
				_, _ = who.update(t.Context(), "tester", updated, id, d)
			case 2:
				_, _ = who.Toggle(t.Context(), "tester", id, 0, d.Active)
			default:
				_ = who.Delete(t.Context(), "tester", id, 0)
			}
			if who != both[0] {
				continue
			}
			fresh := newSet(t, where, nil)
			who.mu.Lock()
			got := slices.Clone(who.last)
			who.mu.Unlock()
			if want := fresh.last; who.seen == fresh.seen && !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, change %d: %+v, want %+v", seed, n, got, want)
			}
			names := func(s *Set) (all []string) {
				for _, one := range s.config.Registry.Snapshot().Tools {
					all = append(all, one.Name+" "+call(s, one.Name, "{}"))
				}
				return all
			}
			if got, want := names(who), names(fresh); who.seen == fresh.seen && !slices.Equal(got, want) {
				t.Fatalf("seed %d, change %d: offers %q, want %q", seed, n, got, want)
			}
		}
		if err := both[0].refresh(t.Context()); err != nil || both[0].seen < 5 {
			t.Errorf("seed %d: %d changes, %v", seed, both[0].seen, err)
		}
	}
}
