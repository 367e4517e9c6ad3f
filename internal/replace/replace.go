// Package replace writes a file anew in such a way that nobody ever finds half of it.
package replace

import (
	"errors"
	"os"
	"path/filepath"
)

// File writes a file anew, for its owner alone. A reader, and a machine that loses its power, find the old text or the new one
// whole: it is written beside the old one and renamed into its place.
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
