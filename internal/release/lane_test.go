package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"toolnorm/internal/test/must"
)

// These tests look at what "make release" has made, and run it: lane.sh names the folder. They are
// a lane of their own in CI.

// made is the folder of a release.
func made(t *testing.T) string {
	t.Helper()
	dist := os.Getenv("TOOLNORM_RELEASE")
	if dist == "" {
		t.Skip("no release to look at; make release-lane makes one")
	}
	return dist
}

// lacks ends a test for which something is missing. In CI nothing may be.
func lacks(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is missing; lane.sh should have installed it", what)
	}
	t.Skipf("skipped: %s is missing", what)
}

// need ends a test when a program is missing.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			lacks(t, p)
		}
	}
}

// output runs a command and gives what it printed on both.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// one is the only file of the release that matches.
func one(t *testing.T, dist, pattern string) string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dist, pattern))
	if err != nil || len(all) != 1 {
		t.Fatalf("%s matches %q, want one file", pattern, all)
	}
	return all[0]
}

// native is how the names of this platform's packages end.
func native(suffix string) string {
	return "toolnorm_*_" + runtime.GOOS + "_" + runtime.GOARCH + suffix
}

func TestReleaseChecksums(t *testing.T) {
	dist := made(t)
	sums := must.Read(t, filepath.Join(dist, "SHA256SUMS"))
	n := 0
	for line := range strings.Lines(string(sums)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		data, err := os.ReadFile(filepath.Join(dist, name))
		if err != nil || fmt.Sprintf("%x", sha256.Sum256(data)) != sum {
			t.Errorf("%s: %v, or another checksum", name, err)
		}
		n++
	}
	if files, err := os.ReadDir(dist); err != nil || n != len(files)-2 || n < 5 { // without SHA256SUMS itself, and the folder of programs
		t.Errorf("%d checksums for %d entries (%v)", n, len(files), err)
	}
}

// targets returns the platforms that the release was made for: this one is among them, and one of
// each system.
func targets(t *testing.T, dist string) (names []string) {
	t.Helper()
	folders := must.Have(os.ReadDir(filepath.Join(dist, "programs")))(t)
	for _, f := range folders {
		names = append(names, f.Name())
	}
	for _, system := range []string{"linux_amd64", "darwin_", "windows_"} {
		if !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, system) }) {
			t.Errorf("the release is for %s, without %s", names, system)
		}
	}
	return names
}

// TestReleasePrograms reads the heads of all programs: for the platform, static and stripped.
func TestReleasePrograms(t *testing.T) {
	dist := made(t)
	heads := map[string]string{
		"linux_amd64": "EM_X86_64", "linux_arm64": "EM_AARCH64", "darwin_amd64": "CpuAmd64", "darwin_arm64": "CpuArm64", "windows_amd64": "34404", "windows_arm64": "43620",
	}
	for _, target := range targets(t, dist) {
		want := heads[target]
		for _, program := range []string{"toolnorm", "toolrun"} {
			path := filepath.Join(dist, "programs", target, build{os: strings.Split(target, "_")[0]}.exe(program))
			got, err := headOf(path)
			if err != nil || got != want {
				t.Errorf("%s: %s, %v; want %s", path, got, err, want)
			}
		}
	}
}

// headOf is the processor that a program is for. Programs that load others, or bear symbols, are an
// error.
func headOf(path string) (string, error) {
	if f, err := elf.Open(path); err == nil {
		defer f.Close()
		if libs, _ := f.ImportedLibraries(); len(libs) > 0 || f.Section(".interp") != nil {
			return "", errors.New("is not static")
		}
		if f.Section(".symtab") != nil || f.Section(".debug_info") != nil {
			return "", errors.New("is not stripped")
		}
		return f.Machine.String(), nil
	}
	if f, err := macho.Open(path); err == nil {
		defer f.Close()
		if f.Segment("__DWARF") != nil {
			return "", errors.New("is not stripped")
		}
		return f.Cpu.String(), nil
	}
	f, err := pe.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return fmt.Sprint(f.Machine), nil
}

