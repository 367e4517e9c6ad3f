// Package home says where the user's own things are: the folder of data, and the file of settings.
package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Data returns dir as an absolute path or, if dir is empty, the folder toolnorm in the user's data
// folder. The error says to name a folder: without a home, as in a container with no user entry,
// there is no place to guess.
func Data(dir string) (string, error) {
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("data: name a folder, since %w", err)
		}
		base := os.Getenv("XDG_DATA_HOME")
		// relative ones are to be ignored, says the XDG specification
		if !strings.HasPrefix(base, "/") {
			base = filepath.Join(home, ".local", "share")
		}
		dir = filepath.Join(base, "toolnorm")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("data: %w", err)
	}
	return abs, nil
}

// File returns the YAML file of settings when none is named; empty without a home. It is
// os.UserConfigDir's folder, so the file is where users of the system look for settings: ~/.config
// on Linux, ~/Library/Application Support on macOS.
func File() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "toolnorm", "toolnorm.yaml")
}

// Settings are those of the proxy that other programs have to know, so that they work on the same
// data. toolrun reads them: a tool that it runs by itself must find the database that the server
// would use.
type Settings struct {
	Data  string // the folder, as it was written; empty: not said
	Store string // the database; empty: not said

	All map[string]any `yaml:",inline"` // the others, by their names
}

// ReadSettings returns the settings in the file that ReadFile finds, or no settings if there is no
// file.
func ReadSettings(path string) (s Settings, err error) {
	text, path, err := ReadFile(path)
	if err != nil {
		return s, err
	}
	if err := yaml.Unmarshal(text, &s); err != nil {
		return s, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// ReadFile reads the file of settings at path, or, when path is empty, the default one, which need
// not be there: then found is empty. found is the path that was read. A file that was named must
// exist, since going on without it would use other settings than those that were asked for.
func ReadFile(path string) (text []byte, found string, err error) {
	wanted := path != ""
	if !wanted {
		if path = File(); path == "" {
			return nil, "", nil
		}
	}
	text, err = os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !wanted:
		return nil, "", nil
	case err != nil:
		return nil, "", fmt.Errorf("config: %w", err)
	}
	return text, path, nil
}
