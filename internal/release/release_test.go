package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"toolnorm/internal/test/must"
)

// at is when the commit of the tests was made.
var at = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// TestVersionsOfDebianAreInOrder has the versions that version.sh makes, oldest first; dpkg itself
// says whether they are where it is.
func TestVersionsOfDebianAreInOrder(t *testing.T) {
	last := ""
	for _, v := range []struct{ ours, debian string }{
		{"0.1.0-dev.680.g0bbc243", "0.1.0~dev.680.g0bbc243"},
		{"0.1.0-dev.1680.g0bbc243-dirty", "0.1.0~dev.1680.g0bbc243.dirty"},
		{"0.1.0", "0.1.0"},
		{"0.1.0-5-g0bbc243", "0.1.0+5.g0bbc243"},
		{"0.2.0-rc.1", "0.2.0~rc.1"},
		{"0.2.0-rc.1-3-g0bbc243", "0.2.0~rc.1+3.g0bbc243"},
		{"0.2.0", "0.2.0"},
	} {
		got := debVersion(v.ours)
		if got != v.debian {
			t.Errorf("debVersion(%q) = %q, want %q", v.ours, got, v.debian)
		}
		if dpkg, err := exec.LookPath("dpkg"); err == nil && last != "" {
			if out, err := exec.Command(dpkg, "--compare-versions", last, "lt", got).CombinedOutput(); err != nil {
				t.Errorf("%s is not older than %s: %s", last, got, out)
			}
		}
		last = got
	}
}

// someEntries are files of a package, in an order of no meaning.
func someEntries() []entry {
	return []entry{{"usr/bin/b", 0o755, []byte("program")}, {"etc/a", 0o644, []byte("settings")}, {"usr/bin/a", 0o755, []byte("another")}}
}

func TestPackingGivesTheSameBytes(t *testing.T) {
	for name, write := range map[string]func(io.Writer, []entry) error{
		"tar.gz": func(w io.Writer, e []entry) error { return writeTarGz(w, "top/", e, at) },
		"zip":    func(w io.Writer, e []entry) error { return writeZip(w, "top/", e, at) },
		"deb":    func(w io.Writer, e []entry) error { return writeDeb(w, identity{version: "1.0", arch: "amd64"}, e, at) },
	} {
		var one, two bytes.Buffer
		turned := someEntries()
		slices.Reverse(turned)
		must.OK(t, errors.Join(write(&one, someEntries()), write(&two, turned)))
		if !bytes.Equal(one.Bytes(), two.Bytes()) {
			t.Errorf("%s: the same files in another order give other bytes", name)
		}
	}
}

func TestArchivesHoldWhatWasPacked(t *testing.T) {
	var packed bytes.Buffer
	must.OK(t, writeTarGz(&packed, "top/", someEntries(), at))
	var got []string
	for _, h := range tarHeaders(t, packed.Bytes()) {
		got = append(got, fmt.Sprintf("%s %o", h.Name, h.Mode))
		if !h.ModTime.Equal(at) || h.Uid != 0 {
			t.Errorf("%s is of %v and belongs to %d", h.Name, h.ModTime, h.Uid)
		}
	}
	want := "top/ 755, top/etc/ 755, top/etc/a 644, top/usr/ 755, top/usr/bin/ 755, top/usr/bin/a 755, top/usr/bin/b 755"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("the archive holds %s\nwant %s", s, want)
	}
	packed.Reset()
	must.OK(t, writeZip(&packed, "top/", someEntries(), at))
	zr := must.Have(zip.NewReader(bytes.NewReader(packed.Bytes()), int64(packed.Len())))(t)
	if len(zr.File) != 3 || zr.File[1].Name != "top/usr/bin/a" || !zr.File[1].Modified.Equal(at) {
		t.Errorf("the zip holds %d files, the second is %+v", len(zr.File), zr.File[1].FileHeader)
	}
}

// tarHeaders reads the entries of a tar.gz.
func tarHeaders(t *testing.T, packed []byte) (all []*tar.Header) {
	t.Helper()
	zr := must.Have(gzip.NewReader(bytes.NewReader(packed)))(t)
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return all
		}
		must.OK(t, err)
		all = append(all, h)
	}
}