// TestReleaseArchives holds what each archive has to have; that it has no more than one folder is
// for those who unpack it in place.
func TestReleaseArchives(t *testing.T) {
	dist := made(t)
	always := []string{"LICENSE", "README.md", "THIRD_PARTY_LICENSES", "docs/install.md"}
	unix := append([]string{"toolnorm", "toolrun", "completions/toolnorm.bash", "completions/_toolnorm", "completions/toolnorm.fish", "completions/toolrun.bash", "completions/_toolrun", "completions/toolrun.fish", "man/toolnorm.1", "man/toolrun.1", "examples/data-tools/columns.csv"}, always...)
	linux := append([]string{"systemd/system/toolnorm.service", "systemd/user/toolnorm.service", "systemd/toolnorm.yaml"}, unix...)
	contents := map[string][]string{
		"linux":   linux,
		"darwin":  append(unix, "launchd/toolnorm.plist"),
		"windows": append(always, "toolnorm.exe", "toolrun.exe"),
	}
	for _, target := range targets(t, dist) {
		system, _, _ := strings.Cut(target, "_")
		want, suffix := contents[system], ".tar.gz"
		if system == "windows" {
			suffix = ".zip"
		}
		path := one(t, dist, "toolnorm_*_"+target+suffix)
		data := must.Read(t, path)
		top := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".tar.gz"), ".zip") + "/"
		names := namesIn(t, data)
		for _, name := range want {
			if !slices.Contains(names, top+name) {
				t.Errorf("%s: no %s", path, name)
			}
		}
		for _, name := range names {
			if !strings.HasPrefix(name, top) {
				t.Errorf("%s: %s is outside its folder", path, name)
			}
		}
	}
}

// unpacked is the folder of this platform's archive.
func unpacked(t *testing.T) string {
	t.Helper()
	dist := made(t)
	need(t, "tar")
	dir := t.TempDir()
	output(t, "tar", "xzf", one(t, dist, native(".tar.gz")), "-C", dir)
	return one(t, dir, "toolnorm_*")
}

// TestReleaseLinks follows the local links of the documents in the archive and in the Debian
// package, as a reader would.
func TestReleaseLinks(t *testing.T) {
	dirs := []string{unpacked(t)}
	if dpkg, err := exec.LookPath("dpkg-deb"); err == nil && runtime.GOOS == "linux" {
		dir := t.TempDir()
		output(t, dpkg, "-x", one(t, made(t), native(".deb")), dir)
		dirs = append(dirs, filepath.Join(dir, "usr/share/doc/toolnorm"))
		for _, page := range []string{"toolnorm", "toolrun"} {
			one(t, dir, "usr/share/man/man1/"+page+".1.gz")
		}
	}
	for _, dir := range dirs {
		n := 0
		err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
			if err != nil || filepath.Ext(name) != ".md" {
				return err
			}
			page, err := os.ReadFile(name)
			rewritten(page, func(m [][]byte) []byte {
				n++
				if _, err := os.Stat(filepath.Join(filepath.Dir(name), string(m[2]))); len(m[2]) > 0 && err != nil {
					t.Errorf("%s: %s leads nowhere", name, m[0])
				}
				return nil
			})
			return err
		})
		if err != nil || n < 100 {
			t.Errorf("%s: %d links, %v", dir, n, err)
		}
	}
}

// versionOf is the version in the names of a release.
func versionOf(t *testing.T, dist string) string {
	t.Helper()
	return regexp.MustCompile(`toolnorm_(.*)_sbom`).FindStringSubmatch(one(t, dist, "toolnorm_*_sbom.cdx.json"))[1]
}

// serving matches the line of the log that says where a server listens.
var serving = regexp.MustCompile(`"url":"(http://[^"]*)/v1"`)

// TestReleaseArchiveRuns is the way of a new user: unpack, ask for the version, serve, ask a model
// for a call, stop.
func TestReleaseArchiveRuns(t *testing.T) {
	dir := unpacked(t)
	if got := output(t, filepath.Join(dir, "toolnorm"), "--version"); strings.TrimPrefix(got, "toolnorm v") != versionOf(t, made(t))+"\n" && got != "toolnorm "+versionOf(t, made(t))+"\n" {
		t.Errorf("--version says %q, the release is %s", got, versionOf(t, made(t)))
	}
	if got := output(t, filepath.Join(dir, "toolrun"), "--help"); !strings.Contains(got, "toolrun") {
		t.Errorf("toolrun --help says %q", got)
	}
	home := t.TempDir()
	c := exec.Command(filepath.Join(dir, "toolnorm"), "serve", "--listen", "127.0.0.1:0")
	c.Env = []string{"HOME=" + home, "OLLAMA_HOST=127.0.0.1:1"}
	log := must.Have(c.StderrPipe())(t)
	must.OK(t, c.Start())
	defer c.Process.Kill()
	base, lines := "", bufio.NewScanner(log)
	for base == "" && lines.Scan() {
		if m := serving.FindStringSubmatch(lines.Text()); m != nil {
			base = m[1]
		}
	}
	go io.Copy(io.Discard, log) // until the server ends
	if got := ask(t, base+"/v1/chat/completions", demoCall); !strings.Contains(got, `"name":"get_weather"`) || !strings.Contains(got, "Paris") {
		t.Errorf("the demo model's reply: %s", got)
	}
	if got := ask(t, base+"/admin", ""); !strings.Contains(got, "<script") {
		t.Errorf("the release has no admin page: %.300s", got)
	}
	must.OK(t, c.Process.Signal(syscall.SIGTERM))
	if err := c.Wait(); err != nil {
		t.Errorf("stopped by SIGTERM: %v", err)
	}
}

