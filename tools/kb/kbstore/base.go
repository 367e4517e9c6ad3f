package kbstore

import (
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"time"
)

// The two errors of looking a knowledge base up, in the words of the tools' specification (HTTP 404
// and 403). One that belongs to another tenant is denied and not hidden: the ids are random, so an
// id that exists tells little.
var (
	//lint:ignore ST1005 the specification's own words
	ErrNotFound = errors.New("Knowledge base not found")
	ErrDenied   = errors.New("Access denied to this knowledge base")
)

// Base is a knowledge base.
type Base struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	// to whom it belongs; principals of this tenant alone may look into it
	Tenant  string    `json:"tenant"`
	Version int64     `json:"version"` // counts changes: an index of another version is old
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
}

// Collection is a part of a knowledge base: what one folder was imported into. Its summary is
// searched first, when there are many documents; it is never shown, as titles of documents are in
// it that the asker may not see.
type Collection struct {
	ID      string `json:"id"`
	Base    string `json:"knowledge_base_id"`
	Name    string `json:"name"`
	Summary string `json:"summary"`
	Embedding
}

// Document is one text of a collection: mostly a file.
type Document struct {
	ID         string `json:"id"`
	Collection string `json:"collection_id"`
	Title      string `json:"title"`
	// the file's path beneath the folder that was imported; unique in the collection
	Source  string `json:"source"`
	Summary string `json:"summary"`
	Chunks  int    `json:"chunk_count"`
	Access
	Embedding
	// of the file from which it was made; another hash means that the file changed
	Hash     string    `json:"hash"`
	Imported time.Time `json:"imported"`
}

// Access says who may see a document: see Filter. The zero value is seen by administrators alone,
// so that a document whose rows were damaged is hidden and not shown to everyone.
type Access struct {
	Tenant      string   `json:"tenant"`
	Public      bool     `json:"public"`      // every department may see it
	Departments []string `json:"departments"` // else these
	Clearance   int      `json:"clearance"`   // the least clearance that a reader needs
}

// Chunk is a passage: what is searched and what is shown. Its id changes with every import of the
// document, so an old id finds nothing, and not another text.
type Chunk struct {
	ID       string `json:"id"`
	Document string `json:"document_id"`
	Index    int    `json:"chunk_index"` // its place in the document, from 0
	Heading  string `json:"heading"`     // the headings above it, as "Leave > Sick leave"
	Text     string `json:"text"`
	Embedding
}

// Embedding is a vector with the name of the model that made it; vectors of two models cannot be
// compared. Without one both are empty.
type Embedding struct {
	Model  string    `json:"model,omitempty"`
	Vector []float32 `json:"-"`
}

// newID returns a random UUID (version 4). Ids are random since one that can be guessed could be
// asked for.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// uuid matches an id in the form of RFC 9562..
var uuid = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// ValidID reports whether a text is a UUID.
func ValidID(id string) bool { return uuid.MatchString(id) }
