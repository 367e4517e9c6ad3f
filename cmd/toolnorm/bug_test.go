package main

import (
	"io"
	"slices"
	"strings"
	"testing"
)

// TestSecretsStayOutOfReports gives every setting that may hold a secret one, in each of the places
// where settings stand.
func TestSecretsStayOutOfReports(t *testing.T) {
	path := clean(t, "api-keys: [sk-of-a-file-hidden-1]\nupstreams:\n  - {name: box, url: 'openai+http://127.0.0.1:1/v1'}\n")
	t.Setenv("TOOLNORM_ADMIN_KEY", "sk-of-a-variable-hidden-4")
	t.Setenv("HOME", "/home/private-name")
	var out strings.Builder
	m := NewMain(&out, io.Discard)
	err := m.ParseFlags([]string{
		"bug", "--config", path, "--ollama", "127.0.0.1:1", "--jwt-secret", strings.Repeat("hidden-5", 5), "--data=/home/private-name/data",
		"--store", "postgres://ann:hidden-6@db/x?password=hidden-7", "--connection", "crm=postgres://ann:hidden-8@db/crm", "--chromadb-header", "x=hidden-9",
		"--text-embedding-model-key=hidden-10", "--kb-rerank-key=hidden-11", "--postgresql-db-pass=hidden-12",
	})
	if err == nil {
		err = m.instead()
	}
	if got := out.String(); err != nil || strings.Contains(got, "hidden-") || strings.Contains(got, "private-name") {
		t.Errorf("%v: the report tells a secret:\n%s", err, got)
	}
	for _, want := range []string{
		"- toolnorm ", "- server ollama: Ollama cannot be reached", "- api-keys = (1, hidden) (" + path + ", line 1: api-keys)", "- admin-key = (1, hidden) (TOOLNORM_ADMIN_KEY)",
		"- store = postgres://…@db/x?password=… (--store)", "- data = ~/data (--data)", "upstreams: box",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, out.String())
		}
	}
	for _, flag := range m.given.flags {
		named := slices.ContainsFunc([]string{"key", "secret", "pass", "token", "header"}, func(word string) bool {
			return slices.Contains(strings.FieldsFunc(flag.Name, func(r rune) bool { return r == '-' }), word) || strings.HasSuffix(flag.Name, "-"+word+"s")
		})
		open := []string{"jwt-keys", "jwt-secret-file", "admin-key-file", "key-env", "insecure-no-keys", "agent-tokens", "agent-tool-tokens"}
		if named && !slices.Contains(open, flag.Name) && !slices.Contains(secretSettings, flag.Name) {
			t.Errorf("is %s secret? It belongs in hidden, in bug.go, or in this list", flag.Name)
		}
	}
}

func TestAReportWithoutSettingsSaysSo(t *testing.T) {
	clean(t, "")
	if got := printed(t, "bug", "--demo=auto"); !strings.Contains(got, "- demo = auto (--demo)") || !strings.Contains(got, "### What happened") {
		t.Errorf("%s", got)
	}
	if got := printed(t, "bug"); !strings.Contains(got, "all have their defaults") {
		t.Errorf("%s", got)
	}
}
