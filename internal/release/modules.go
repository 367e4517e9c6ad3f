package main

import (
	"bytes"
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// part is a module or package by others that is in the programs.
type part struct {
	kind    string // golang or npm, as in package URLs
	name    string
	version string
	dir     string // the folder that contains its licence
}

// purl returns the part's package URL, by which vulnerability databases find it. The only character
// of the names here that must be escaped is @.
func (p part) purl() string {
	return "pkg:" + p.kind + "/" + strings.ReplaceAll(p.name, "@", "%40") + "@" + p.version
}

// partsOf returns everything that is in the programs of some builds. Platforms differ a little: for
// example, one needs a module for its terminal that another does not. It fails if a program or the
// lock file of the admin page cannot be read, or if the go command fails.
func partsOf(builds ...build) ([]part, error) {
	found, err := modulesIn(builds)
	if err != nil {
		return nil, err
	}
	page, err := pageModules("admin/web")
	return append(found, page...), err
}

// modulesIn returns the Go modules that are linked into the programs. It reads them from the
// programs themselves, so that no list can be wrong. The standard library and the runtime count as
// a module called std, as in Go's vulnerability database. It fails if a program cannot be read or
// the go command fails.
func modulesIn(builds []build) ([]part, error) {
	all := []part{}
	versions := map[string]string{}
	for _, b := range builds {
		for program := range completionCommands {
			info, err := buildinfo.ReadFile(filepath.Join(b.dir, b.exe(program)))
			if err != nil {
				return nil, err
			}
			versions["std"] = strings.TrimPrefix(info.GoVersion, "go")
			for _, m := range info.Deps {
				versions[m.Path] = m.Version
			}
		}
	}
	names := slices.Sorted(maps.Keys(versions))
	dirs, err := moduleDirs(names)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		all = append(all, part{"golang", name, versions[name], dirs[name]})
	}
	return all, nil
}

// moduleDirs returns the source folder of each module, as the go command reports it. It calls the
// command once for all modules, since each call takes a tenth of a second. It fails if the command
// does.
func moduleDirs(names []string) (map[string]string, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	dirs := map[string]string{"std": strings.TrimSpace(string(root))}
	others := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return name == "std"
	})
	out, err := exec.Command("go", append([]string{"list", "-m", "-f", "{{.Path}}\t{{.Dir}}"},
		others...)...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list -m: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		name, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		dirs[name] = dir
	}
	return dirs, nil
}

// pageModules returns the npm packages that the bundler may have put into the admin page: those in
// the lock file of dir that are not only for development. It fails if the lock file cannot be read.
func pageModules(dir string) (all []part, err error) {
	text, err := os.ReadFile(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct {
			Version string
			Dev     bool
		}
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return nil, fmt.Errorf("package-lock.json: %w", err)
	}
	for path, p := range lock.Packages {
		if name, ok := strings.CutPrefix(path, "node_modules/"); ok && !p.Dev {
			all = append(all, part{"npm", name, p.Version,
				filepath.Join(dir, filepath.FromSlash(path))})
		}
	}
	slices.SortFunc(all, func(a, b part) int { return cmp.Compare(a.name, b.name) })
	return all, nil
}

// licence matches the names of files that contain a licence or a notice.
var licence = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice|patents)([.-].*)?$`)

// licences returns the licence texts of all parts. MIT, BSD and Apache require their texts in every
// copy, and a built program contains copies of the parts. licences fails if a part has no licence.
func licences(all []part) ([]byte, error) {
	var out bytes.Buffer
	for _, p := range all {
		files, err := os.ReadDir(p.dir)
		if err != nil {
			return nil, err
		}
		found := false
		for _, f := range files {
			if f.IsDir() || !licence.MatchString(f.Name()) {
				continue
			}
			text, err := os.ReadFile(filepath.Join(p.dir, f.Name()))
			if err != nil {
				return nil, err
			}
			found = true
			fmt.Fprintf(&out, "%s\n%s %s: %s\n\n%s\n", strings.Repeat("=", 80), p.name, p.version,
				f.Name(), bytes.TrimSpace(bytes.ReplaceAll(text, []byte("\r"), nil)))
		}
		if !found {
			return nil, errors.New("no licence in " + p.dir)
		}
	}
	return out.Bytes(), nil
}

// writeSBOM writes the list of parts in the format of CycloneDX. The list has neither a time nor a
// serial number, so that the same commit always gives the same file. It fails if the file cannot be
// written.
func (r *release) writeSBOM(all []part) error {
	type component struct {
		Type    string `json:"type"`
		Ref     string `json:"bom-ref"`
		Name    string `json:"name"`
		Version string `json:"version"`
		PURL    string `json:"purl,omitempty"`
	}
	list := []component{}
	for _, p := range all {
		list = append(list, component{"library", p.purl(), p.name, p.version, p.purl()})
	}
	doc := map[string]any{
		"$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX",
		"specVersion": "1.6", "version": 1,
		"metadata": map[string]any{"component": component{"application", "toolnorm", "toolnorm",
			r.version, ""}},
		"components": list,
	}
	return r.create("toolnorm_"+r.version+"_sbom.cdx.json", func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(doc)
	})
}
