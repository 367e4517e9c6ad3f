package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"toolnorm/chat"
)

// largest is the largest size of a file that is used as an argument, in bytes.
const largest = 64 << 10

// tagLike matches tags in a call as a family writes it.
var tagLike = regexp.MustCompile(`</?[^<>\s"=]{3,}[>= ]|\[[A-Z_]{4,}\]`)

// marks returns a pattern for all tags with which the families write calls.
func (l *lab) marks() *regexp.Regexp {
	var all []string
	for _, g := range l.families {
		text := string(g.Append(nil, chat.Call{Name: "zqn", Args: []byte(`{"zqk": "zqv"}`)}))
		for _, m := range tagLike.FindAllString(text, -1) {
			if m = regexp.QuoteMeta(m); !slices.Contains(all, m) && !strings.Contains(m, "zq") {
				all = append(all, m)
			}
		}
	}
	return regexp.MustCompile(strings.Join(all, "|"))
}

// realFiles returns random text files below some folders; the parameter most is their maximum
// number. The result hard has the files that contain tags of calls, up to half of all, and plain
// has the others. The parameter patience is the longest time for the search.
func realFiles(roots []string, most int, marks *regexp.Regexp, r *rand.Rand,
	patience time.Duration) (plain, hard []string) {
	var paths []string
	for _, root := range roots {
		_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				paths = append(paths, path)
			}
			return nil // a folder that cannot be read has no files
		})
	}
	r.Shuffle(len(paths), func(i, k int) { paths[i], paths[k] = paths[k], paths[i] })
	until := time.Now().Add(patience)
	for _, path := range paths {
		if len(hard) >= most/2 && len(plain) >= most-len(hard) || time.Now().After(until) {
			break
		}
		if text, ok := readText(path); ok {
			if marks.MatchString(text) {
				hard = append(hard, path)
			} else if len(plain) < most {
				plain = append(plain, path)
			}
		}
	}
	hard = hard[:min(len(hard), most/2)]
	return plain[:min(len(plain), most-len(hard))], hard
}

// readText returns the text of a file. It returns false if the file cannot be read, is not a text,
// or is too short or too long.
func readText(path string) (string, bool) {
	info, err := os.Stat(path)
	if err != nil || info.Size() == 0 || info.Size() > largest {
		return "", false
	}
	b, err := os.ReadFile(path)
	return string(b), err == nil && utf8.Valid(b)
}

// tripTally counts how calls were read that have the text of a file as an argument.
type tripTally struct{ equal, none, other int }

// trip makes a reply in a family's form: a call whose argument is the text of the file at path. It
// reads the call and counts the outcome. If the call is not read as it was written, trip calls the
// function bad with an example.
func (l *lab) trip(g *family, path, text string, r *rand.Rand, count *tripTally,
	bad func(example)) {
	content, _ := json.Marshal(text) // a string cannot fail
	args := fmt.Appendf(nil, `{"path": "a.txt", "content": %s}`, content)
	if r.Intn(2) == 0 {
		args = fmt.Appendf(nil, `{"content": %s, "path": "a.txt"}`, content)
	}
	c := &call{tool: l.named("save_file"), args: string(args)}
	reply := string(g.Append(nil, chat.Call{Name: "save_file", Args: args}))
	got := l.decode(g.Format, anyHow(r, reply))
	is := l.outcomeOf(c, got)
	switch is {
	case exact:
		count.equal++
	case wrong:
		count.other++
	default:
		count.none++
	}
	if is != exact {
		e := example{Family: g.Name, Notation: g.notation, Kind: "file " + path,
			Outcome: outcomeNames[is]}
		for _, c := range got.calls {
			e.Got = append(e.Got, c.Name+" "+string(c.Args[:min(len(c.Args), 300)]))
		}
		bad(e)
	}
}
