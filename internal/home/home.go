// Package home finds the user's own files: the folder of data, and the file of settings.
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
// folder. It fails if the user has no home directory, as in a container without a user entry; the
// error then asks to name a folder.
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

// File returns the path of the settings file to read if none is named, or "" if the user has no
// home directory. The file is in os.UserConfigDir, where users of the system look for settings:
// ~/.config on Linux, ~/Library/Application Support on macOS.
func File() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "toolnorm", "toolnorm.yaml")
}

// Settings are the settings of the proxy that other programs need in order to work on the same
// data. For example, a tool that toolrun runs by itself must find the database that the server
// would use.
type Settings struct {
	Data  string // the folder as it was written; empty: not set
	Store string // the database; empty: not set

	All map[string]any `yaml:",inline"` // the other settings, by name
}

// ReadSettings returns the settings in the file that ReadFile finds, or empty settings if there is
// no file. It fails if ReadFile fails or the file is not valid YAML.
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

// ReadFile returns the text of the settings file at path and the path that was read. If path is
// empty, it reads the file that File names; if that does not exist, the result text is nil, found
// is "" and there is no error. A file that was named must exist, since the program would otherwise
// use other settings than those asked for.
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
