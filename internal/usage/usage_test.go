package usage

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/auth"
	"toolnorm/internal/store"
	"toolnorm/internal/test/must"
	"toolnorm/internal/test/storetest"
	"toolnorm/internal/trace"
)

var databases storetest.Databases

func TestMain(m *testing.M) { os.Exit(databases.Main(m)) }

// opened is a usage at where.
func opened(t *testing.T, where string) *Usage {
	return New(Config{
		Where: where, Days: 30, Named: func(model string, do func(name, server string)) { do(model, "box") },
		Asks: func(api string) bool { return api != "count_tokens" }, Warn: func(err error) { t.Error(err) },
	})
}

// as is a context of a caller.
func as(name string) context.Context {
	return auth.WithPrincipal(context.Background(), &auth.Principal{Subject: name})
}

func TestUsageIsKeptByDayCallerAndModel(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		ctx, u := t.Context(), opened(t, where)
		if all, err := u.Rows(ctx, 7); err != nil || len(all) != 0 {
			t.Errorf("at first: %v, %v", all, err)
		}
		ask := func(u *Usage, who, model string, status int) {
			u.End(as(who), &trace.Sum{API: "chat", Model: model, Status: status, Calls: 2, Tokens: chat.Counts{Prompt: 10, Cached: 4, Completion: 3}})
		}
		for range 3 {
			ask(u, "ann", "qwen3", 200)
			ask(u, "bob", "qwen3\x00\xff", 502)
		}
		u.End(as("ann"), &trace.Sum{API: "count_tokens", Model: "qwen3", Status: 200, Tokens: chat.Counts{Prompt: 1000}})
		must.OK(t, u.write(ctx))
		ask(u, "ann", "qwen3", 200)
		if err := u.db.Close(); err != nil { // as if the program ended; what waits is kept
			t.Fatal(err)
		}
		u.db = store.Lazy{Where: where, Domain: "usage", Steps: steps}
		u.add(group{since(32), "ann", "old"}, Counts{Requests: 1})
		u.add(group{since(8), "ann", "last week"}, Counts{Requests: 1})
		must.OK(t, u.write(ctx))
		again := opened(t, where)
		must.OK(t, again.clean(ctx))
		today := since(1)
		for days, want := range map[int]string{
			7:  fmt.Sprintf("[{%s ann qwen3 {4 0 8 40 16 12}} {%s bob qwen3\uFFFD {3 3 6 30 12 9}}]", today, today),
			31: fmt.Sprintf("[{%s ann qwen3 {4 0 8 40 16 12}} {%s bob qwen3\uFFFD {3 3 6 30 12 9}} {%s ann last week {1 0 0 0 0 0}}]", today, today, since(8)),
		} {
			if all, err := again.Rows(ctx, days); err != nil || fmt.Sprint(all) != want {
				t.Errorf("%v, %v\nwant %s", all, err, want)
			}
		}
		_ = again.db.Close()
		_ = u.db.Close()
	})
}

// TestWhatCannotBeWrittenIsKept has a database that cannot be opened at first, and more callers
// than are counted apart.
func TestWhatCannotBeWrittenIsKept(t *testing.T) {
	folder := t.TempDir()
	u := opened(t, filepath.Join(folder, "history.db", "no folder"))
	if err := u.write(t.Context()); err != nil {
		t.Errorf("nothing is to be written: %v", err)
	}
	for i := range mostGroups + 100 {
		u.End(as(fmt.Sprint("user", i)), &trace.Sum{API: "chat", Model: "m", Status: 200})
	}
	u.db.Where = folder // a folder is no database
	if err := u.write(t.Context()); err == nil {
		t.Fatal("it was written")
	}
	u.db.Where = filepath.Join(folder, "history.db")
	all, err := u.Rows(t.Context(), 1)
	total := int64(0)
	for _, r := range all {
		total += r.Requests
	}
	if err != nil || total != mostGroups+100 || len(all) > mostGroups+1 {
		t.Errorf("%d requests in %d rows, %v", total, len(all), err)
	}
	_ = u.db.Close()
}
