package auth

import "context"

// Principal is the caller of a request, with what tools need to know to withhold data from some
// callers. It comes only from a verified credential, never from a request's body, a query string or
// a tool's arguments: a model writes those.
//
// A JWT's claims fill it; docs/auth.md has the table. The holder of an API key is the operator's
// own program, so it is an Admin, like every caller of a server that requires no credential
// (Local).
type Principal struct {
	// the name in created_by and audit lines: a JWT's sub, an API key's label, or "local"
	Subject     string
	Tenant      string   // the claim tenant_id; only data of the same tenant is seen
	Departments []string // the claim department, or departments
	// the claim clearance; absent: 0, which sees only data that needs no clearance
	Clearance int
	// the claim kb_ids: the only knowledge bases that are seen; nil: all of the tenant's
	Bases []string
	Sets  []string // the sets of tools that may be used (Sets); nil: all tools
	Admin bool     // sees everything: tenant, department, clearance and bases are not checked
	Here  bool     // asks from this machine, not through a proxy
	// the JWT as it was sent, to be forwarded to a backend that checks it itself; never logged
	Token string

	caller  string   // what Caller returns
	roles   []string // the claims role and roles
	scrapes bool     // has a key of Guard.Scrapers
	rights  Right    // what the caller may do
	models  []string // patterns of the models that may be asked; nil: all
	// has a key of Guard.Admins, or the administrator's role: no setting takes a right away
	chief bool
}

// local is the Subject of a caller who needs no credential.
const local = "local"

// Local returns the principal for callers who need no credential: over loopback, over stdio and at
// the command line. Such a user can read the store's file as well, so nothing is withheld.
func Local() *Principal {
	return &Principal{Subject: local, Admin: true, rights: everything, Here: true}
}

// principalKey is the key of the principal in a context.
type principalKey struct{}

// WithPrincipal returns a copy of ctx that carries the principal who asks.
func WithPrincipal(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// PrincipalOf returns the principal who asks. It returns nil if there is none: an interface forgot
// to set it, or a caller on another machine needed no credential. A tool that withholds anything
// from any principal must give nothing to a nil one.
func PrincipalOf(ctx context.Context) *Principal {
	p, _ := ctx.Value(principalKey{}).(*Principal)
	return p
}

// Caller returns a word that is the same for every request with the same credential, and reveals
// nothing about it. It is empty where no credential is required. MCP sessions belong to a caller:
// an id is never authentication, so the session of another caller is a 404.
func Caller(ctx context.Context) string {
	if p := PrincipalOf(ctx); p != nil {
		return p.caller
	}
	return ""
}
