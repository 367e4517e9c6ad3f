package admin

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/rs/zerolog"

	"toolnorm/chat"
	"toolnorm/internal/auth"
	"toolnorm/internal/body"
	"toolnorm/internal/fault"
	"toolnorm/internal/sse"
	"toolnorm/tools/kb"
	"toolnorm/tools/kb/chunk"
	"toolnorm/tools/kb/kbstore"
)

// knowledge answers the routes of the knowledge bases.
type knowledge struct {
	kb      *kb.KB // nil: there is no store for them
	log     zerolog.Logger
	publish func(kind string)
}

// routes adds the routes of the knowledge bases to a server. No route searches, since the route
// registry/call runs the search tool.
func (k *knowledge) routes(to *Server) {
	const bases = API + "knowledge-bases"
	for pattern, h := range map[string]handler{
		"GET " + bases:                                        show(k.listBases),
		"POST " + bases:                                       k.createBase,
		"GET " + bases + "/{base}":                            show(k.showBase),
		"DELETE " + bases + "/{base}":                         done(k.deleteBase),
		"POST " + bases + "/{base}/documents":                 k.importFile,
		"DELETE " + bases + "/{base}/documents/{document}":    done(k.deleteDocument),
		"POST " + bases + "/{base}/documents/{document}/move": show(k.moveDocument),
	} {
		to.Handle(pattern, k.withStore(h))
	}
}

// withStore returns a handler that fails if no store is open, and otherwise calls h and turns
// errors of the store into errors of the API. The routes exist even without a store, so that a page
// can show the reason and the API description is true of every server.
func (k *knowledge) withStore(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		switch {
		case k.kb != nil && k.kb.Problem != nil:
			return fault.New(fault.Unable, "knowledge bases are off: %v", k.kb.Problem)
		case k.kb == nil || k.kb.Store == nil:
			return fault.New(fault.Unable, "knowledge bases are off, since no store is open")
		}
		return knowledgeFault(h(w, r))
	}
}

// knowledgeFault turns an error of the store into an error of the API; other errors, and nil, are
// returned unchanged. The message is the one that the tools use for the same error, so that people
// who search for it find both places.
func knowledgeFault(err error) error {
	switch {
	case errors.Is(err, kbstore.ErrNotFound):
		return fault.New(fault.NotFound, "%s", kbstore.ErrNotFound.Error())
	case errors.Is(err, kbstore.ErrDenied):
		return fault.New(fault.Forbidden, "%s", kbstore.ErrDenied.Error())
	case errors.Is(err, kbstore.ErrNoDocument):
		return fault.New(fault.NotFound, "%s", kbstore.ErrNoDocument.Error())
	case errors.Is(err, kbstore.ErrTaken):
		return &fault.Error{Kind: fault.Conflict, Message: kbstore.ErrTaken.Error(), Param: "name",
			Code: "name_taken"}
	case errors.Is(err, kbstore.ErrThere):
		return &fault.Error{Kind: fault.Conflict, Message: kbstore.ErrThere.Error(),
			Code: "name_taken"}
	case errors.Is(err, kbstore.ErrChanged):
		return fault.New(fault.Conflict, "%s", kbstore.ErrChanged.Error())
	}
	return err
}

// shownBase is a knowledge base with the sizes that the tool get_knowledge_base_summary reports.
type shownBase struct {
	kbstore.Base
	Statistics statistics `json:"statistics"`
}

// statistics counts what a knowledge base contains.
type statistics struct {
	Collections int `json:"total_collections"`
	Documents   int `json:"total_documents"`
	Chunks      int `json:"total_chunks"`
}

// wholeBase is a knowledge base with its collections and documents.
type wholeBase struct {
	shownBase
	Collections []kbstore.Collection `json:"collections"`
	Documents   []kbstore.Document   `json:"documents"`
	LeftOut     []kbstore.Odd        `json:"left_out,omitempty"`
}

// shown returns b with the number of the collections, documents and chunks that the caller may see.
// The numbers are not stored, because a stored count can be wrong, and counting takes a
// millisecond. It returns an error if the store fails or no longer has the base.
func (k *knowledge) shown(ctx context.Context, b kbstore.Base) (shownBase, error) {
	sum, err := k.kb.Store.Summary(ctx, b.ID, kbstore.FilterOf(auth.PrincipalOf(ctx)))
	return shownBase{b, statistics{sum.Collections, sum.Documents, sum.Chunks}}, err
}

