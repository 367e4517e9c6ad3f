// Package replace writes a file anew so that no reader ever finds half of it.
package replace

import (
	"errors"
	"os"
	"path/filepath"
)

// Target returns the path of what a path leads to, and makes its folder if there is none. File
// would replace a link and leave the file behind it as it was; written to its target, a link stays
// one.
func Target(path string) (string, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real, nil
	}
	return path, os.MkdirAll(filepath.Dir(path), 0o700)
}

// File writes a file anew, for its owner alone. A reader, and a machine that loses its power, find
// the old text or the new one whole: it is written beside the old one and renamed into its place.
func File(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // made with mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	// In front of the rename, or a power cut could leave the new name with nothing in it.
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
