package main

import (
	"encoding/json"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"time"
	"unicode/utf8"

	"toolnorm/chat"
)

// largest is how long a file may be that is an argument.
const largest = 64 << 10

// tagLike is what makes a file a hard one: tags and marks as models write calls with.
var tagLike = regexp.MustCompile(`</?(tool_call|parameter|function|invoke|arg_|param|item|result|tool_response)|<\||\[TOOL_CALLS\]|"arguments"|｜`)

// realFiles finds files of text below some folders, half of them with tags and marks as long as there are such.
func realFiles(roots []string, most int, r *rand.Rand) (plain, hard []string) {
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
	until := time.Now().Add(time.Minute)
	for _, path := range paths {
		if len(plain)+len(hard) >= most && len(hard) >= most/2 || time.Now().After(until) {
			break
		}
		if text, ok := readText(path); ok {
			if tagLike.MatchString(text) {
				hard = append(hard, path)
			} else if len(plain) < most {
				plain = append(plain, path)
			}
		}
	}
	hard = hard[:min(len(hard), max(most/2, most-len(plain)))]
	return plain[:min(len(plain), most-len(hard))], hard
}

// readText reads a file if it is a text of the right length.
func readText(path string) (string, bool) {
	info, err := os.Stat(path)
	if err != nil || info.Size() == 0 || info.Size() > largest {
		return "", false
	}
	b, err := os.ReadFile(path)
	return string(b), err == nil && utf8.Valid(b)
}

// tripTally counts what came back of files that were arguments.
type tripTally struct{ equal, none, other int }

// trip writes a file as the argument of a call in the family's own form, and reads it.
func (l *lab) trip(g *family, path, text string, r *rand.Rand, count *tripTally, bad func(example)) {
	args, err := json.Marshal(map[string]string{"path": "a.txt", "content": text})
	if err != nil {
		return
	}
	c := &call{tool: l.named("save_file"), args: string(args)}
	got := l.decode(g.Format, anyHow(r, string(g.Append(nil, chat.Call{Name: "save_file", Args: args}))))
	switch is := l.outcomeOf(c, got); is {
	case exact:
		count.equal++
	case wrong:
		count.other++
		e := example{Family: g.Name, Notation: g.notation, Kind: "file " + path, Outcome: "wrong"}
		for _, c := range got.calls {
			e.Got = append(e.Got, c.Name+" "+string(c.Args[:min(len(c.Args), 300)]))
		}
		bad(e)
	default:
		count.none++
	}
}
