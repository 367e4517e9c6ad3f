// Package connect adds this server to the settings files of editors and coding agents, and removes
// it again.
//
// It merges the settings of examples/editors into the existing file: other settings and comments
// stay. It keeps a copy of the old file, so that undoing restores the same bytes.
//
// Some clients keep their settings where no other program can write them; their users are told what
// to enter.
//
//	clients.go  the clients that are known
//	connect.go  a change to the files of one of them
//	merge.go    settings merged into JSON, YAML and TOML
//	servers.go  model servers on this machine
//	try.go      one tool call through a client
package connect

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"toolnorm/examples/editors"
	"toolnorm/internal/replace"
)

// Paths returns the paths of the client's files in this home folder.
func (c Client) Paths(home string) []string {
	var all []string
	for _, f := range c.files {
		all = append(all, filepath.Join(home, filepath.FromSlash(f.path)))
	}
	return all
}

// Installed reports whether the client has created its own folder in this home folder.
func (c Client) Installed(home string) bool {
	info, err := os.Stat(filepath.Join(home, filepath.FromSlash(c.folder)))
	return c.folder != "" && err == nil && info.IsDir()
}

// Server is the toolnorm server to which a client is connected. URL has no path and no slash at its
// end.
type Server struct{ URL, Model, Key string }

// The address and the model in the examples, which fillExample replaces.
const (
	exampleURL   = "http://127.0.0.1:11435"
	exampleModel = "qwen3-coder:30b"
)

// Change is a change of one file.
type Change struct {
	Path   string
	Before []byte // the old text
	After  []byte
	New    bool // whether the file does not exist yet
}

