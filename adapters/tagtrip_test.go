package adapters

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"io"
	"io/fs"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"toolnorm/chat"
	"toolnorm/internal/golden"
	"toolnorm/internal/test/calldocs"
	"toolnorm/internal/test/must"
)

// Whatever a file holds, a call that writes it is read as it was written, or not at all. The files
// are the sources of Go and this repository's own, many of which speak of the tags of calls. A long
// run (TAG_FILES) takes those of all modules, too: which there are depends on the machine.

// aboutCalls finds texts that speak of calls in tags.
var aboutCalls = regexp.MustCompile(`</?(tool_call|parameter|invoke|function|arg_key|arg_value|seed:tool_call|minimax:tool_call|function_calls|param|｜DSML｜)`)

// realFiles reads files of at most 64 KiB: so many ordinary ones, and so many that speak of calls.
func realFiles(t *testing.T, r *rand.Rand, ordinary, about int) (files []string) {
	t.Helper()
	var paths []string
	kinds := regexp.MustCompile(`\.(go|md|txt|html?|xml|svg|js|json|sh|tmpl|gotmpl|jinja|yaml|yml|py|proto|css)$`)
	out, _ := exec.Command("go", "env", "GOROOT", "GOMODCACHE").Output() // without them this repository has files enough
	goroot, cache, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	roots := []string{"..", filepath.Join(goroot, "src"), filepath.Join(goroot, "test"), cache}
	switch {
	case testing.Short():
		roots = roots[:1]
	case os.Getenv("TAG_FILES") == "":
		roots = roots[:3]
	}
	for _, root := range roots {
		_ = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() && (e.Name() == ".git" || e.Name() == "node_modules") {
				return filepath.SkipDir
			}
			if !e.IsDir() && kinds.MatchString(path) {
				paths = append(paths, path)
			}
			return nil
		})
	}
	// By hashes and not shuffled: a file more, as a build leaves them, changes nothing of the rest.
	seed := strconv.FormatInt(r.Int63(), 10)
	slices.SortFunc(paths, func(a, b string) int {
		return bytes.Compare(hashOf(seed, strings.TrimPrefix(a, goroot)), hashOf(seed, strings.TrimPrefix(b, goroot)))
	})
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil || len(text) > 64<<10 || !utf8.Valid(text) {
			continue
		}
		left := &ordinary
		if aboutCalls.Match(text) {
			left = &about
		}
		if *left > 0 {
			*left--
			files = append(files, string(text))
		}
		if ordinary+about == 0 {
			break
		}
	}
	return files
}

// hashOf returns a hash of texts.
func hashOf(texts ...string) []byte {
	h := fnv.New64a()
	for _, text := range texts {
		_, _ = io.WriteString(h, text)
	}
	return h.Sum(nil)
}

// number is a number from the environment, for the long runs of generators.
func number(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// tagFamilies are the families whose arguments are tags around raw text.
func tagFamilies() (all []*Format) {
	for _, f := range All() {
		if len(f.Args) > 0 && len(f.Calls) > 0 && f.Calls[0].Index("args") >= 0 {
			all = append(all, f)
		}
	}
	return all
}

func TestFilesInTagsComeBack(t *testing.T) {
	seed := number("TAG_SEED", 1)
	r := rand.New(rand.NewSource(int64(seed)))
	ordinary, about := 20, 40
	if testing.Short() { // the race detector's runs: the decoder is one goroutine
		ordinary, about = 2, 4
	}
	files := realFiles(t, r, number("TAG_FILES", ordinary), number("TAG_ABOUT", about))
	all, lost, bad := 0, 0, 0
	for _, f := range tagFamilies() {
		right, none, wrong := 0, 0, 0
		for _, text := range files {
			call := chat.Call{Name: "write_file"}
			if r.Intn(2) == 0 {
				call.Args, _ = json.Marshal(map[string]string{"path": "a/b.txt", "content": text})
			} else {
				call.Name = "save"
				call.Args, _ = json.Marshal(map[string]string{"content": text})
			}
			raw := string(f.Append(nil, call))
			whole := tripOf(t, f, []string{raw}, call)
			if cut := tripOf(t, f, golden.Random(raw, r), call); cut != whole {
				t.Errorf("%s: cut otherwise the text is read otherwise: %q", f.Name, raw[:min(len(raw), 2000)])
			}
			switch whole {
			case calldocs.Equal:
				right++
			case calldocs.None:
				none++
				if os.Getenv("TAG_SHOW") != "" {
					_ = os.WriteFile(filepath.Join(os.Getenv("TAG_SHOW"), f.Name+"-none-"+strconv.Itoa(none)), []byte(raw), 0o600)
				}
			default:
				wrong++
				t.Logf("%s: another value was read of a file of %d bytes that begins %q", f.Name, len(text), text[:min(len(text), 80)])
				if os.Getenv("TAG_SHOW") != "" {
					_ = os.WriteFile(filepath.Join(os.Getenv("TAG_SHOW"), f.Name+"-wrong-"+strconv.Itoa(wrong)), []byte(raw), 0o600)
				}
			}
		}
		t.Logf("%-16s %4d right %4d no call %4d wrong", f.Name, right, none, wrong)
		all, lost, bad = all+right+none+wrong, lost+none, bad+wrong
	}
	// Two thirds of the files hold calls, many of them broken: of those about their own family some
	// are still cut. The few of a short run, all out of this repository, say nothing about the
	// share that is lost.
	if bad > 1+all/500 || 10*lost > all && !testing.Short() {
		t.Errorf("of %d calls %d gave another value, and %d were none", all, bad, lost)
	}
}

// tripOf decodes a reply that is one call.
func tripOf(t *testing.T, f *Format, raw []string, call chat.Call) calldocs.Outcome {
	t.Helper()
	got, err := calldocs.Read(f.Decode(golden.Source(raw, chat.Stop), Options{Tools: calldocs.Tools}), call)
	must.OK(t, err)
	return got
}
