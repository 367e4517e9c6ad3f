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

// maxFile bounds one file of a tool, in bytes: a definition of 64 KiB, and 50
// parameters with their descriptions, are well below it.
const maxFile = 1 << 20

// fileEndings are the endings of files that are read; JSON is YAML as well. Export writes YAML,
// since a SELECT of several lines stays readable in it, and so in the diff of a commit.
var fileEndings = []string{".yaml", ".yml", ".json"}

// Export writes each tool into a file of its own, NAME.yaml, in a folder that is made
// if need be, and lists the files. The same tools give the same bytes; numbers, times
// and versions are left out, as they differ from store to store. Files of tools that
// are gone are left alone, unless prune says that the folder is to hold these tools and no others.
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
		path := filepath.Join(dir, t.Name+".yaml")
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return written, err
		}
		written = append(written, path)
	}
	if prune {
		if err := removeOthers(dir, written); err != nil {
			return written, err
		}
	}
	sets, err := s.Groups.export(ctx, filepath.Join(dir, groupFolder), prune)
	return append(written, sets...), err
}

// removeOthers removes the files of a folder that Export wrote for tools which are gone: NAME.yaml
// with the tool NAME in it. Other files are left alone.
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

// file returns a draft as a file.
func (d *Draft) file() ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(d), enc.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// readDraft reads a file of a tool. An unknown member is an error: a misspelt member would be
// ignored, and the next export would drop it for good.
func readDraft(text []byte) (d Draft, err error) {
	d.Active = true
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	if err := dec.Decode(&d); err != nil {
		return d, err
	}
	var more any
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return d, errors.New("a file holds one tool, and this one has more")
	}
	return d, nil
}

// UnmarshalYAML reads a parameter. It is required unless it says otherwise, as in JSON.
func (p *Param) UnmarshalYAML(node *yaml.Node) error {
	type plain Param
	one := plain{Required: true}
	// Decode of a node does not know that unknown members are errors.
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

// paramFields are the names of a parameter's fields in a file.
var paramFields = fieldsOf(reflect.TypeFor[Param]())

// fieldsOf returns the names that the fields of a struct have in a file.
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

// Imported is what an import does, or would do, with one file.
type Imported struct {
	File   string
	Name   string
	Action string // create, update, unchanged, delete, or refused
	Err    error  // why it was refused

	Set      bool      // it is a set of tools
	Verdicts []Verdict // of the tool's examples
}

// Import saves the tools of files, and of the files in folders, for who: a tool whose name exists
// is changed, other tools are created, and equal ones are left alone, so that a second import does
// nothing. With dry, nothing is saved. A refused file does not stop the import of the others; the
// error is about paths that cannot be read at all.
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
		if err == nil { // it is kept all the same: the files are what somebody has decided on
			one.Verdicts, _ = s.Examine(ctx, *d)
		}
		if err != nil {
			one.Action, one.Err = "refused", err
		}
		all = append(all, one)
	}
	return all, nil
}

// Prune deletes the tools that an import did not name, so that the store has the tools of the files
// and no others. A file that was refused may be any tool's, so in that case no tool is deleted.
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

// take saves the tool of a file unless the store has an equal one.
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

// sameDraft reports whether two drafts are the same as far as files go. Both are normalized;
// otherwise importing the export of a row that another program wrote would change the row.
func sameDraft(a, b Draft) bool {
	a.normalize(new(problems))
	one, err := a.file()
	other, wrong := b.file()
	return err == nil && wrong == nil && bytes.Equal(one, other)
}

// fromFile reads and checks a file.
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
		return &d, fmt.Errorf("no tool can be read from it: %w", err)
	}
	d.Force = true
	ready, err := s.savable(ctx, d)
	if err != nil {
		return &d, err
	}
	return ready, nil
}

// toolFiles returns the files that paths name, those of a folder in the order of their
// names.
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
		// sets come behind the tools that they name
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