// TestTheSBOMNamesWhatIsLinkedIn takes the program of this very test for one of the release.
func TestTheSBOMNamesWhatIsLinkedIn(t *testing.T) {
	self := must.Have(os.Executable())(t)
	t.Chdir("../..")
	b := build{t.TempDir(), runtime.GOOS, runtime.GOARCH}
	for program := range completionCommands {
		if err := os.Symlink(self, filepath.Join(b.dir, b.exe(program))); err != nil {
			t.Skip("no symbolic links here: ", err)
		}
	}
	all := must.Have(partsOf(b))(t)
	r := &release{dist: t.TempDir(), version: "1.0"}
	must.OK(t, r.writeSBOM(all))
	text := must.Read(t, filepath.Join(r.dist, "toolnorm_1.0_sbom.cdx.json"))
	var bom struct {
		BOMFormat  string
		Components []struct{ Name, Version, PURL string }
	}
	if err := json.Unmarshal(text, &bom); err != nil || bom.BOMFormat != "CycloneDX" {
		t.Fatalf("%v: %.200s", err, text)
	}
	for _, want := range []string{"pkg:golang/std@" + strings.TrimPrefix(runtime.Version(), "go"), "pkg:npm/%40codemirror/view@", "pkg:npm/preact@"} {
		if !slices.ContainsFunc(bom.Components, func(c struct{ Name, Version, PURL string }) bool { return strings.HasPrefix(c.PURL, want) }) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if text, err := licences(slices.DeleteFunc(all, func(p part) bool { return p.kind == "npm" })); err != nil || !bytes.Contains(text, []byte("The Go Authors")) {
		t.Errorf("%v: %.200s", err, text)
	}
}

// TestTheFilesOfServicesAreWellFormed reads what systemd and launchd read, as far as that goes
// without them.
func TestTheFilesOfServicesAreWellFormed(t *testing.T) {
	for _, who := range []string{"system", "user"} {
		section, starts := "", 0
		for line := range strings.Lines(string(mustFile("systemd/" + who + "/toolnorm.service"))) {
			line = strings.TrimSpace(line)
			key, _, isSetting := strings.Cut(line, "=")
			switch {
			case line == "" || strings.HasPrefix(line, "#"):
			case strings.HasPrefix(line, "["):
				section = line
			case !isSetting || section == "" || strings.Contains(key, " "):
				t.Errorf("%s: %q is no setting", who, line)
			case line == "ExecStart=toolnorm serve":
				starts++
			}
		}
		if starts != 1 || section != "[Install]" {
			t.Errorf("the unit of %s starts toolnorm %d times and ends with %s", who, starts, section)
		}
	}
	d := xml.NewDecoder(bytes.NewReader(mustFile("launchd/toolnorm.plist")))
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestTheScriptsOfThePackageAreShell has the shell that dpkg runs them with read them.
func TestTheScriptsOfThePackageAreShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh here")
	}
	for _, script := range []string{"deb/postinst", "deb/prerm", "deb/postrm"} {
		c := exec.Command(sh, "-n")
		c.Stdin = bytes.NewReader(mustFile(script))
		if out, err := c.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v %s", script, err, out)
		}
	}
}

// namesIn lists what an archive holds, of whichever kind it is.
func namesIn(t *testing.T, packed []byte) (names []string) {
	t.Helper()
	if zr, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed))); err == nil {
		for _, f := range zr.File {
			names = append(names, f.Name)
		}
		return names
	}
	for _, h := range tarHeaders(t, packed) {
		names = append(names, h.Name)
	}
	return names
}

// TestPackedLinksLeadSomewhere follows every local link of the documents as the archive has them,
// and as the Debian package does.
func TestPackedLinksLeadSomewhere(t *testing.T) {
	t.Chdir("../..")
	all := must.Have(pages())(t)
	debian := slices.DeleteFunc(slices.Clone(all), func(e entry) bool { return e.name == "LICENSE" || e.name == "CHANGELOG.md" })
	for _, packed := range [][]entry{keepLinks(all), keepLinks(debian)} {
		there, n := map[string]bool{}, 0
		for _, e := range packed {
			for name := e.name; name != "."; name = path.Dir(name) {
				there[name] = true
			}
		}
		for _, e := range packed {
			if path.Ext(e.name) != ".md" {
				continue
			}
			rewritten(e.data, func(m [][]byte) []byte {
				if n++; len(m[2]) > 0 && !there[path.Join(path.Dir(e.name), string(m[2]))] {
					t.Errorf("%s: %s leads nowhere", e.name, m[0])
				}
				return nil
			})
		}
		if n < 100 {
			t.Errorf("%d links, want 100 at least", n)
		}
	}
	page := keepLinks([]entry{{"a/b.md", 0, []byte("[x](c.md) [`y`](../z.go#L1) `[k](k.md)`\n![p](p.png) [q](#h) [r](http://r/)")}, {"a/c.md", 0, nil}})[0]
	if got, want := string(page.data), "[x](c.md) `y` `[k](k.md)`\np [q](#h) [r](http://r/)"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
