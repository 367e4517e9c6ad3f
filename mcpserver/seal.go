package mcpserver

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"toolnorm/internal/clip"

	"github.com/mark3labs/mcp-go/mcp"
)

// seal signs texts that clients store for this server and must not change. Every process with the
// same key can read these texts, so a session survives a restart and is known to every replica. The
// editor Void needs that: it initializes only once, and after a 404 for its session it shows {} for
// every call.
type seal struct{ key []byte }

// newSeal returns a seal with this key. Without a key it generates one, and the texts that are
// signed with it become invalid when the process ends. The key comes from mcp.key in the data
// folder, which replicas share.
func newSeal(key []byte) seal {
	if len(key) == 0 {
		key = make([]byte, sha256.Size)
		rand.Read(key) // never fails
	}
	return seal{key}
}

// close returns v and its signature, both in Base64 with a dot between them, since session ids must
// consist of visible ASCII characters. The signature covers the purpose, so that a text for one
// purpose is invalid for another. The text is signed and not encrypted, since nothing in it is
// secret from its own client.
func (s seal) close(purpose string, v any) string {
	body := encode(v)
	return base64.RawURLEncoding.EncodeToString(body) + "." +
		base64.RawURLEncoding.EncodeToString(s.sum(purpose, body))
}

// open checks that text was returned by close for the same purpose, and decodes its content into v.
// It returns an error for any other text. The Base64 must be canonical, because otherwise an ended
// session could come back under another id with the same signature.
func (s seal) open(purpose, text string, v any) error {
	// The body must not be parsed before its signature is checked.
	head, tail, _ := strings.Cut(text, ".")
	body, err := base64.RawURLEncoding.Strict().DecodeString(head)
	if err != nil {
		return fmt.Errorf("not a sealed text: %w", err)
	}
	sum, err := base64.RawURLEncoding.Strict().DecodeString(tail)
	if err != nil || !hmac.Equal(sum, s.sum(purpose, body)) {
		return fmt.Errorf("a text that was not sealed here, or not for this")
	}
	return json.Unmarshal(body, v)
}

// sum returns the signature of a body that is signed for a purpose. The purpose is written in
// quotes before the body, so that two different pairs of purpose and body never give the same
// signed text.
func (s seal) sum(purpose string, body []byte) []byte {
	h := hmac.New(sha256.New, s.key)
	fmt.Fprintf(h, "toolnorm %q ", purpose)
	h.Write(body)
	return h.Sum(nil)
}

// sealedState is what a client stores from one round of a call to the next.
type sealedState struct {
	State string `json:"s"`
	Until int64  `json:"u"` // Unix seconds
}

// stateLife is how long a client may take between two rounds. Meanwhile its user answers a
// question.
const stateLife = time.Hour

// stateFor returns a text that is signed together with a state that the client keeps. It names the
// caller, the method, and the tool, prompt or resource. So a state cannot be sent to another tool,
// or by another caller.
func stateFor(principal, method, name string) string {
	return fmt.Sprintf("state %q %q %q", principal, method, name)
}

// closeState signs a state that a handler gives to the client and wants back with the next request.
// The client can send it several times before it expires, so a handler must itself remember what
// may happen only once.
func (s seal) closeState(purpose, state string) string {
	return s.close(purpose, sealedState{State: state, Until: time.Now().Add(stateLife).Unix()})
}

// openState returns the state in text, which a handler gave to the client earlier and the client
// sends back. It returns the error -32602 if the text is too old, was changed, or was signed for
// another purpose.
func (s seal) openState(purpose, text string) (string, *rpcError) {
	var kept sealedState
	if err := s.open(purpose, text, &kept); err != nil {
		return "", fail(codeParams,
			"requestState is not the one that this server gave out for this call")
	}
	if time.Now().Unix() > kept.Until {
		return "", fail(codeParams, "requestState is more than %v old; call again without it",
			stateLife)
	}
	return kept.State, nil
}

