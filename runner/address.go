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

// Address is the URL at which a proxy on this machine runs calls, with a token that proves that the
// caller may read the user's own files. It is stored in the data folder, in a file that only its
// owner can read. A program that can read the file can read the data as well, so the token gives it
// nothing more. With the address toolrun finds the running toolnorm without a setting or an API
// key.
type Address struct {
	URL   string `json:"url"` // for example http://127.0.0.1:11435
	Token string `json:"token"`
}

// mostAddress is how much of the file is read, in bytes. It contains a URL and a token.
const mostAddress = 64 << 10

// addressFile is the name of the file in the data folder.
const addressFile = "runner.json"

// NewToken returns a new token for an Address, 26 random letters and digits. Each start of a proxy
// has its own token.
func NewToken() string { return rand.Text() }

// Announce writes the address into the data folder, and replaces the one of another proxy. Only its
// owner can read the file, from the moment it exists. It returns an error if the file cannot be
// written.
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

// Withdraw removes the address from the data folder. It returns an error if the file cannot be
// removed. If the file has the address of another proxy, it stays, and Withdraw returns nil. So if
// two proxies share a folder, the other one is still found when this one ends.
func (a Address) Withdraw(dir string) error {
	if now, err := FindAddress(dir); err != nil || now != a {
		return nil
	}
	return os.Remove(filepath.Join(dir, addressFile))
}

// ErrForeign is the error for a file that another user may have written, since that user could
// direct calls anywhere.
var ErrForeign = errors.New("other users may have written this file")

// FindAddress returns the address in a data folder. It returns fs.ErrNotExist if no proxy has
// written one there, and ErrForeign if the file is a symbolic link, belongs to another user, or can
// be written by others.
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

// readOwn returns the content of a file that only the user can have written. For any other file it
// returns ErrForeign. It compares the file at the path with the opened file, so a link that is put
// there in between is detected.
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

// Admits reports whether a request's Authorization header has the token. An Address without a token
// admits no request.
func (a Address) Admits(header string) bool {
	token, ok := strings.CutPrefix(header, "Bearer ")
	return ok && a.Token != "" && subtle.ConstantTimeCompare([]byte(token), []byte(a.Token)) == 1
}
