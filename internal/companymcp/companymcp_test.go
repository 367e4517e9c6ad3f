package companymcp

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/server"

	"toolnorm/internal/test/must"
	"toolnorm/tools/company"
)

// shelf is a library of one document.
type shelf struct{}

var rules = company.Document{ID: 7, Title: "Travel rules", Content: "Trains before planes.", Category: "rules"}

func (shelf) Documents(context.Context, int) ([]company.Document, error) {
	return []company.Document{rules}, nil
}

func (shelf) Document(_ context.Context, id int64) (company.Document, error) {
	if id != rules.ID {
		return company.Document{}, company.ErrNoDocument
	}
	return rules, nil
}

// asked is what a server answers, as JSON.
func asked(t *testing.T, s *server.MCPServer, method, params string) string {
	t.Helper()
	answer, err := json.Marshal(s.HandleMessage(t.Context(), json.RawMessage(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":`+params+`}`)))
	must.OK(t, err)
	return string(answer)
}

func TestDocumentsAreResources(t *testing.T) {
	s := New("x", "1", "", shelf{})
	for _, c := range []struct{ method, params, want string }{
		{"resources/list", `{}`, `"uri":"company://documents/7","name":"Travel rules"`},
		{"resources/templates/list", `{}`, `"uriTemplate":"company://documents/{id}"`},
		{"resources/read", `{"uri":"company://documents/7"}`, `"text":"Travel rules\n\nTrains before planes."`},
		{"resources/read", `{"uri":"company://documents/8"}`, `there is no document 8`},
		{"resources/read", `{"uri":"company://documents/seven"}`, `resource not found`},
		{"prompts/list", `{}`, `"name":"vacation_report"`},
		{"prompts/get", `{"name":"vacation_report","arguments":{"employee_id":"EMP001","year":"2026"}}`, `about employee EMP001 for the year 2026`},
		{"prompts/get", `{"name":"vacation_report","arguments":{"employee_id":"EMP001"}}`, `needs year`},
		{"prompts/get", `{"name":"summarize_document","arguments":{"document":"7"}}`, `"resource":{"uri":"company://documents/7"`},
		{"prompts/get", `{"name":"summarize_document","arguments":{"document":"8"}}`, `there is no document 8`},
	} {
		if got := asked(t, s, c.method, c.params); !strings.Contains(got, c.want) {
			t.Errorf("%s %s: %s, want %s", c.method, c.params, got, c.want)
		}
	}
}
