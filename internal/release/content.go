package main

import (
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
)

// debSettings is the settings file of the system's service; dpkg keeps what an administrator has changed in it.
const debSettings = "etc/toolnorm/toolnorm.yaml"

// placed says where a shell looks for its completions of a program, in an archive and on Debian.
var placed = []struct{ shell, archive, debian string }{
	{"bash", "completions/%s.bash", "usr/share/bash-completion/completions/%s"},
	{"zsh", "completions/_%s", "usr/share/zsh/vendor-completions/_%s"},
	{"fish", "completions/%s.fish", "usr/share/fish/vendor_completions.d/%s.fish"},
}

// asked are the programs, and the words behind which each prints its completions for a shell.
var asked = map[string]string{"toolnorm": "completion", "toolrun": "--completion"}

// completions asks the programs for theirs: those of this machine's own platform, since no others run here.
func completions(builds []build) (map[string][]byte, error) {
	all := map[string][]byte{}
	i := slices.IndexFunc(builds, func(b build) bool { return b.os == runtime.GOOS && b.arch == runtime.GOARCH })
	if i < 0 {
		return nil, fmt.Errorf("the completions need programs that run here: build for %s_%s as well", runtime.GOOS, runtime.GOARCH)
	}
	for program, word := range asked {
		for _, p := range placed {
			out, err := exec.Command(filepath.Join(builds[i].dir, builds[i].exe(program)), word, p.shell).Output()
			if err != nil {
				return nil, fmt.Errorf("completions of %s for %s: %w", program, p.shell, err)
			}
			all[program+" "+p.shell] = out
		}
	}
	return all, nil
}

// programs are those of a build.
func (b build) programs() (all []entry, err error) {
	for program := range asked {
		data, err := os.ReadFile(filepath.Join(b.dir, b.exe(program)))
		if err != nil {
			return nil, err
		}
		all = append(all, entry{b.exe(program), 0o755, data})
	}
	return all, nil
}

// archiveContent is what an archive holds: the programs, what explains them, and what the platform's own service needs.
func archiveContent(b build, shells map[string][]byte, licences []byte) ([]entry, error) {
	all, err := b.programs()
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		all = append(all, entry{name, 0o644, data})
	}
	docs, err := pages()
	if err != nil {
		return nil, err
	}
	all = append(append(all, docs...), entry{"THIRD_PARTY_LICENSES", 0o644, licences})
	if b.os == "windows" {
		return all, nil // none of these shells, no unit
	}
	for program := range asked {
		for _, p := range placed {
			all = append(all, entry{fmt.Sprintf(p.archive, program), 0o644, shells[program+" "+p.shell]})
		}
	}
	if b.os == "darwin" {
		return append(all, entry{"launchd/toolnorm.plist", 0o644, mustFile("launchd/toolnorm.plist")}), nil
	}
	for _, who := range []string{"system", "user"} {
		name := "systemd/" + who + "/toolnorm.service"
		all = append(all, entry{name, 0o644, mustFile(name)})
	}
	return append(all, entry{"systemd/toolnorm.yaml", 0o644, mustFile("toolnorm.yaml")}), nil
}

// debContent is what the Debian package puts where.
func debContent(b build, shells map[string][]byte, licences []byte) ([]entry, error) {
	all, err := b.programs()
	if err != nil {
		return nil, err
	}
	for i := range all {
		all[i].name = "usr/bin/" + all[i].name
	}
	for program := range asked {
		for _, p := range placed {
			all = append(all, entry{fmt.Sprintf(p.debian, program), 0o644, shells[program+" "+p.shell]})
		}
	}
	changes, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		return nil, err
	}
	docs, err := pages()
	if err != nil {
		return nil, err
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		return nil, err
	}
	const doc = "usr/share/doc/toolnorm/"
	for _, page := range append(docs, entry{"README.md", 0o644, readme}) {
		all = append(all, entry{doc + page.name, page.mode, page.data})
	}
	return append(all,
		entry{debSettings, 0o644, mustFile("toolnorm.yaml")},
		entry{"usr/lib/systemd/system/toolnorm.service", 0o644, mustFile("systemd/system/toolnorm.service")},
		entry{"usr/lib/systemd/user/toolnorm.service", 0o644, mustFile("systemd/user/toolnorm.service")},
		entry{doc + "copyright", 0o644, append(mustFile("deb/copyright"), licences...)},
		entry{doc + "changelog.gz", 0o644, gzipped(changes)},
	), nil
}

// pages are the documents that README's links lead to. Those about the inside and the figures are for readers of the source.
func pages() (all []entry, err error) {
	err = fs.WalkDir(os.DirFS("docs"), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (name == "internal" || name == "evidence") {
			return fs.SkipDir
		}
		if d.IsDir() || path.Ext(name) != ".md" {
			return nil
		}
		data, err := os.ReadFile(filepath.Join("docs", filepath.FromSlash(name)))
		all = append(all, entry{"docs/" + name, 0o644, data})
		return err
	})
	return all, err
}

// gzipped compresses as Debian asks of changelogs, and without a time in the header.
func gzipped(data []byte) []byte {
	var out bytes.Buffer
	zw, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is a valid one
	zw.Write(data)                                           // into memory, which does not fail
	zw.Close()
	return out.Bytes()
}

// md5sum is what dpkg --verify compares an installed file with; it is a check against damage, not against malice.
func md5sum(data []byte) string { return fmt.Sprintf("%x", md5.Sum(data)) }
