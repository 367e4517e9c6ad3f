package auth

import "context"

// Principal is the caller of a request, with what tools need to know to withhold data from some
// callers. It is derived only from a verified credential, never from a request's body, a query
// string or a tool's arguments, which a model writes.
//
// The claims of a JWT set its fields; docs/auth.md has the table. The holder of an API key is the
// operator's own program and therefore an Admin, as is every caller of a server that requires no
// credential (see Local).
type Principal struct {
	// the name in created_by and audit lines: a JWT's sub, an API key's label, or "local"
	Subject     string
	Tenant      string   // the claim tenant_id; only data of the same tenant is visible
	Departments []string // the claim department or departments
	// the claim clearance; if it is absent 0, with which only data that needs no clearance is
	// visible
	Clearance int
	// the claim kb_ids: the only visible knowledge bases; nil: all of the tenant's
	Bases []string
	Sets  []string // the sets of tools that may be used (see Sets); nil: all tools
	Admin bool     // sees all data: tenant, department, clearance and bases are not checked
	Here  bool     // the request comes from this machine, and not through a proxy
	// the JWT as it was sent, to be forwarded to a backend that verifies it itself; never logged
	Token string

	caller  string   // the result of Caller
	roles   []string // the claims role and roles
	scrapes bool     // has a key of Guard.Scrapers
	rights  Right    // what the caller may do
	models  []string // patterns of the models that may be asked; nil: all
	// has a key of Guard.Admins or the administrator's role, so that no setting takes a right away
	chief bool
}

// local is the Subject of a caller who needs no credential.
const local = "local"

// Local returns the principal for callers who need no credential: over loopback, over stdio and at
// the command line. Such a user can read the store's file as well, so no data is withheld.
func Local() *Principal {
	return &Principal{Subject: local, Admin: true, rights: everything, Here: true}
}

// principalKey is the key of the principal in a context.
type principalKey struct{}

// WithPrincipal returns a copy of ctx that carries the principal of the request.
func WithPrincipal(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// PrincipalOf returns the principal of the request to which ctx belongs. It returns nil if none was
// set, by mistake or because a caller on another machine needed no credential. A tool that
// withholds data from any principal must give nothing to a nil one.
func PrincipalOf(ctx context.Context) *Principal {
	p, _ := ctx.Value(principalKey{}).(*Principal)
	return p
}

// Caller returns a word that is the same for every request with the same credential, and reveals
// nothing about it. If no credential is required, the word is empty. Each MCP session belongs to
// one caller, since knowing the id of a session proves nothing. For other callers the session does
// not exist (404).
func Caller(ctx context.Context) string {
	if p := PrincipalOf(ctx); p != nil {
		return p.caller
	}
	return ""
}
