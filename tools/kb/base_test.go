package kb

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolnorm/internal/auth"
	"toolnorm/internal/test/must"
	"toolnorm/tools"
	"toolnorm/tools/kb/kbstore"
)

// TestSchemasNameTheBasesThatTheCallerMaySee has two tenants, and a change of the bases that
// clients must hear of.
func TestSchemasNameTheBasesThatTheCallerMaySee(t *testing.T) {
	k := must.Have(Open(t.Context(), Config{Tools: "auto"}, filepath.Join(t.TempDir(), "kb.db"), nil, true))(t)
	t.Cleanup(func() { _ = k.Close() })
	for _, b := range []kbstore.Base{{Name: "Office", Description: "printers and keys", Tenant: "acme"}, {Name: "Legal", Tenant: "acme"}, {Name: "Secret", Tenant: "other"}} {
		must.Have(k.Store.Create(t.Context(), b))(t)
	}
	r := tools.New(tools.Options{})
	must.OK(t, k.Offer(t.Context(), r))
	seen := func(tool string, who *auth.Principal) (required, enum []string, text string) {
		found, _ := r.Snapshot().Find(tool)
		schema := found.For(auth.WithPrincipal(t.Context(), who)).Schema
		var v struct {
			Required   []string `json:"required"`
			Properties map[string]struct {
				Enum        []string `json:"enum"`
				Description string   `json:"description"`
			} `json:"properties"`
		}
		if err := json.Unmarshal(schema, &v); err != nil {
			t.Fatalf("%s: %v", schema, err)
		}
		return v.Required, v.Properties["knowledge_base_id"].Enum, v.Properties["knowledge_base_id"].Description
	}
	for _, tool := range []string{"search_documents", "get_knowledge_base_summary"} {
		required, enum, text := seen(tool, acme)
		if !slices.Contains(required, "knowledge_base_id") || !slices.Equal(enum, []string{"Legal", "Office"}) || !strings.Contains(text, "Office (printers and keys)") || strings.Contains(text, "Secret") {
			t.Errorf("%s: acme sees %v %v %q", tool, required, enum, text)
		}
		required, enum, text = seen(tool, &auth.Principal{Subject: "eve", Tenant: "other"})
		if slices.Contains(required, "knowledge_base_id") || enum != nil || !strings.Contains(text, "only Secret") {
			t.Errorf("%s: other sees %v %v %q", tool, required, enum, text)
		}
		if found, _ := r.Snapshot().Find(tool); string(found.For(context.Background()).Schema) != string(found.Schema) {
			t.Errorf("%s: nobody sees %s", tool, found.For(context.Background()).Schema)
		}
	}
	before := r.Snapshot().Generation
	if err := k.Offer(t.Context(), r); err != nil || r.Snapshot().Generation != before {
		t.Errorf("nothing changed, and clients are told: %v", err)
	}
	must.Have(k.Store.Create(t.Context(), kbstore.Base{Name: "New", Tenant: "acme"}))(t)
	if err := k.Offer(t.Context(), r); err != nil || r.Snapshot().Generation == before {
		t.Errorf("a new base, and clients are not told: %v", err)
	}
	if _, enum, _ := seen("search_documents", acme); !slices.Contains(enum, "New") {
		t.Errorf("enum %v", enum)
	}
}
