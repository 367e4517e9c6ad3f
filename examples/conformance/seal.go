package main

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// seal makes states that a client carries from round to round and cannot change.
type seal struct{ key []byte }

// newSeal makes a seal with a key of its own, so its states are good until the process ends.
func newSeal() *seal {
	key := make([]byte, sha256.Size)
	rand.Read(key) // never fails
	return &seal{key}
}

// close makes the state that keeps a text for the next round of the same tool.
func (s *seal) close(tool, text string) string {
	return encode([]byte(text)) + "." + encode(s.sum(tool, text))
}

// open gives the text back. A state that is another tool's, or was changed, is an error.
func (s *seal) open(tool, state string) (text string, err error) {
	head, tail, _ := strings.Cut(state, ".")
	kept, err := base64.RawURLEncoding.DecodeString(head)
	if err == nil {
		var sum []byte
		if sum, err = base64.RawURLEncoding.DecodeString(tail); err == nil && hmac.Equal(sum, s.sum(tool, string(kept))) {
			return string(kept), nil
		}
	}
	return "", fmt.Errorf("%w: this requestState is not one that %s has given out", mcp.ErrInvalidParams, tool)
}

// sum is the signature of a tool's text.
func (s *seal) sum(tool, text string) []byte {
	h := hmac.New(sha256.New, s.key)
	fmt.Fprintf(h, "%q%q", tool, text)
	return h.Sum(nil)
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
