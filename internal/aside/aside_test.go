package aside

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"toolnorm/internal/test/must"
)

// odd does what a stranger's work may do.
var odd = New("odd", Limits{Processes: 2, Memory: 128 << 20, Keep: 64 << 20}, nil, func(request []byte) ([]byte, error) {
	what, rest, _ := strings.Cut(string(request), " ")
	switch what {
	case "hang":
		for n := 0; ; n++ { // without a step that could be interrupted
			if n < 0 {
				break
			}
		}
	case "eat":
		var all [][]byte
		for range 4096 {
			b := make([]byte, 1<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			all = append(all, b)
		}
		return nil, fmt.Errorf("%d MB", len(all))
	case "break":
		var none map[string]int
		//lint:ignore SA5000 the process is to break
		none[rest]++
	case "exit":
		os.Exit(3)
	case "print":
		fmt.Println("something")
	case "fail":
		return nil, errors.New(rest)
	case "env":
		return []byte(os.Getenv(rest)), nil
	case "write":
		f, err := os.Create(rest)
		for n := 0; n < 200 && err == nil; n++ { // in pieces, or the memory would be at its limit first
			_, err = f.Write(make([]byte, 1<<20))
		}
		return nil, err
	}
	return []byte("did " + string(request)), nil
})

func TestWhatGoesWrongEndsOneProcess(t *testing.T) {
	t.Setenv("TOOLNORM_SECRET", "secret")
	file := filepath.Join(t.TempDir(), "large")
	for range 2 {
		for request, want := range map[string]string{
			"hang": "too slow", "eat": "more than 128 MB", "break x": "nil map", "exit": "ended", "fail no": "no", "write " + file: "large",
		} {
			ctx, cancel := context.WithTimeoutCause(t.Context(), 20*time.Second, errors.New("too slow"))
			if request == "hang" {
				ctx, cancel = context.WithTimeoutCause(t.Context(), time.Second, errors.New("too slow"))
			}
			if _, err := odd.Do(ctx, []byte(request)); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", request, err, want)
			}
			cancel()
			for _, good := range []string{"good", "print"} {
				if got, err := odd.Do(t.Context(), []byte(good)); err != nil || string(got) != "did "+good {
					t.Errorf("after %s: %q, %v", request, got, err)
				}
			}
		}
	}
	if got, err := odd.Do(t.Context(), []byte("env TOOLNORM_SECRET")); err != nil || len(got) > 0 {
		t.Errorf("the process has the secret: %q, %v", got, err)
	}
}

func TestManyAtOnceWaitForFewProcesses(t *testing.T) {
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			request := fmt.Sprint("n", i)
			if got, err := odd.Do(context.Background(), []byte(request)); err != nil || string(got) != "did "+request {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	all.Wait()
	odd.mu.Lock()
	defer odd.mu.Unlock()
	if odd.running > 2 {
		t.Errorf("%d processes", odd.running)
	}
}

func TestOneWhoGivesUpLeavesTheStartToTheNext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := odd.Do(ctx, nil); err == nil {
		t.Log("a process was ready") // by the tests before
	}
	if _, err := odd.Do(t.Context(), []byte("x")); err != nil {
		t.Error(err)
	}
}

// large holds more when it is ready than it may keep of its work.
var large = New("large", Limits{Processes: 1, Memory: 256 << 20, Keep: 16 << 20},
	func() {
		held = make([]byte, 64<<20)
		for i := 0; i < len(held); i += 4096 {
			held[i] = 1
		}
	},
	func([]byte) ([]byte, error) { return fmt.Append(nil, os.Getpid(), len(held)), nil })

// held is what the process of large begins with.
var held []byte

func TestAProcessIsNotEndedForWhatItBeganWith(t *testing.T) {
	first, err := large.Do(t.Context(), nil)
	must.OK(t, err)
	second, err := large.Do(t.Context(), nil)
	must.OK(t, err)
	if string(first) != string(second) {
		t.Errorf("the process was replaced: %s, then %s", first, second)
	}
}
