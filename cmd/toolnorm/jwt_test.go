package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"toolnorm/internal/auth"
	"toolnorm/internal/test/must"
	"toolnorm/runner"
	"toolnorm/tools"
)

const jwtSecret = "0123456789abcdef0123456789abcdef"

// tokenOf is the token of somebody; more are further claims, as role, admin.
func tokenOf(t *testing.T, sub string, more ...string) string {
	t.Helper()
	claims := map[string]any{}
	for i := 0; i+1 < len(more); i += 2 {
		claims[more[i]] = more[i+1]
	}
	return tokenWith(t, sub, claims)
}

// tokenWith is the token of somebody with further claims.
func tokenWith(t *testing.T, sub string, more map[string]any) string {
	t.Helper()
	claims := jwt.MapClaims{"sub": sub, "tenant_id": "acme", "exp": time.Now().Add(time.Hour).Unix()}
	maps.Copy(claims, more)
	return must.Have(jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString([]byte(jwtSecret)))(t)
}

// withToken sends a request that bears a token.
func withToken(t *testing.T, method, url, token, body string, header ...string) (int, string) {
	t.Helper()
	if token != "" {
		token = "Bearer " + token
	}
	resp, text := must.Ask(t, method, url, body, append(header, "Content-Type: application/json", "Authorization: "+token)...)
	return resp.StatusCode, text
}

// askedBy makes a tool of the sample say who asks. The demo model calls it as it would call the
// real one.
func askedBy(t *testing.T, m *Main) {
	t.Helper()
	old, _ := m.toolbox.Registry.Snapshot().Find("calculate_vacation_days")
	old.Call = func(ctx context.Context, _ json.RawMessage) (tools.Result, error) {
		p := auth.PrincipalOf(ctx)
		if p == nil {
			return tools.TextOf("asked by nobody"), nil
		}
		return tools.TextOf(fmt.Sprintf("asked by %s of %s, admin %v", p.Subject, p.Tenant, p.Admin)), nil
	}
	must.OK(t, m.toolbox.Registry.Set("company", old))
}

func TestEveryFaceTellsToolsWhoAsks(t *testing.T) {
	clean(t, "")
	t.Setenv("TOOLNORM_JWT_SECRET", jwtSecret)
	dir := t.TempDir()
	m := serving(t, io.Discard, "--data", dir, "--jwt-admin-role", "boss", "--api-keys", "ci sk-0123456789abcdef")
	askedBy(t, m)
	const args = `{"employee_id":"EMP001","year":2025}`
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"calculate_vacation_days","arguments":` + args + `}}`
	chat := `{"model":"demo/hermes@agent","messages":[{"role":"user","content":"How many vacation days has employee \"EMP001\" left in 2025?"}]}`
	for token, want := range map[string]string{
		tokenOf(t, "hong"):                     "asked by hong of acme, admin false",
		tokenOf(t, "kim", "role", "boss"):      "asked by kim of acme, admin true",
		"sk-0123456789abcdef":                  "asked by ci of , admin true",
		"":                                     "",
		tokenOf(t, "lee", "clearance", "high"): "",
	} {
		for path, body := range map[string]string{"/mcp": call, "/sse": call, "/v1/chat/completions": chat, "/runner/call": `{"name":"calculate_vacation_days","arguments":` + args + `}`} {
			header := []string{"Accept: application/json, text/event-stream"}
			if path == "/mcp" || path == "/sse" {
				header = append(header, "Mcp-Session-Id: "+sessionOf(t, m.URL()+path, token))
			}
			status, got := withToken(t, "POST", m.URL()+path, token, body, header...)
			if want == "" {
				if status != 401 || !strings.Contains(got, "Invalid authentication credentials") {
					t.Errorf("%s: %d %s, want 401", path, status, got)
				}
			} else if !strings.Contains(got, want) {
				t.Errorf("%s: %d %s, want %s", path, status, got, want)
			}
		}
	}
	// Whoever can read the address file is the user who runs the program.
	own := runner.Client{Address: must.Have(runner.FindAddress(dir))(t)}
	if out, err := own.Call(t.Context(), "calculate_vacation_days", []byte(args)); err != nil || !strings.Contains(string(out.Result), "asked by local of , admin true") {
		t.Errorf("%s, %v", out.JSON(), err)
	}
}

// sessionOf opens an MCP session as a client that shows errors, which Void does not.
func sessionOf(t *testing.T, url, token string) string {
	t.Helper()
	resp := must.Open(t, "POST", url, strings.Replace(initialize, "toolnorm-client", "inspector", 1), "Content-Type: application/json", "Accept: application/json, text/event-stream", "Authorization: Bearer "+token)
	resp.Body.Close()
	return resp.Header.Get("Mcp-Session-Id")
}

// A stream of the older transport lives for hours; what counts is the token of each message.
func TestALegacyMessageIsAskedByItsOwnToken(t *testing.T) {
	clean(t, "")
	t.Setenv("TOOLNORM_JWT_SECRET", jwtSecret)
	m := serving(t, io.Discard, "--jwt-admin-role", "boss")
	askedBy(t, m)
	stream := must.Open(t, "GET", m.URL()+"/sse", "", "Authorization: Bearer "+tokenOf(t, "hong", "role", "boss"))
	defer stream.Body.Close()
	lines := bufio.NewScanner(stream.Body)
	at := ""
	for at == "" && lines.Scan() {
		at, _ = strings.CutPrefix(lines.Text(), "data: ")
		if !strings.HasPrefix(lines.Text(), "data: ") {
			at = ""
		}
	}
	demoted := tokenOf(t, "hong")
	for _, body := range []string{initialize, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"calculate_vacation_days","arguments":{"employee_id":"EMP001","year":2025}}}`} {
		if status, text := withToken(t, "POST", at, demoted, body); status != 202 {
			t.Fatalf("%d %s", status, text)
		}
	}
	if status, _ := withToken(t, "POST", at, tokenOf(t, "kim"), initialize); status != 404 {
		t.Errorf("another's message: status %d", status)
	}
	for lines.Scan() {
		if strings.Contains(lines.Text(), `"id":7`) {
			if !strings.Contains(lines.Text(), "asked by hong of acme, admin false") {
				t.Error(lines.Text())
			}
			return
		}
	}
	t.Error("no answer")
}

