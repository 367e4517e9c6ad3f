package dynamic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"
)

// groupFolder is the subfolder of an export that contains the sets of tools.
const groupFolder = "sets"

// export writes each set into its own file NAME.yaml in the folder dir, which it makes if there are
// sets, and returns the paths. If prune is true, it removes files of sets that no longer exist. It
// returns an error if a file cannot be written or removed.
func (o *Groups) export(ctx context.Context, dir string, prune bool) (written []string, err error) {
	all, err := o.List(ctx)
	if err != nil {
		return nil, err
	}
	if len(all) > 0 {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	for _, g := range all {
		text, err := g.file()
		if err != nil {
			return written, err
		}
		if written, err = writeFile(dir, g.Name, text, written); err != nil {
			return written, err
		}
	}
	if !prune {
		return written, nil
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	for _, path := range files {
		// Files that no export wrote are left alone.
		if g, wrong := readGroup(path); wrong != nil || slices.Contains(written, path) || g.Name+
			".yaml" != filepath.Base(path) {
			continue
		}
		err = errors.Join(err, os.Remove(path))
	}
	return written, err
}

// file returns a set as the YAML text of a file, or an error if it cannot be encoded.
func (g *GroupDraft) file() ([]byte, error) { return yamlFile(g) }

// isGroupFile reports whether a file describes a set, because it has the member "set", which no
// tool has. It returns false for a file that is too large or cannot be read.
func isGroupFile(path string) bool {
	info, err := os.Stat(path)
	if err != nil || info.Size() > maxFile {
		return false
	}
	text, err := os.ReadFile(path)
	var has map[string]yaml.Node
	if err != nil || yaml.Unmarshal(text, &has) != nil {
		return false
	}
	_, ok := has["set"]
	return ok
}

// readGroup reads the file of a set. An unknown member is an error, as in the file of a tool, and
// so is a set that is not valid.
func readGroup(path string) (g GroupDraft, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return g, err
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(&g); err != nil {
		return g, fmt.Errorf("no set of tools can be read from it: %w", explained(err))
	}
	g.normalize()
	return g, g.check()
}

// importFile saves the set of a file unless the store has an equal one. If dry is true, nothing is
// saved. The result says what was done, or has the error.
func (o *Groups) importFile(ctx context.Context, who string, dry bool, path string) Imported {
	one := Imported{File: path, Set: true}
	g, err := readGroup(path)
	one.Name = g.Name
	if err == nil {
		one.Action, err = o.take(ctx, who, dry, g)
	}
	if err != nil {
		one.Action, one.Err = "refused", err
	}
	return one
}

// take saves the set of a file and returns the action, which is "unchanged" if the store has an
// equal set. If dry is true, nothing is saved. It returns an error if the store fails.
func (o *Groups) take(ctx context.Context, who string, dry bool, g GroupDraft) (
	action string, err error) {
	there, err := o.List(ctx)
	if err != nil {
		return "", err
	}
	action = "create"
	if at := slices.IndexFunc(there, func(one Group) bool { return one.Name == g.Name }); at >= 0 {
		was, err := there[at].file()
		if is, wrong := g.file(); err == nil && wrong == nil && bytes.Equal(was, is) {
			return "unchanged", nil
		}
		action = "update"
	}
	if !dry {
		_, err = o.keep(ctx, who, g, func(int) error { return nil })
	}
	return action, err
}

// prune deletes the sets that an import did not name; the list all is the result of that import. It
// appends the deleted sets to the list gone and returns it, and an error if a set cannot be
// deleted. If dry is true, nothing is deleted.
func (o *Groups) prune(ctx context.Context, who string, dry bool, all, gone []Imported) (
	[]Imported, error) {
	there, err := o.List(ctx)
	if err != nil {
		return gone, err
	}
	for _, g := range there {
		if slices.ContainsFunc(all, func(one Imported) bool {
			return one.Set && one.Name == g.Name
		}) {
			continue
		}
		if !dry {
			if err := o.Delete(ctx, who, g.Name, 0); err != nil {
				return gone, err
			}
		}
		gone = append(gone, Imported{Name: g.Name, Action: "delete", Set: true})
	}
	return gone, nil
}
