package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// reader is a program that reads model replies, and is compared with toolnorm or is toolnorm
// itself. A file in the folder readers describes it.
type reader struct {
	id, file   string
	name       string   // its name on the page
	entry      string   // the function or class by which it is asked
	versions   []string // the versions of its packages
	steps      [][2]string
	folder     string // the folder into which it is installed
	command    []string
	env        []string
	failure    string // why it cannot be run; "": it can
	directives string
}

// installLimit is how long a reader's installation may take.
const installLimit = 20 * time.Minute

// findReaders returns the readers in a folder, toolnorm first. It reads the first lines of each
// file, which have the form "arena: KEY = VALUE" in comments. If the parameter only is not empty,
// it lists the ids of readers, and only these and toolnorm are returned. findReaders returns an
// error if a file cannot be read, or if there is no reader toolnorm.
func findReaders(folder, only string) ([]*reader, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.*"))
	if err != nil {
		return nil, err
	}
	var all []*reader
	for _, file := range files {
		id := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		if only != "" && id != "toolnorm" && !slices.Contains(strings.Split(only, ","), id) {
			continue
		}
		r := &reader{id: id, file: file}
		if err := r.readHead(); err != nil {
			return nil, err
		}
		if r.name != "" {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b *reader) int {
		switch {
		case a.id == "toolnorm":
			return -1
		case b.id == "toolnorm":
			return 1
		}
		return strings.Compare(strings.ToLower(a.name), strings.ToLower(b.name))
	})
	if len(all) == 0 || all[0].id != "toolnorm" {
		return nil, fmt.Errorf("%s has no reader toolnorm", folder)
	}
	return all, nil
}

// readHead reads the settings of the reader from the first lines of its file. It returns an error
// if the file cannot be read, or if a line is wrong.
func (r *reader) readHead() error {
	f, err := os.Open(r.file)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		_, directive, ok := strings.Cut(lines.Text(), "arena: ")
		key, value, is := strings.Cut(directive, " = ")
		if !ok || !is {
			if r.name != "" && !strings.HasPrefix(lines.Text(), "#") &&
				!strings.HasPrefix(lines.Text(), "//") {
				break
			}
			continue
		}
		switch key {
		case "name":
			r.name = value
		case "entry":
			r.entry = value
		case "pip", "wheel-py", "npm", "sh":
			r.steps = append(r.steps, [2]string{key, value})
		case "version":
			r.versions = append(r.versions, value)
		default:
			return fmt.Errorf(
				"%s: there is no %q; name, entry, version, pip, wheel-py, npm and sh are", r.file,
				key)
		}
		r.directives += lines.Text() + "\n"
	}
	return nil
}

// install installs a reader, unless it is installed already, and sets the command that starts it.
// If that fails, it sets r.failure, which the page shows.
func (r *reader) install(cache string) {
	source, err := os.ReadFile(r.file)
	if err != nil {
		r.failure = err.Error()
		return
	}
	key := r.directives
	if ext := filepath.Ext(r.file); ext == ".cpp" || ext == ".mjs" {
		key += string(source)
	}
	folder, err := filepath.Abs(
		filepath.Join(cache, fmt.Sprintf("%s-%.6x", r.id, sha256.Sum256([]byte(key)))))
	file, err2 := filepath.Abs(r.file)
	if err != nil || err2 != nil {
		r.failure = fmt.Sprint(err, err2)
		return
	}
	r.folder = folder
	if _, err := os.Stat(filepath.Join(folder, "installed")); err != nil {
		if r.failure = r.build(file); r.failure != "" {
			return
		}
	}
	switch filepath.Ext(file) {
	case ".py":
		r.command = []string{"python3", "-P", file}
		r.env = []string{"PYTHONPATH=" + filepath.Dir(file) + "/lib:" + folder,
			"PYTHONDONTWRITEBYTECODE=1", "PYTHONHASHSEED=0"}
	case ".mjs":
		r.command = []string{"node", filepath.Join(folder, filepath.Base(file))}
	case ".go":
		r.failure = r.step("go", strings.TrimSuffix(file, ".go"))
		r.command = []string{filepath.Join(folder, "reader")}
	default:
		r.command = []string{filepath.Join(folder, "reader")}
	}
}

// build makes all steps of an installation in a new folder. It returns why a step failed, or "" if
// none did.
func (r *reader) build(file string) string {
	_ = os.RemoveAll(r.folder)
	if err := os.MkdirAll(r.folder, 0o755); err != nil {
		return err.Error()
	}
	source, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	if filepath.Ext(file) != ".go" {
		if err := os.WriteFile(filepath.Join(r.folder, filepath.Base(file)), source,
			0o644); err != nil {
			return err.Error()
		}
	}
	for _, s := range r.steps {
		if why := r.step(s[0], s[1]); why != "" {
			return why
		}
	}
	if err := os.WriteFile(filepath.Join(r.folder, "installed"), nil, 0o644); err != nil {
		return err.Error()
	}
	return ""
}

// scripts are the shell scripts of the kinds of steps. They run in the folder of the reader. $1 is
// the value of the step, and $2 the reader's file.
var scripts = map[string]string{
	"pip": `python3 -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --target . $1`,
	// Only the Python files of a package are used. Its compiled parts are large, and its parsers do
	// not need them.
	"wheel-py": `python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest wheel "$1"
python3 -c 'import glob, zipfile
z = zipfile.ZipFile(glob.glob("wheel/*.whl")[0])
z.extractall(".", [n for n in z.namelist() if n.endswith((".py", "METADATA"))])'
rm -r wheel`,
	"npm": `npm install --silent --ignore-scripts --no-audit --no-fund --before=2026-11-28 $1`,
	"sh":  `eval "$1"`,
}

// step makes one step of an installation. It returns why the step failed, or "" if it did not.
func (r *reader) step(kind, value string) string {
	ctx, cancel := context.WithTimeout(context.Background(), installLimit)
	defer cancel()
	file, _ := filepath.Abs(r.file)
	value = strings.ReplaceAll(value, "$ROOT", filepath.Join(filepath.Dir(file), "..", "..", ".."))
	cmd := exec.CommandContext(ctx, "sh", "-eu", "-c", scripts[kind], "sh", value, file)
	cmd.Dir = r.folder
	if kind == "go" {
		if err := os.MkdirAll(r.folder, 0o755); err != nil {
			return err.Error()
		}
		cmd = exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(r.folder, "reader"), file)
	}
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if err == nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return fmt.Sprintf("not installed: %s %s: %v: %s", kind, value, err,
		strings.Join(lines[max(0, len(lines)-2):], " "))
}
