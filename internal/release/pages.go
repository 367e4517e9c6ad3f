package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// packedFolders are the folders that are packed besides the texts at the root: the documents, and
// the files that they tell users to copy.
var packedFolders = []string{"docs", "examples"}

// pages returns the files to pack: the documents at the root of the repository, such as README.md,
// and all regular files of packedFolders except for Go tests. It fails if one cannot be read.
func pages() (all []entry, err error) {
	names := []string{"LICENSE", "README.md", "CHANGELOG.md", "ARCHITECTURE.md", "CONTRIBUTING.md",
		"SECURITY.md"}
	for _, folder := range packedFolders {
		err = fs.WalkDir(os.DirFS("."), folder, func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && !strings.HasSuffix(name, "_test.go") {
				names = append(names, name)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	for _, name := range names {
		data, err := os.ReadFile(filepath.FromSlash(name))
		if err != nil {
			return nil, err
		}
		all = append(all, entry{name, 0o644, data})
	}
	return all, nil
}

var (
	// localLink matches a Markdown link without a scheme, or a picture. Its groups are the text,
	// the target and the anchor.
	localLink = regexp.MustCompile(`!?\[([^\]]*)\]\(([^)\s:#]*)(#[^)\s]*)?\)`)
	// shownCode matches code, which Markdown shows unchanged.
	shownCode = regexp.MustCompile("(?ms)^```.*?^```|^    .*?$|`[^`\n]*`")
)

// keepLinks returns the pages with those links that lead to packed files. Any other local link is
// replaced by its text.
func keepLinks(all []entry) []entry {
	there := map[string]bool{}
	for _, e := range all {
		for name := e.name; name != "."; name = path.Dir(name) {
			there[name] = true
		}
	}
	out := make([]entry, 0, len(all))
	for _, e := range all {
		if path.Ext(e.name) == ".md" {
			e.data = rewritten(e.data, func(m [][]byte) []byte {
				if len(m[2]) == 0 || there[path.Join(path.Dir(e.name), string(m[2]))] {
					return m[0]
				}
				return m[1]
			})
		}
		out = append(out, e)
	}
	return out
}

// rewritten returns a page of Markdown in which each local link outside of code is replaced with
// what the function replace returns for it. A link that begins inside code is skipped. The text of
// a link may contain code in backquotes.
func rewritten(page []byte, replace func(m [][]byte) []byte) []byte {
	code := shownCode.FindAllIndex(page, -1)
	inCode := func(at int) bool {
		return slices.ContainsFunc(code, func(c []int) bool { return c[0] <= at && at < c[1] })
	}
	var out bytes.Buffer
	last := 0
	for _, m := range localLink.FindAllSubmatchIndex(page, -1) {
		if inCode(m[0]) {
			continue
		}
		out.Write(page[last:m[0]])
		out.Write(replace([][]byte{page[m[0]:m[1]], page[m[2]:m[3]], page[m[4]:m[5]]}))
		last = m[1]
	}
	out.Write(page[last:])
	return out.Bytes()
}

// abouts holds a short description of each program, which whatis shows.
var abouts = map[string]string{
	"toolnorm": "proxy that turns the tool calls of local models into strict ones",
	"toolrun":  "run tools of toolnorm from a shell",
}

// manual returns the manual page of a program, made from the output of --help. It fails if the
// program at exe does.
func manual(exe, program string) ([]byte, error) {
	help, err := exec.Command(exe, "--help").Output()
	if err != nil {
		return nil, fmt.Errorf("help of %s: %w", program, err)
	}
	text := strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`).Replace(
		strings.TrimSpace(string(help)))
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	return fmt.Appendf(nil, `.TH %s 1
.SH NAME
%s \- %s
.SH DESCRIPTION
.nf
%s
.fi
.SH SEE ALSO
The documents in /usr/share/doc/toolnorm, or beside the program in an archive; docs/README.md begins them.
`, strings.ToUpper(program), program, abouts[program], strings.Join(lines, "\n")), nil
}
