// Package replace writes a file anew so that no reader ever finds half of it.
package replace

import (
	"errors"
	"os"
	"path/filepath"
)

// Target returns the path of the file to which a symbolic link leads, so that writing it keeps the
// link. File would replace the link itself and leave the linked file unchanged. If path does not
// exist, Target returns path as it is and makes its folder; the error is that of making the folder.
func Target(path string) (string, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real, nil
	}
	return path, os.MkdirAll(filepath.Dir(path), 0o700)
}

// File writes text to path in place of what is there, readable by the owner alone. A reader finds
// the old text or the new one, never a part of it, even after a power failure, because a new file
// is written in the same folder and then renamed to path. If that fails, the old file stays and
// File returns the error.
func File(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // made with mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	// Sync comes before the rename, because otherwise a power failure could leave an empty file
	// under the new name.
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
