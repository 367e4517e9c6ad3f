package runner

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"toolnorm/internal/replace"
)

// Address is where a proxy of this machine runs calls, with a token that proves that the caller may
// read the user's own files. It is kept in the folder of data, in a file that only its owner can
// read: a program that can read it can read the data as well, so it gives nothing away. By it
// toolrun finds the running toolnorm without a setting or an API key.
type Address struct {
	URL   string `json:"url"` // as http://127.0.0.1:11435
	Token string `json:"token"`
}

// mostAddress is how much of the file is read, in bytes: it holds a URL and a token.
const mostAddress = 64 << 10

// addressFile is the file's name in the folder of data.
const addressFile = "runner.json"

// NewToken makes the token of an Address, 26 random letters and digits. Each start of a proxy has
// its own.
func NewToken() string { return rand.Text() }

// Announce writes the address into the folder of data, in place of what another proxy may have left
// there. From the beginning only its owner can read the file.
func (a Address) Announce(dir string) error {
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return replace.File(filepath.Join(dir, addressFile), text)
}

// Withdraw removes the address from the folder of data, unless another proxy has put its own there:
// if two proxies share a folder, the other one must still be found when this one ends.
func (a Address) Withdraw(dir string) error {
	if now, err := FindAddress(dir); err != nil || now != a {
		return nil
	}
	return os.Remove(filepath.Join(dir, addressFile))
}

// ErrForeign is the error for an address that another user may have written, who could direct calls
// anywhere.
var ErrForeign = errors.New("other users may have written this file")

// FindAddress reads the address in a folder of data. It returns fs.ErrNotExist if no proxy runs on
// the folder, and ErrForeign if the file is a symbolic link, belongs to another user, or can be
// written by others.
func FindAddress(dir string) (a Address, err error) {
	path := filepath.Join(dir, addressFile)
	text, err := readOwn(path)
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal(text, &a); err != nil || a.URL == "" || a.Token == "" {
		return Address{}, fmt.Errorf("%s holds no address: %w", path, fs.ErrNotExist)
	}
	return a, nil
}

// readOwn reads a file that only the user can have written. It compares the name's file with the
// opened file, so that it detects a link that is put there in between.
func readOwn(path string) ([]byte, error) {
	named, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !named.Mode().IsRegular() || !os.SameFile(named, info) || !isOwn(info):
		return nil, fmt.Errorf("%s: %w", path, ErrForeign)
	}
	return io.ReadAll(io.LimitReader(f, mostAddress))
}

// Admits reports whether a request's Authorization header bears the token. An Address without a
// token admits no request.
func (a Address) Admits(header string) bool {
	token, ok := strings.CutPrefix(header, "Bearer ")
	return ok && a.Token != "" && subtle.ConstantTimeCompare([]byte(token), []byte(a.Token)) == 1
}
