package dynamic

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxFile bounds the file of a tool in bytes. A definition of 64 KiB and 50 parameters with their
// descriptions are well below it.
const maxFile = 1 << 20

// fileEndings are the extensions of files that are read; JSON is also valid YAML. Export writes
// YAML, because a SELECT of several lines stays readable there, and so in the diff of a commit.
var fileEndings = []string{".yaml", ".yml", ".json"}

// Export writes each tool into its own file NAME.yaml in the folder dir, which it makes if
// necessary, and each set into a subfolder. It returns the paths of the files. The same tools
// always result in the same bytes. So ids, times and versions, which differ between stores, are
// left out. If prune is true, files of tools that no longer exist are removed. It returns an error,
// with the paths written so far, if a name is not valid or a file cannot be written.
func (s *Set) Export(ctx context.Context, dir string, prune bool) ([]string, error) {
	all, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var written []string
	for _, t := range all {
		// A row that another program wrote may have any name, such as ../../.bashrc.
		if !toolName.MatchString(t.Name) {
			return written, fmt.Errorf("%q is no name for a tool, nor for a file", t.Name)
		}
		text, err := t.file()
		if err != nil {
			return written, err
		}
		if written, err = writeFile(dir, t.Name, text, written); err != nil {
			return written, err
		}
	}
	if prune {
		if err := removeOthers(dir, written); err != nil {
			return written, err
		}
	}
	sets, err := s.Groups.export(ctx, filepath.Join(dir, groupFolder), prune)
	return append(written, sets...), err
}