// sealedSession is the content of a session id of Streamable HTTP. It is signed and not secret. Its
// members have names of one letter, because every request repeats the id in a header.
type sealedSession struct {
	Version string `json:"v"`
	Client  string `json:"n,omitempty"`
	Release string `json:"r,omitempty"`
	// the client's capabilities, one letter for each (abilitiesByLetter)
	Can       string `json:"c,omitempty"`
	Principal string `json:"p,omitempty"` // a digest
	Since     int64  `json:"t"`           // Unix seconds
	Nonce     string `json:"x"`
}

// sessionLife is how long a session id is valid. After that the client must initialize again. It
// also limits how long the end of a session must be remembered (ended).
const sessionLife = 30 * 24 * time.Hour

// mint returns a new id for a session that has begun. The nonce distinguishes two sessions that one
// client begins in the same second.
func (s seal) mint(of *session) string {
	var nonce [16]byte
	rand.Read(nonce[:]) // never fails
	is := of.now()
	return s.close("session", sealedSession{
		Version: is.version, Can: letters(is.can),
		// An id stays short even if a client has a long name.
		Client: clip.To(is.client.Name, 64), Release: clip.To(is.client.Version, 64),
		Principal: digest(of.principal), Since: time.Now().Unix(),
		Nonce: hex.EncodeToString(nonce[:]),
	})
}

// read returns the session of an id. It returns false if the id is invalid, too old, or another
// principal's. It does not say which, so that a stolen id cannot be tested.
func (s seal) read(id, principal string) (*session, bool) {
	var is sealedSession
	if s.open("session", id, &is) != nil || is.Principal != digest(principal) ||
		time.Since(time.Unix(is.Since, 0)) > sessionLife {
		return nil, false
	}
	return &session{
		id: id, principal: principal,
		said: said{is.Version, mcp.Implementation{Name: is.Client, Version: is.Release},
			abilities(is.Can), defaultLevel},
	}, true
}

// digest returns the first eight bytes of a principal's hash in hexadecimal, for texts that are not
// secret; "" for no principal. Eight bytes are enough to distinguish the few principals that a
// server has.
func digest(principal string) string {
	if principal == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(principal))
	return hex.EncodeToString(sum[:8])
}

// abilitiesByLetter are the capabilities that a session id can contain, by their letters.
var abilitiesByLetter = map[byte]string{
	'r': "roots", 'l': "roots.listChanged", 's': "sampling", 'c': "sampling.context",
	'o': "sampling.tools",
	'e': "elicitation", 'f': "elicitation.form", 'u': "elicitation.url", 't': "tasks",
	'i': "tasks.list", 'x': "tasks.cancel",
	'm': "tasks.requests.sampling.createMessage", 'n': "tasks.requests.elicitation.create",
}

// letters returns a text with one letter for each capability of a client; see abilitiesByLetter.
func letters(c mcp.ClientCapabilities) (all string) {
	for _, letter := range slices.Sorted(maps.Keys(abilitiesByLetter)) {
		var at any
		_ = json.Unmarshal(encode(c), &at) // it is JSON
		for _, key := range strings.Split(abilitiesByLetter[letter], ".") {
			inner, _ := at.(map[string]any) // a value that is not an object has nothing inside
			at = inner[key]
		}
		if at != nil && at != false {
			all += string(letter)
		}
	}
	return all
}

// abilities returns the client capabilities that a session's id lists as letters, one for each. It
// ignores unknown letters, which a newer version of the program may have written.
func abilities(all string) (c mcp.ClientCapabilities) {
	tree := map[string]any{}
	for i := range len(all) {
		path := abilitiesByLetter[all[i]]
		if path == "" {
			continue
		}
		at := tree
		keys := strings.Split(path, ".")
		for _, key := range keys[:len(keys)-1] {
			inner, ok := at[key].(map[string]any)
			if !ok {
				inner = map[string]any{}
				at[key] = inner
			}
			at = inner
		}
		switch last := keys[len(keys)-1]; {
		case last == "listChanged":
			at[last] = true
		case at[last] == nil:
			at[last] = map[string]any{}
		}
	}
	_ = json.Unmarshal(encode(tree), &c) // it is of the type's own members
	return c
}
