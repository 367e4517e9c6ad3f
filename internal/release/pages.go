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
	"strings"
)

// packedFolders are the folders that are packed beside the texts at the root: the documents, and
// the files that they tell to copy.
var packedFolders = []string{"docs", "examples"}

// pages returns the texts at the root, and all files of the packed folders but tests and pictures
// of the source.
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
	// localLink is a link of Markdown without a scheme, or a picture: text, target, anchor.
	localLink = regexp.MustCompile(`!?\[([^\]]*)\]\(([^)\s:#]*)(#[^)\s]*)?\)`)
	// shownCode is what Markdown shows as it is.
	shownCode = regexp.MustCompile("(?ms)^```.*?^```|^    .*?$|`[^`\n]*`")
)

// keepLinks returns the pages with only those links that lead to what is packed as well: of any
// other link the text alone is left.
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

// rewritten returns a page whose local links outside of code are replaced by what replace returns.
// What the text of a link holds in backquotes is code as well, so a link is looked for before code
// is, and left where it begins inside code.
func rewritten(page []byte, replace func(m [][]byte) []byte) []byte {
	code := shownCode.FindAllIndex(page, -1)
	inCode := func(at int) bool {
		for _, c := range code {
			if c[0] <= at && at < c[1] {
				return true
			}
		}
		return false
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

// abouts say in a few words what each program is, as whatis shows it.
var abouts = map[string]string{
	"toolnorm": "proxy that turns the tool calls of local models into strict ones",
	"toolrun":  "run tools of toolnorm from a shell",
}

// manual returns the manual page of a program: what it says of itself with --help, in the form that
// man reads.
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