// removeOthers removes the files in dir that Export wrote for tools that no longer exist. It
// recognizes such a file by its name NAME.yaml and the tool NAME in it. It leaves alone all other
// files, and the files that the parameter kept lists. It returns an error if a file cannot be read
// or removed.
func removeOthers(dir string, kept []string) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return err
	}
	for _, path := range files {
		if slices.Contains(kept, path) {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if d, err := readDraft(text); err != nil || d.Name+".yaml" != filepath.Base(path) {
			continue
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// writeFile writes the file NAME.yaml into dir, and appends its path to the list written. It
// returns an error if the file cannot be written.
func writeFile(dir, name string, text []byte, written []string) ([]string, error) {
	path := filepath.Join(dir, name+".yaml")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return written, err
	}
	return append(written, path), nil
}

// file returns a draft as the YAML text of a file, or an error if it cannot be encoded.
func (d *Draft) file() ([]byte, error) { return yamlFile(d) }

// yamlFile returns a tool or a set as the YAML text of a file, or an error if it cannot be encoded.
func yamlFile(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	err := errors.Join(enc.Encode(v), enc.Close())
	return b.Bytes(), err
}

// readDraft parses the file of a tool and returns the tool as a draft. It returns an error if the
// file has more than one tool or an unknown member. A misspelt member would otherwise be ignored,
// and the next export would drop it for good.
func readDraft(text []byte) (d Draft, err error) {
	d.Active = true
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(&d); err != nil {
		return d, err
	}
	var more yaml.Node
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return d, errors.New("a file holds one tool, and this one has more")
	}
	return d, nil
}

// UnmarshalYAML implements yaml.Unmarshaler. A parameter is required by default, as in JSON. An
// unknown member is an error.
func (p *Param) UnmarshalYAML(node *yaml.Node) error {
	type plain Param
	one := plain{Required: true}
	// node.Decode would accept unknown members.
	for i := 0; i+1 < len(node.Content); i += 2 {
		if key := node.Content[i]; !paramFields[key.Value] {
			return fmt.Errorf("line %d: field %s not found in a parameter", key.Line, key.Value)
		}
	}
	if err := node.Decode(&one); err != nil {
		return err
	}
	*p = Param(one)
	return nil
}

// paramFields contains the names of a parameter's fields in a file.
var paramFields = fieldsOf(reflect.TypeFor[Param]())

// fieldsOf returns the names that the fields of a struct have in a YAML file, including those of
// embedded structs.
func fieldsOf(t reflect.Type) map[string]bool {
	all := map[string]bool{}
	for f := range t.Fields() {
		if f.Anonymous {
			maps.Copy(all, fieldsOf(f.Type))
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		all[name] = true
	}
	return all
}

// Imported is what an import has done with one file, or would do in a dry run.
type Imported struct {
	File   string
	Name   string
	Action string // create, update, unchanged, delete, or refused
	Err    error  // why it was refused

	Set      bool      // the file describes a set of tools
	Verdicts []Verdict // the results of the tool's examples
}

// Import saves the tools in the given files and folders; the history names who as their author. A
// tool whose name exists is changed, other tools are created, and equal ones are left alone, so
// that a second import does nothing. If the parameter dry is true, nothing is saved. A file that is
// refused does not stop the import of the other files; the Imported for that file has the error.
// Import itself returns an error only if a path or the store cannot be read.
func (s *Set) Import(ctx context.Context, who string, dry bool, paths ...string) (
	[]Imported, error) {
	files, err := toolFiles(paths)
	if err != nil {
		return nil, err
	}
	there, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	ctx = looking(ctx)
	byName := map[string]Tool{}
	for _, t := range there {
		byName[t.Name] = t
	}
	var all []Imported
	seen := map[string]string{}
	for _, file := range files {
		one := Imported{File: file}
		if isGroupFile(file) {
			all = append(all, s.Groups.importFile(ctx, who, dry, file))
			continue
		}
		d, err := s.fromFile(ctx, file)
		if err == nil && seen[d.Name] != "" {
			err = fmt.Errorf("%s has a tool of the same name", seen[d.Name])
		}
		if one.Name = d.Name; err == nil {
			seen[d.Name] = file
			one.Action, err = s.take(ctx, who, dry, d, byName)
		}
		if err == nil { // a failing example does not undo the import
			one.Verdicts, _ = s.Examine(ctx, *d)
		}
		if err != nil {
			one.Action, one.Err = "refused", err
		}
		all = append(all, one)
	}
	return all, nil
}

// Prune deletes the tools and sets that an import did not name, so that the store has those of the
// files and no others, and returns what it deleted. If dry is true, nothing is deleted. It returns
// an error, and deletes nothing, if the import refused a file, since that file may belong to any
// tool.
func (s *Set) Prune(ctx context.Context, who string, dry bool, all []Imported) (
	gone []Imported, err error) {
	named := map[string]bool{}
	for _, one := range all {
		if named[one.Name] = named[one.Name] || !one.Set; one.Err != nil {
			return nil, errors.New("no tool is deleted, since not all files could be read")
		}
	}
	there, err := s.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, t := range there {
		if named[t.Name] {
			continue
		}
		if !dry {
			if err := s.Delete(ctx, who, t.ID, 0); err != nil {
				return gone, err
			}
		}
		gone = append(gone, Imported{Name: t.Name, Action: "delete"})
	}
	return s.Groups.prune(ctx, who, dry, all, gone)
}

// take saves the tool of a file and returns the action, "create" or "update". If the store has an
// equal tool, it does nothing and returns "unchanged". If dry is true, nothing is saved. It returns
// an error if saving fails.
func (s *Set) take(ctx context.Context, who string, dry bool, d *Draft, byName map[string]Tool) (
	action string, err error) {
	was, there := byName[d.Name]
	switch {
	case there && sameDraft(was.Draft, *d):
		return "unchanged", nil
	case there:
		if !dry {
			_, err = s.update(ctx, who, imported, was.ID, *d)
		}
		return "update", err
	}
	if !dry {
		_, err = s.create(ctx, who, imported, *d)
	}
	return "create", err
}

// sameDraft reports whether two drafts result in the same file. It normalizes the draft a itself,
// since a row that another program wrote would otherwise change when its own export is imported.
// The draft b must be normalized already.
func sameDraft(a, b Draft) bool {
	a.normalize(new(problems))
	one, err := a.file()
	other, wrong := b.file()
	return err == nil && wrong == nil && bytes.Equal(one, other)
}

// fromFile reads the tool of a file and returns it in its stored form. If that fails, it returns an
// error and what could be read, never nil.
func (s *Set) fromFile(ctx context.Context, path string) (*Draft, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return &Draft{}, err
	case info.Size() > maxFile:
		return &Draft{}, fmt.Errorf("%d bytes are more than a tool can have", info.Size())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return &Draft{}, err
	}
	d, err := readDraft(text)
	if err != nil {
		return &d, fmt.Errorf("no tool can be read from it: %w", explained(err))
	}
	d.Force = true
	ready, err := s.savable(ctx, d)
	if err != nil {
		return &d, err
	}
	return ready, nil
}

// toolFiles returns the files that paths name. For a folder these are its YAML files, sorted by
// name, followed by those in its subfolder for sets. It returns an error if a path cannot be read
// or there are no files.
func toolFiles(paths []string) (files []string, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		// sets come after the tools that they name
		for _, dir := range []string{path, filepath.Join(path, groupFolder)} {
			entries, err := os.ReadDir(dir)
			if err != nil && (dir == path || !errors.Is(err, fs.ErrNotExist)) {
				return nil, err
			}
			for _, e := range entries {
				if e.Type()&fs.ModeType == 0 &&
					slices.Contains(fileEndings, strings.ToLower(filepath.Ext(e.Name()))) {
					files = append(files, filepath.Join(dir, e.Name()))
				}
			}
		}
	}
	if len(files) == 0 {
		return nil, errors.New("there is no .yaml, .yml or .json file")
	}
	return files, nil
}
