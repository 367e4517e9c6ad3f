package auth

import (
	"context"
	"strings"
	"testing"
)

func TestWhoAsksWithoutAKeyIsLocal(t *testing.T) {
	_, seen := ask(new(Guard), "GET", "/v1/models", "Host", "localhost")
	if p := PrincipalOf(seen.Context()); p == nil || p.Subject != "local" || !p.Admin || Caller(seen.Context()) != "" {
		t.Errorf("principal %+v", p)
	}
	if p := PrincipalOf(context.Background()); p != nil || Caller(context.Background()) != "" {
		t.Errorf("nobody is %+v", p)
	}
}

func TestWhoBearsAKeyIsItsHolder(t *testing.T) {
	g := &Guard{Keys: mustKeys(t, goodKey, otherKey), Routes: health(), Needs: healthNeeds}
	names := map[string]bool{}
	for _, key := range []string{goodKey, otherKey, goodKey} {
		_, seen := ask(g, "GET", "/v1/models", "Host", "localhost", "Authorization", "Bearer "+key)
		p := PrincipalOf(seen.Context())
		if p == nil || !p.Admin || Caller(seen.Context()) == "" || strings.Contains(p.Subject, key) || p.Token != "" {
			t.Fatalf("principal %+v", p)
		}
		names[Caller(seen.Context())] = true
	}
	if len(names) != 2 {
		t.Errorf("two keys are %d callers", len(names))
	}
	if _, seen := ask(g, "GET", "/healthz", "Host", "localhost"); PrincipalOf(seen.Context()) != nil {
		t.Error("an open path has a principal without a key")
	}
}
