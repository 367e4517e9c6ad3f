package auth

import "context"

// Principal is who asks, as far as tools that keep something from somebody have to know. It comes
// from a verified credential alone, never from a request's body, a query string or a tool's
// arguments: a model writes those.
//
// A JWT's claims fill it; docs/auth.md has the table. The holder of an API key is the operator's
// own program, so it is an Admin, as whoever reaches a server that asks for no credential at all
// (Local).
type Principal struct {
	Subject     string   // whom created_by and audit lines name: a JWT's sub, an API key's label, or "local"
	Tenant      string   // the claim tenant_id; only what belongs to the same tenant is seen
	Departments []string // the claim department, or departments
	Clearance   int      // the claim clearance; absent: 0, which sees only what needs none
	Bases       []string // the claim kb_ids: the only knowledge bases that are seen; nil: all of the tenant's
	Sets        []string // the sets of tools that may be used (Sets); nil: all tools
	Admin       bool     // sees everything: no tenant, department, clearance or base is asked for
	Here        bool     // asks from this machine, not through a proxy
	Token       string   // the JWT as it was sent, to be forwarded to a backend that checks it itself; never logged

	caller  string   // what Caller says
	roles   []string // the claims role and roles
	scrapes bool     // bears one of Guard.Scrapers
	rights  Right    // what may be done
	models  []string // patterns of the models that may be asked; nil: all
	chief   bool     // bears one of Guard.Admins, or the administrator's role: no setting takes a right away
}

// local is the Subject of who needs no credential.
const local = "local"

// Local returns the principal where no credential is asked for: over loopback, over stdio and at
// the command line. A user there can read the store's file as well, so nothing is kept from them.
func Local() *Principal {
	return &Principal{Subject: local, Admin: true, rights: everything, Here: true}
}

// principalKey is where a context keeps who asks.
type principalKey struct{}

// WithPrincipal returns ctx with the principal who asks.
func WithPrincipal(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// PrincipalOf returns the principal who asks. It returns nil if there is none: a face that forgot
// to set it, or a caller that no credential was asked of though it is not on this machine. A tool
// that withholds anything from any principal gives nothing to a nil one.
func PrincipalOf(ctx context.Context) *Principal {
	p, _ := ctx.Value(principalKey{}).(*Principal)
	return p
}

// Caller returns a word that is the same for every request with the same credential, and gives
// nothing of it away. It is empty where no credential is asked for. MCP sessions belong to it: an
// id is never authentication, so the session of another caller is a 404.
func Caller(ctx context.Context) string {
	if p := PrincipalOf(ctx); p != nil {
		return p.caller
	}
	return ""
}
