package main

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
)

// A Debian package is three files in an archive of the old Unix kind: the version of the format,
// what dpkg has to know, and the files. It is written here because that is little, works on every
// system, and gives the same bytes everywhere; dpkg, apt and their checks are what it is tested
// with.

//go:embed files
var files embed.FS

// mustFile returns a file of the embedded folder files. It panics if there is no such file.
func mustFile(name string) []byte {
	data, err := files.ReadFile("files/" + name)
	if err != nil {
		panic(err)
	}
	return data
}

var (
	// describeSuffix matches what git describe appends to a tag, for example -5-g0bbc243.
	describeSuffix = regexp.MustCompile(`-(\d+)-(g[0-9a-f]+)`)
	// preRelease matches a version with a suffix that makes it older than the version without it,
	// such as -rc.1 or -dev.680.
	preRelease = regexp.MustCompile(`^(\d+(?:\.\d+)*)-([a-z])`)
)

// debVersion returns a version in the form that dpkg orders correctly: 0.3.0~rc.1 is older than
// 0.3.0, and 0.3.0+5.g0bbc243 is newer. A hyphen is replaced because in Debian's form it begins the
// revision of the package.
func debVersion(version string) string {
	version = describeSuffix.ReplaceAllString(version, "+$1.$2")
	version = preRelease.ReplaceAllString(version, "$1~$2")
	return strings.ReplaceAll(version, "-", ".")
}

// identity is what a Debian package says about itself.
type identity struct{ version, arch, maintainer, homepage string }

// defaultMaintainer is the maintainer of packages that people build for their own machines.
const defaultMaintainer = "the maintainers of toolnorm <toolnorm@localhost>"

// writeDeb writes a Debian package with the given entries to w. Its scripts are in the embedded
// folder files. The error is that of w.
func writeDeb(w io.Writer, is identity, entries []entry, at time.Time) error {
	var size int
	var sums strings.Builder
	for _, e := range sortEntries(entries) {
		size += len(e.data)
		fmt.Fprintf(&sums, "%s  %s\n", md5sum(e.data), e.name)
	}
	homepage := ""
	if is.homepage != "" {
		homepage = "Homepage: " + is.homepage + "\n"
	}
	control := strings.NewReplacer("{version}", is.version, "{arch}", is.arch, "{maintainer}",
		cmp.Or(is.maintainer, defaultMaintainer), "{homepage}\n", homepage, "{size}",
		fmt.Sprint((size+1023)/1024)).Replace(string(mustFile("deb/control")))
	meta := []entry{
		{"control", 0o644, []byte(control)},
		{"md5sums", 0o644, []byte(sums.String())},
		{"conffiles", 0o644, []byte("/" + debSettings + "\n")},
	}
	for _, script := range []string{"postinst", "prerm", "postrm"} {
		meta = append(meta, entry{script, 0o755, mustFile("deb/" + script)})
	}
	var head, data bytes.Buffer
	if err := writeTarGz(&head, "./", meta, at); err != nil {
		return err
	}
	if err := writeTarGz(&data, "./", entries, at); err != nil {
		return err
	}
	return writeAr(w, at, []entry{{"debian-binary", 0o100644, []byte("2.0\n")},
		{"control.tar.gz", 0o100644, head.Bytes()}, {"data.tar.gz", 0o100644, data.Bytes()}})
}

// writeAr writes members as an archive in the format of deb(5), in which each member begins at an
// even offset. The error is that of w.
func writeAr(w io.Writer, at time.Time, members []entry) error {
	if _, err := io.WriteString(w, "!<arch>\n"); err != nil {
		return err
	}
	for _, m := range members {
		if _, err := fmt.Fprintf(w, "%-16s%-12d%-6d%-6d%-8o%-10d`\n%s", m.name, at.Unix(), 0, 0,
			m.mode, len(m.data), m.data); err != nil {
			return err
		}
		if len(m.data)%2 == 1 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
	}
	return nil
}