// listBases returns the knowledge bases that the caller may read. A base that is deleted between
// the listing and its count is left out. It returns an error if the store fails.
func (k *knowledge) listBases(r *http.Request) (any, error) {
	bases, err := k.kb.Store.Bases(r.Context(), auth.PrincipalOf(r.Context()))
	if err != nil {
		return nil, err
	}
	all := []shownBase{}
	for _, b := range bases {
		one, err := k.shown(r.Context(), b)
		if errors.Is(err, kbstore.ErrNotFound) {
			continue // deleted meanwhile
		}
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return struct {
		Bases   []shownBase   `json:"knowledge_bases"`
		LeftOut []kbstore.Odd `json:"left_out,omitempty"`
	}{all, k.kb.Store.LeftOut("")}, nil
}

// createBase creates a knowledge base. A client may choose the base's id, so that its configuration
// can be written before the base exists. It returns an error if the name is empty, or if the id is
// no UUID or already in use.
func (k *knowledge) createBase(w http.ResponseWriter, r *http.Request) error {
	var ask struct {
		ID          string `json:"id"`
		Name        string `json:"name"`
		Description string `json:"description"`
		Tenant      string `json:"tenant"`
	}
	if err := read(r, &ask); err != nil {
		return err
	}
	switch {
	case strings.TrimSpace(ask.Name) == "":
		return fault.Wrong("name", "a knowledge base needs a name")
	case ask.ID != "" && !kbstore.ValidID(ask.ID):
		return fault.Wrong("id", "the id has to be a UUID")
	}
	b, err := k.kb.Store.Create(r.Context(), kbstore.Base{ID: ask.ID, Name: ask.Name,
		Description: ask.Description, Tenant: ask.Tenant})
	if err != nil {
		return err
	}
	k.changedBase(r, "created", b.ID)
	w.Header().Set("Location", API+"knowledge-bases/"+b.ID)
	return write(w, http.StatusCreated, shownBase{Base: b})
}

// changedBase notifies the pages of a change and logs it. The log has ids and never texts.
func (k *knowledge) changedBase(r *http.Request, what, id string) {
	k.log.Info().Str("principal", auth.PrincipalOf(r.Context()).Subject).Str("knowledge_base",
		id).Msg("knowledge base " + what)
	k.publish("knowledge")
}

// showBase returns a knowledge base and everything in it. If a page asked for collections and
// documents one after the other, it could show two states of one base. It returns an error if there
// is no such base or the store fails.
func (k *knowledge) showBase(r *http.Request) (any, error) {
	b, err := k.base(r)
	if err != nil {
		return nil, err
	}
	var out wholeBase
	if out.shownBase, err = k.shown(r.Context(), b); err != nil {
		return nil, err
	}
	if out.Collections, err = k.kb.Store.Collections(r.Context(), b.ID); err != nil {
		return nil, err
	}
	if out.Documents, err = k.kb.Store.Documents(r.Context(), b.ID,
		kbstore.FilterOf(auth.PrincipalOf(r.Context()))); err != nil {
		return nil, err
	}
	// An empty list is [] and not null: the document promises a list.
	out.Collections, out.Documents = append([]kbstore.Collection{}, out.Collections...),
		append([]kbstore.Document{}, out.Documents...)
	out.LeftOut = k.kb.Store.LeftOut(b.ID)
	return out, nil
}

// base returns the knowledge base that the path names. It returns an error if there is none or the
// caller may not read it. An administrator may read every base, but rights are checked in one place
// for all callers.
func (k *knowledge) base(r *http.Request) (kbstore.Base, error) {
	return k.kb.Store.Readable(r.Context(), auth.PrincipalOf(r.Context()), r.PathValue("base"))
}

// deleteBase deletes a knowledge base. It returns an error if there is none, because a DELETE of an
// unknown base would otherwise be logged as a change.
func (k *knowledge) deleteBase(r *http.Request) error {
	b, err := k.base(r)
	if err != nil {
		return err
	}
	if err := k.kb.Store.Delete(r.Context(), b.ID); err != nil {
		return err
	}
	k.changedBase(r, "deleted", b.ID)
	return nil
}

// deleteDocument deletes a document. If there is no such document, for example because it was
// deleted on another page, it returns kbstore.ErrNoDocument.
func (k *knowledge) deleteDocument(r *http.Request) error {
	b, err := k.base(r)
	if err != nil {
		return err
	}
	chunks, err := k.kb.Store.DocumentChunks(r.Context(), b.ID, r.PathValue("document"),
		kbstore.FilterOf(auth.PrincipalOf(r.Context())))
	switch {
	case err != nil:
		return err
	case len(chunks) == 0: // a document has at least one
		return kbstore.ErrNoDocument
	}
	if err := k.kb.Store.Remove(r.Context(), b.ID, r.PathValue("document")); err != nil {
		return err
	}
	k.changedBase(r, "changed", b.ID)
	return nil
}

// moveDocument moves a document to another knowledge base. It returns an error if either base is
// unknown, if both are the same, or if the move fails. The caller needs no further right, since an
// administrator may write to every base.
func (k *knowledge) moveDocument(r *http.Request) (any, error) {
	from, err := k.base(r)
	if err != nil {
		return nil, err
	}
	var ask struct {
		To string `json:"to"`
	}
	if err := read(r, &ask); err != nil {
		return nil, err
	}
	to, err := k.kb.Store.Readable(r.Context(), auth.PrincipalOf(r.Context()), ask.To)
	switch {
	case errors.Is(err, kbstore.ErrNotFound):
		return nil, fault.Wrong("to",
			"there is no knowledge base with this id to move the document to")
	case err != nil:
		return nil, err
	case to.ID == from.ID:
		return nil, fault.Wrong("to", "the document is in this knowledge base already")
	}
	embedded, err := k.kb.Move(r.Context(), from, to, r.PathValue("document"))
	if known := knowledgeFault(err); known != err {
		return nil, known
	} else if err != nil {
		return nil, &fault.Error{Kind: fault.Unavailable, Message: err.Error(), Cause: err}
	}
	k.changedBase(r, "changed", from.ID)
	k.changedBase(r, "changed", to.ID)
	return map[string]int{"embedded": embedded}, nil
}

// upload is a file to be imported. It comes as JSON and not as a multipart form, because a foreign
// page can make a browser send a form (see mayWrite in package auth).
type upload struct {
	Name        string   `json:"name"`
	Text        string   `json:"text"`
	Data        []byte   `json:"data"`
	Collection  string   `json:"collection"`
	Tenant      string   `json:"tenant"`
	Departments []string `json:"departments"`
	Clearance   int      `json:"clearance"`
}

// mostUpload is the largest body of an import, in bytes: the largest file in base64, and the other
// members.
const mostUpload = chunk.LargestFile/3*4 + 1<<16

// importFile imports one file, and answers with the result or with a stream of events, whichever
// the client accepts. Pages send the files of a folder one by one, so that they can show their
// progress. The stream reports the progress within a large file. An error that occurs after the
// stream has begun is sent as an event; all others are returned.
func (k *knowledge) importFile(w http.ResponseWriter, r *http.Request) error {
	b, err := k.base(r)
	if err != nil {
		return err
	}
	var u upload
	if err := body.Read(r, mostUpload, &u); err != nil {
		return err
	}
	data := u.Data
	if len(data) == 0 {
		data = []byte(u.Text)
	}
	in := kb.Import{Base: b, Collection: u.Collection, Access: kbstore.Access{Tenant: u.Tenant,
		Departments: u.Departments, Clearance: u.Clearance}}
	if !strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		done, err := k.kb.Add(r.Context(), in, u.Name, data, nil)
		if err != nil {
			return &fault.Error{Kind: fault.Unavailable, Message: err.Error(), Cause: err}
		}
		k.changedBase(r, "changed", b.ID)
		return write(w, http.StatusOK, done)
	}
	out := sse.NewWriter(w, stall)
	done, err := k.kb.Add(r.Context(), in, u.Name, data, func(done, all int) {
		event(out, "progress", map[string]int{"done": done, "all": all})
	})
	if err != nil {
		event(out, "error", map[string]any{"error": map[string]string{"message": err.Error()}})
		return nil
	}
	k.changedBase(r, "changed", b.ID)
	event(out, "imported", done)
	return nil
}

// event sends v as one event of a stream. Write errors are ignored: if the page is gone, the
// context of its request ends the work that sends events. If v cannot be marshaled, the error is
// sent in its place, so that a page does not wait for ever.
func event(out *sse.Writer, kind string, v any) {
	text, err := chat.JSON(v)
	if err != nil {
		text, _ = json.Marshal(err.Error())
	}
	out.Buf = append(out.Buf, "event: "+kind+"\ndata: "+string(text)+"\n\n"...)
	_ = out.Flush()
}
