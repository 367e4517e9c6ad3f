package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"toolnorm/internal/test/must"
)

// named is a tool that answers with its name.
func named(name string) Tool {
	return Tool{Name: name, Call: func(context.Context, json.RawMessage) (Result, error) { return TextOf(name), nil }}
}

// names lists what a registry offers.
func names(r *Registry) string {
	var all []string
	for _, t := range r.Snapshot().Tools {
		all = append(all, t.Name)
	}
	return strings.Join(all, " ")
}

func TestSourcesKeepTheirPlacesAndTheirOrder(t *testing.T) {
	r := New(Options{})
	for _, step := range []struct {
		source string
		tools  []Tool
		want   string
	}{
		{"first", []Tool{named("b"), named("a")}, "b a"},
		{"second", []Tool{named("c")}, "b a c"},
		{"first", []Tool{named("d")}, "d c"},
		{"third", nil, "d c"},
		{"first", nil, "c"},
		{"first", []Tool{named("a")}, "a c"},
	} {
		before := r.Snapshot().Generation
		if err := r.Set(step.source, step.tools...); err != nil {
			t.Fatalf("Set(%s): %v", step.source, err)
		}
		if got := names(r); got != step.want || r.Snapshot().Generation <= before {
			t.Errorf("after Set(%s): %q in generation %d, want %q in a later one than %d", step.source, got, r.Snapshot().Generation, step.want, before)
		}
	}
}

func TestPlacesAreKeptForSourcesThatAreExpected(t *testing.T) {
	r := New(Options{})
	must.OK(t, r.Fallback("sample", map[string]string{"s": "s is off"}, named("s")))
	changed, stop := r.Watch()
	defer stop()
	told := func() (n int) {
		for {
			select {
			case <-changed:
				n++
			default:
				return n
			}
		}
	}
	for _, step := range []struct {
		do   func() error
		want string
		told int
	}{
		{func() error { r.Expect(); return nil }, "s", 0},
		{func() error { return r.Set("late", named("z")) }, "z", 1},
		{func() error { return r.Set("late") }, "s", 1},
		{func() error { r.Expect("x", "y"); return nil }, "", 1},
		{func() error { return r.Set("y", named("b")) }, "b", 1},
		{func() error { return r.Set("late", named("z")) }, "z b", 1},
		{func() error { return r.Set("x", named("a")) }, "z a b", 1},
		{func() error { r.Expect("x", "y"); return nil }, "z a b", 0},
		{func() error { r.Expect("y", "x"); return nil }, "z b a", 1},
		{func() error { return r.Set("late") }, "b a", 1},
		{func() error { r.Expect(); return nil }, "s", 1},
	} {
		must.OK(t, step.do())
		if n := told(); names(r) != step.want || n != step.told {
			t.Errorf("offered: %q, told %d times; want %q, %d", names(r), n, step.want, step.told)
		}
		if got := r.Snapshot().Gone("s"); (got == "s is off") != (step.want != "s") {
			t.Errorf("beside %q it is said: %q", step.want, got)
		}
	}
}

func TestAToolThatIsNotValidChangesNothing(t *testing.T) {
	r := New(Options{})
	must.OK(t, r.Set("one", named("a")))
	bad := func(change func(*Tool)) Tool {
		tool := named("b")
		change(&tool)
		return tool
	}
	for want, tools := range map[string][]Tool{
		"a name is 1 to 128 of":   {named("b"), named("two words")},
		`"": a name is`:           {named("")},
		"no function":             {{Name: "b"}},
		"schema is not a JSON":    {bad(func(t *Tool) { t.Schema = json.RawMessage("[]") })},
		"a schema is not":         {bad(func(t *Tool) { t.Output = json.RawMessage("{") })},
		"cannot be -1ns":          {bad(func(t *Tool) { t.Timeout = -1 })},
		"one has one of that":     {named("b"), named("a")},
		`"b" of two: two has one`: {named("b"), named("b")},
	} {
		before := r.Snapshot()
		if err := r.Set("two", tools...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Set = %v, want %q", err, want)
		}
		if r.Snapshot() != before {
			t.Errorf("a refused Set left %q", names(r))
		}
	}
}

func TestWatchersAreToldOnceHoweverManyChanges(t *testing.T) {
	r := New(Options{})
	changed, stop := r.Watch()
	for i := range 3 {
		must.OK(t, r.Set("s", named(fmt.Sprintf("t%d", i))))
	}
	<-changed
	select {
	case <-changed:
		t.Error("told twice")
	default:
	}
	stop()
	must.OK(t, r.Set("s"))
	select {
	case <-changed:
		t.Error("told after stop")
	default:
	}
}

// TestCloseWaitsForToolsThatNobodyWaitsFor has a tool that needs some time to end behind its
// context, and one that never does.
func TestCloseWaitsForToolsThatNobodyWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, over := New(Options{}), make(chan struct{})
		tidies := Tool{Name: "tidies", Call: func(ctx context.Context, _ json.RawMessage) (Result, error) {
			<-ctx.Done()
			time.Sleep(time.Second)
			return Result{}, nil
		}}
		deaf := Tool{Name: "deaf", Call: func(context.Context, json.RawMessage) (Result, error) {
			<-over
			return Result{}, nil
		}}
		must.OK(t, r.Set("s", tidies, deaf))
		gone, leave := context.WithCancel(t.Context())
		leave()
		r.Call(gone, "tidies", nil)
		start := time.Now()
		if !r.Close(time.Minute) || time.Since(start) < time.Second {
			t.Errorf("Close has waited %v for a tool that needs a second", time.Since(start))
		}
		r.Call(gone, "deaf", nil)
		if r.Close(time.Minute) {
			t.Error("Close says that a tool has ended that has not")
		}
		close(over)
	})
}

func TestARegistryMayBeUsedByManyAtOnce(t *testing.T) {
	r := New(Options{})
	var all sync.WaitGroup
	for i := range 4 {
		source := fmt.Sprintf("s%d", i)
		all.Go(func() {
			for n := range 50 {
				if err := r.Set(source, named(fmt.Sprintf("%s_%d", source, n))); err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			changed, stop := r.Watch()
			defer stop()
			for range 50 {
				for _, tool := range r.Snapshot().Tools {
					if res := r.Call(t.Context(), tool.Name, nil); res.IsError && !strings.HasPrefix(res.Text(), "there is no tool") {
						t.Errorf("Call(%s) = %q", tool.Name, res.Text())
					}
				}
				select {
				case <-changed:
				default:
				}
			}
		})
	}
	all.Wait()
	if got := names(r); len(strings.Fields(got)) != 4 {
		t.Errorf("left: %q", got)
	}
}

func TestAToolThatIsNotOfferedNowIsExplained(t *testing.T) {
	r := New(Options{})
	must.OK(t, r.Replace("custom", map[string]string{"a": "tool a is not active"}, named("b")))
	for name, want := range map[string]string{"a": "tool a is not active", "b": "b", "c": `there is no tool "c"`} {
		if got := r.Call(t.Context(), name, nil).Text(); got != want {
			t.Errorf("Call(%s) = %q, want %q", name, got, want)
		}
	}
	must.OK(t, r.Set("custom", named("a")))
	if got := r.Call(t.Context(), "a", nil).Text(); got != "a" {
		t.Errorf("Call = %q once it is offered", got)
	}
}
