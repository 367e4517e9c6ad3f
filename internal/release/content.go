package main

import (
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// debSettings is the path of the system service's settings file. dpkg preserves an administrator's
// changes to it.
const debSettings = "etc/toolnorm/toolnorm.yaml"

// completionPaths lists, for each shell, the path of a program's completions in an archive and on
// Debian.
var completionPaths = []struct{ shell, archive, debian string }{
	{"bash", "completions/%s.bash", "usr/share/bash-completion/completions/%s"},
	{"zsh", "completions/_%s", "usr/share/zsh/vendor-completions/_%s"},
	{"fish", "completions/%s.fish", "usr/share/fish/vendor_completions.d/%s.fish"},
}

// completionCommands maps each program to the argument with which it prints its completions for a
// shell.
var completionCommands = map[string]string{"toolnorm": "completion", "toolrun": "--completion"}

// completions runs the programs and returns the completions and manual pages that they print, by
// names such as "toolnorm bash" and "toolnorm.1". It runs the build for this machine's platform. It
// fails if there is no such build or a program fails.
func completions(builds []build) (map[string][]byte, error) {
	all := map[string][]byte{}
	i := slices.IndexFunc(builds, func(b build) bool {
		return b.os == runtime.GOOS && b.arch == runtime.GOARCH
	})
	if i < 0 {
		return nil, fmt.Errorf(
			"the completions need programs that run here: build for %s_%s as well", runtime.GOOS,
			runtime.GOARCH)
	}
	for program, word := range completionCommands {
		for _, p := range completionPaths {
			out, err := exec.Command(filepath.Join(builds[i].dir, builds[i].exe(program)), word,
				p.shell).Output()
			if err != nil {
				return nil, fmt.Errorf("completions of %s for %s: %w", program, p.shell, err)
			}
			all[program+" "+p.shell] = out
		}
		page, err := manual(filepath.Join(builds[i].dir, builds[i].exe(program)), program)
		if err != nil {
			return nil, err
		}
		all[program+".1"] = page
	}
	return all, nil
}

// contents returns the files of a platform's archive and of its Debian package: the programs, their
// documentation, and the files of the platform's service manager. Windows gets no shell completions
// and no service file. It fails if a program or page cannot be read.
func contents(b build, shells map[string][]byte, licences []byte) (
	archive, debian []entry, err error) {
	add := func(inArchive, inDebian string, mode int64, data []byte) {
		if inArchive != "" {
			archive = append(archive, entry{inArchive, mode, data})
		}
		if inDebian != "" {
			debian = append(debian, entry{inDebian, mode, data})
		}
	}
	for program := range completionCommands {
		data, err := os.ReadFile(filepath.Join(b.dir, b.exe(program)))
		if err != nil {
			return nil, nil, err
		}
		add(b.exe(program), "usr/bin/"+program, 0o755, data)
		for _, p := range completionPaths {
			if b.os != "windows" {
				add(fmt.Sprintf(p.archive, program), fmt.Sprintf(p.debian, program), 0o644,
					shells[program+" "+p.shell])
			}
		}
	}
	const doc = "usr/share/doc/toolnorm/"
	texts, err := pages()
	if err != nil {
		return nil, nil, err
	}
	for _, page := range keepLinks(texts) {
		add(page.name, "", page.mode, page.data)
	}
	// The Debian package has these two under other names.
	changelog := func(e entry) bool { return e.name == "CHANGELOG.md" }
	for _, page := range keepLinks(slices.DeleteFunc(slices.Clone(texts), func(e entry) bool {
		return e.name == "LICENSE" || changelog(e)
	})) {
		add("", doc+page.name, page.mode, page.data)
	}
	add("", doc+"changelog.gz", 0o644, gzipData(texts[slices.IndexFunc(texts, changelog)].data))
	for name, page := range shells {
		if b.os != "windows" && strings.HasSuffix(name, ".1") {
			add("man/"+name, "", 0o644, page)
			add("", "usr/share/man/man1/"+name+".gz", 0o644, gzipData(page))
		}
	}
	add("THIRD_PARTY_LICENSES", "", 0o644, licences)
	add("", doc+"copyright", 0o644, append(mustFile("deb/copyright"), licences...))
	switch b.os {
	case "darwin":
		add("launchd/toolnorm.plist", "", 0o644, mustFile("launchd/toolnorm.plist"))
	case "linux":
		for _, unit := range []string{"systemd/system/toolnorm.service",
			"systemd/user/toolnorm.service"} {
			add(unit, "usr/lib/"+unit, 0o644, mustFile(unit))
		}
		add("systemd/toolnorm.yaml", debSettings, 0o644, mustFile("toolnorm.yaml"))
	}
	return archive, debian, nil
}

// gzipData returns data compressed as Debian requires for changelogs, and without a time in the
// header.
func gzipData(data []byte) []byte {
	var out bytes.Buffer
	zw, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is a valid one
	zw.Write(data)                                           // into memory, which does not fail
	zw.Close()
	return out.Bytes()
}

// md5sum returns the checksum with which dpkg --verify compares an installed file. It detects
// damage, not malice.
func md5sum(data []byte) string { return fmt.Sprintf("%x", md5.Sum(data)) }