func TestTokensOpenTheServerToOtherMachines(t *testing.T) {
	clean(t, "")
	file := filepath.Join(t.TempDir(), "secret")
	must.Write(t, file, jwtSecret+"\n")
	var out log
	if _, err := started(t, &out, "--listen", "0.0.0.0:0", "--jwt-secret-file", file); err != nil || !strings.Contains(out.String(), `"jwt":true`) || strings.Contains(out.String(), jwtSecret) {
		t.Errorf("%v; the log is %s", err, out.String())
	}
	for want, args := range map[string][]string{
		"jwt-secret-file: open":                {"--jwt-secret-file", file + "x"},
		"jwt: the JWT secret has 5 bytes":      {"--jwt-secret", "short"},
		"jwt-audience, jwt-issuer and jwt-adm": {"--jwt-audience", "toolnorm"},
		"jwt-leeway: must be":                  {"--jwt-secret-file", file, "--jwt-leeway", "1h"},
		"jwt: JWT keys: open":                  {"--jwt-keys", file + "x"},
	} {
		if _, err := started(t, io.Discard, append(args, "--listen", "127.0.0.1:0")...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", args, err)
		}
	}
}

// Standard input has no headers: the settings say who asks, and with JWTs somebody must.
func TestWhoAsksOnStandardInput(t *testing.T) {
	clean(t, "")
	const frames = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":1,"method":"tools/list"}
`
	for _, row := range []struct{ secret, token, want string }{
		{"", "", ""},
		{jwtSecret, tokenOf(t, "hong"), ""},
		{jwtSecret, "", "one must say who asks"},
		{jwtSecret, "nonsense", "jwt-token: Invalid authentication credentials"},
		{"", tokenOf(t, "hong"), "must say how it is verified"},
	} {
		t.Setenv("TOOLNORM_JWT_SECRET", row.secret)
		t.Setenv("TOOLNORM_JWT_TOKEN", row.token)
		out, errs, err := ran(t, frames, "mcp", "--data", t.TempDir())
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) || err == nil && !strings.Contains(out, `"id":1`) {
			t.Errorf("%+v: %v; %s", row, err, out)
		}
		if err != nil && row.token != "" && strings.Contains(err.Error()+errs, row.token) && row.token != "nonsense" {
			t.Errorf("the token is shown: %v", err)
		}
	}
}

func TestOnlyAdminsManageTheServer(t *testing.T) {
	clean(t, "")
	t.Setenv("TOOLNORM_JWT_SECRET", jwtSecret)
	m := serving(t, io.Discard, "--jwt-admin-role", "boss")
	for path, want := range map[string]int{"/mcp/list": 200, "/debug": 200, "/admin/api/session": 200} {
		if status, body := withToken(t, "GET", m.URL()+path, tokenOf(t, "kim", "role", "boss"), ""); status != want {
			t.Errorf("%s, an admin: %d %s", path, status, body)
		}
		if status, body := withToken(t, "GET", m.URL()+path, tokenOf(t, "hong"), ""); status != 403 {
			t.Errorf("%s, somebody: %d %s", path, status, body)
		}
	}
}