// demoCall asks a built-in model for a call.
const demoCall = `{"model": "demo/hermes", "messages": [{"role": "user", "content": "What is the weather in \"Paris\"?"}],
	"tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]}`

// ask gets a page, or posts a body when there is one.
func ask(t *testing.T, url, body string) string {
	t.Helper()
	method := map[bool]string{true: "GET", false: "POST"}[body == ""]
	_, text := must.Ask(t, method, url, body)
	return text
}

// TestReleaseIsTheSameElsewhere builds this platform's packages once more, from a copy of the
// source in another folder.
func TestReleaseIsTheSameElsewhere(t *testing.T) {
	dist := made(t)
	need(t, "git", "make", "node", "npm", "tar")
	t.Chdir("../..")
	commit := strings.TrimSpace(output(t, "git", "log", "-1", "--format=%ct"))
	copied, again := t.TempDir(), t.TempDir()
	output(t, "sh", "-c", `git ls-files -z | tar c --null -T - | tar x -C "$0" && ln -s "$PWD/admin/web/node_modules" "$0/admin/web/"`, copied)
	version := strings.TrimPrefix(strings.Fields(output(t, filepath.Join(dist, "programs", runtime.GOOS+"_"+runtime.GOARCH, "toolnorm"), "--version"))[1], "toolnorm ")
	output(t, "make", "-C", copied, "release", "TARGETS="+runtime.GOOS+"_"+runtime.GOARCH, "VERSION="+version, "SOURCE_DATE_EPOCH="+commit, "DIST="+again)
	for _, suffix := range []string{".tar.gz", ".deb"} {
		if suffix == ".deb" && runtime.GOOS != "linux" {
			continue
		}
		first := must.Read(t, one(t, dist, native(suffix)))
		if !bytes.Equal(first, must.Read(t, one(t, again, native(suffix)))) {
			t.Errorf("the same source gave another %s in another folder", suffix)
		}
	}
}

// TestReleaseCompletions has each shell find, load and use the completions as files in a folder of
// its own.
func TestReleaseCompletions(t *testing.T) {
	dir := unpacked(t)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	need(t, "timeout")
	files := filepath.Join(dir, "completions")
	for shell, script := range map[string]string{
		"bash": `source "$0/toolnorm.bash"; source "$0/toolrun.bash"; COMP_WORDS=(toolnorm decod); COMP_CWORD=1; _toolnorm; echo "${COMPREPLY[@]}"; complete -p toolrun`,
		"fish": `source $argv[1]/toolnorm.fish; source $argv[1]/toolrun.fish; complete -C 'toolnorm decod'; complete -C 'toolrun --describ'`,
		"zsh": `zmodload zsh/zpty; zpty shell "PS1= zsh -f -i"
			zpty -w shell "fpath=($0 \$fpath); autoload -U compinit; compinit -u -D; echo rea''dy"; zpty -r shell out '*ready*'
			zpty -n -w shell $'toolnorm decod\t'; zpty -r shell out '*decode*' && print decode
			zpty -n -w shell $'\C-utoolrun --descr\t'; zpty -r shell out '*describe*' && print toolrun`,
	} {
		if _, err := exec.LookPath(shell); err != nil {
			t.Run(shell, func(t *testing.T) { lacks(t, shell) })
			continue
		}
		args := []string{"-c", script, files}
		if shell == "fish" {
			args = []string{"--no-config", "-c", script, files}
		}
		if got := output(t, "timeout", append([]string{"60", shell}, args...)...); !strings.Contains(got, "decode") || !strings.Contains(got, "toolrun") && !strings.Contains(got, "--describe") {
			t.Errorf("%s completes %q", shell, got)
		}
	}
}