// Plan returns the changes that would connect the client in this home folder. It writes nothing.
// The argument folder is where Write keeps old texts. For a file that is unchanged since Write
// wrote it, the plan starts from the text before that. It returns an error if a file cannot be read
// or merged.
func (c Client) Plan(home, folder string, s Server) ([]Change, error) {
	old, err := c.kept(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []Change
	for i, path := range c.Paths(home) {
		add := []byte(c.files[i].text)
		if c.files[i].example != "" {
			example, err := editors.Files.ReadFile(c.files[i].example)
			if err != nil {
				return nil, err
			}
			add = fillExample(example, s)
		}
		change := Change{Path: path, After: add}
		change.Before, err = os.ReadFile(path)
		change.New = errors.Is(err, fs.ErrNotExist)
		if err != nil && !change.New {
			return nil, err
		}
		from := change.Before
		for _, k := range old {
			if k.Path == path && k.After == digest(from) {
				from = k.Before
			}
		}
		if len(bytes.TrimSpace(from)) > 0 {
			if change.After, err = c.files[i].merge(from, add); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
		}
		all = append(all, change)
	}
	return all, nil
}

// ByHand returns the steps that the client's user has to do by hand, one line for each; nil if
// there are none.
func (c Client) ByHand(s Server) []string {
	if c.hand == "" {
		return nil
	}
	text := strings.NewReplacer(exampleURL, s.URL, exampleModel, s.Model, `"any"`, `"`+s.Key+
		`"`).Replace(c.hand)
	return strings.Split(text, "\n")
}

// fillExample returns the example with the address, model and key of s. JSON, YAML and TOML accept
// the same quoted strings.
func fillExample(example []byte, s Server) []byte {
	quoted := func(text string) string {
		b, _ := json.Marshal(text)
		return string(b)
	}
	inner := func(text string) string { return strings.Trim(quoted(text), `"`) }
	return []byte(strings.NewReplacer(
		exampleURL, inner(s.URL),
		`"`+exampleModel+`"`, quoted(s.Model), exampleModel, quoted(s.Model),
		`"any"`, quoted(s.Key), ": any\n", ": "+quoted(s.Key)+"\n",
	).Replace(string(example)))
}

// write replaces the whole file at path, and makes its folder if needed. A link stays a link, and
// the file's permissions stay the same. It returns an error if the file cannot be written.
func write(path string, text []byte) error {
	path, err := replace.Target(path)
	if err != nil {
		return err
	}
	info, missing := os.Stat(path)
	if err := replace.File(path, text); err != nil || missing != nil {
		return err
	}
	return os.Chmod(path, info.Mode().Perm())
}

// kept is what Undo needs to know about one file.
type kept struct {
	Path   string `json:"path"`
	Before []byte `json:"before"`
	New    bool   `json:"new"`
	After  string `json:"after_sha256"`
}

// digest returns the SHA-256 hash of a file's text in hexadecimal.
func digest(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }

// Write makes the changes to a client's files, and keeps the old texts in this folder. If the
// client is already connected, the texts from before it was connected are kept. It returns an error
// if a file cannot be read or written.
func (c Client) Write(folder string, changes []Change) error {
	var all []kept
	old, err := c.kept(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for i, change := range changes {
		k := kept{change.Path, change.Before, change.New, digest(change.After)}
		if len(old) == len(changes) && old[i].Path == k.Path &&
			old[i].After == digest(change.Before) {
			k.Before, k.New = old[i].Before, old[i].New
		}
		all = append(all, k)
	}
	text, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	if err := write(c.keptAt(folder), text); err != nil {
		return err
	}
	for _, change := range changes {
		if err := write(change.Path, change.After); err != nil {
			return err
		}
	}
	return nil
}

// ErrNotConnected is returned by Undo if there is nothing to undo.
var ErrNotConnected = errors.New("it was not connected by this command")

// Changed is returned by Undo if the user or the client has changed files after Write had written
// them.
type Changed struct {
	Undoing []Change // from the present texts to the old ones
	kept    string
}

// Error implements error: it names the first file that was changed, and the file in which its old
// text is kept.
func (c *Changed) Error() string {
	return fmt.Sprintf("%s was changed since; what it was before is in %s (before, base64)",
		c.Undoing[0].Path, c.kept)
}

// Undo restores the old texts of the client's files, byte for byte, and returns their paths. If a
// file was changed after Write, Undo touches nothing and returns a *Changed, unless allTheSame is
// set. With allTheSame it also saves the present text of that file as NAME.changed. It returns
// ErrNotConnected if there is nothing to undo, and any error of a file.
func (c Client) Undo(folder string, allTheSame bool) (paths []string, err error) {
	all, err := c.kept(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotConnected
	}
	if err != nil {
		return nil, err
	}
	changed := &Changed{kept: c.keptAt(folder)}
	for _, k := range all {
		now, err := os.ReadFile(k.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err != nil || digest(now) != k.After {
			changed.Undoing = append(changed.Undoing,
				Change{Path: k.Path, Before: now, After: k.Before})
		}
	}
	if len(changed.Undoing) > 0 && !allTheSame {
		return nil, changed
	}
	for _, change := range changed.Undoing {
		if err := write(change.Path+".changed", change.Before); err != nil {
			return nil, err
		}
	}
	for _, k := range all {
		if k.New {
			err = os.Remove(k.Path)
		} else {
			err = write(k.Path, k.Before)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return paths, err
		}
		paths = append(paths, k.Path)
	}
	return paths, os.Remove(c.keptAt(folder))
}

// Connected reports whether the client has been connected by Write, and not disconnected since.
func (c Client) Connected(folder string) bool {
	_, err := os.Stat(c.keptAt(folder))
	return err == nil
}

// keptAt returns the path of the file in which the old texts of the client's files are kept.
func (c Client) keptAt(folder string) string { return filepath.Join(folder, c.Name+".json") }

// kept returns what Write has recorded for Undo in this folder. If the client is not connected, the
// error is fs.ErrNotExist.
func (c Client) kept(folder string) (all []kept, err error) {
	text, err := os.ReadFile(c.keptAt(folder))
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	return all, err
}
