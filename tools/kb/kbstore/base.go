package kbstore

import (
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"time"
)

// The two errors of looking up a knowledge base, in the words of the tools' specification (HTTP 404
// and 403). A base of another tenant is denied and not hidden, because ids are random, so an id
// that exists reveals little.
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
	// the owner; only principals of this tenant may read the base
	Tenant  string    `json:"tenant"`
	Version int64     `json:"version"` // counts changes; an index of another version is outdated
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
}

// Collection is a part of a knowledge base into which, for example, one folder was imported. Its
// summary is searched first if there are many documents. The summary is never shown, because it has
// titles of documents that the caller may not see.
type Collection struct {
	ID      string `json:"id"`
	Base    string `json:"knowledge_base_id"`
	Name    string `json:"name"`
	Summary string `json:"summary"`
	Embedding
}

// Document is one text in a collection, usually a file.
type Document struct {
	ID         string `json:"id"`
	Collection string `json:"collection_id"`
	Title      string `json:"title"`
	// the file's path relative to the imported folder; unique in the collection
	Source  string `json:"source"`
	Summary string `json:"summary"`
	Chunks  int    `json:"chunk_count"`
	Access
	Embedding
	// of the file's content; another hash means that the file has changed
	Hash     string    `json:"hash"`
	Imported time.Time `json:"imported"`
}

// Access says who may see a document (see Filter). Only administrators may see a document with the
// zero value, so that a document whose rows are damaged is hidden and not shown to everyone.
type Access struct {
	Tenant      string   `json:"tenant"`
	Public      bool     `json:"public"`      // every department may see it
	Departments []string `json:"departments"` // if not Public, only these
	Clearance   int      `json:"clearance"`   // the lowest clearance that may see it
}

// Chunk is a passage of a document, which is what is searched and shown. Its id changes with every
// import of the document, so an old id finds nothing rather than another text.
type Chunk struct {
	ID       string `json:"id"`
	Document string `json:"document_id"`
	Index    int    `json:"chunk_index"` // its position in the document, from 0
	Heading  string `json:"heading"`     // the headings above it, such as "Leave > Sick leave"
	Text     string `json:"text"`
	Embedding
}

// Embedding is a vector with the name of the model that made it, since vectors of two models cannot
// be compared. Both are empty if there is no vector.
type Embedding struct {
	Model  string    `json:"model,omitempty"`
	Vector []float32 `json:"-"`
}

// newID returns a random UUID (version 4). Ids are random, because an id that can be guessed could
// be requested.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the program instead
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// uuid matches an id in the form of RFC 9562.
var uuid = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// ValidID reports whether a text is a UUID.
func ValidID(id string) bool { return uuid.MatchString(id) }
