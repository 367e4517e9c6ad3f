package main

import (
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"toolnorm/internal/auth"
	"toolnorm/internal/test/must"
	"toolnorm/tools/kb"
	"toolnorm/tools/kb/kbstore"
)

// TestThePlanOfAnAgentIsThatOfItsModel holds what the page Models shows of names that the agent
// answers.
func TestThePlanOfAnAgentIsThatOfItsModel(t *testing.T) {
	m := fresh(t, "--data", t.TempDir(), "--alias", "helper=demo/hermes@agent")
	status, got := withToken(t, "POST", m.URL()+"/v1/chat/completions", "", `{"model":"helper","messages":[{"role":"user","content":"Hi"}]}`)
	if status != 200 {
		t.Fatalf("%d %s", status, got)
	}
	want := regexp.MustCompile(`"id":"helper"[^}]*"server":"demo","format":"hermes"[^}]*"used":"hermes, raw"`)
	eventually(t, "the list does not say how helper was read", func() bool {
		_, got := withToken(t, "GET", m.URL()+"/admin/api/models", "", "")
		return want.MatchString(got)
	})
}

// TestAKnowledgeBaseIsAModel asks kb/NAME as a chat client would: from the list, with an answer
// that cites pages which open, and by nobody who may not see the base.
func TestAKnowledgeBaseIsAModel(t *testing.T) {
	clean(t, "")
	t.Setenv("TOOLNORM_JWT_SECRET", jwtSecret)
	m := serving(t, io.Discard, "--data", t.TempDir(), "--model", "demo/hermes", "--list-suffixes", "agent", "--alias", "manual=kb/The office")
	b := must.Have(m.toolbox.KB.Store.Create(t.Context(), kbstore.Base{Name: "The office", Tenant: "acme"}))(t)
	dir := t.TempDir()
	must.Write(t, filepath.Join(dir, "printer.md"), "# Printer\n\nThe printer on the first floor needs toner <TN-2420>.\n")
	must.Have(m.toolbox.KB.Import(auth.WithPrincipal(t.Context(), auth.Local()), kb.Import{Base: b, Files: os.DirFS(dir), Sources: []string{"printer.md"}, Access: kbstore.Access{Tenant: "acme", Public: true}}))(t)
	must.OK(t, m.toolbox.KB.Offer(t.Context(), m.toolbox.Registry))
	hong, foreign := tokenOf(t, "hong"), tokenOf(t, "kim", "tenant_id", "other")
	for _, path := range []string{"/v1/models", "/api/tags"} {
		if _, got := withToken(t, "GET", m.URL()+path, hong, ""); !strings.Contains(got, `"kb/The office"`) || !strings.Contains(got, `"demo/hermes@agent"`) {
			t.Errorf("%s: %s", path, got)
		}
		if _, got := withToken(t, "GET", m.URL()+path, foreign, ""); strings.Contains(got, "office") {
			t.Errorf("%s shows what another tenant has: %s", path, got)
		}
	}
	for _, model := range []string{"kb/The office", "kb/the office", "manual"} {
		ask := `{"model":"` + model + `","messages":[{"role":"user","content":"Which toner does the printer need?"}]}`
		status, got := withToken(t, "POST", m.URL()+"/v1/chat/completions", hong, ask)
		link := regexp.MustCompile(`\[Printer\]\((http://[^)]+)\)`).FindStringSubmatch(got)
		if status != 200 || link == nil {
			t.Fatalf("%s: %d %s", model, status, got)
		}
		if status, got := withToken(t, "POST", m.URL()+"/api/chat", hong, strings.Replace(ask, `{`, `{"stream":false,`, 1)); status != 200 || !strings.Contains(got, "[Printer](http://") {
			t.Errorf("%s by Ollama's API: %d %s", model, status, got)
		}
		if status, got := withToken(t, "POST", m.URL()+"/v1/messages", hong, strings.Replace(ask, `{`, `{"max_tokens":500,`, 1)); status != 200 || !strings.Contains(got, "[Printer](http://") {
			t.Errorf("%s by Anthropic's API: %d %s", model, status, got)
		}
		if status, got := withToken(t, "GET", m.URL()+"/v1/models/"+url.PathEscape(model), hong, ""); status != 200 && model != "kb/the office" {
			t.Errorf("%s: %d %s", model, status, got)
		}
		if status, page := withToken(t, "GET", link[1], hong, ""); status != 200 || !strings.Contains(page, "&lt;TN-2420&gt;") || !strings.Contains(page, `class="cited"`) {
			t.Errorf("the page of a citation: %d %s", status, page)
		}
		if status, page := withToken(t, "GET", link[1], foreign, ""); status != 404 || strings.Contains(page, "TN-2420") {
			t.Errorf("the page for another tenant: %d %s", status, page)
		}
		if status, got := withToken(t, "POST", m.URL()+"/v1/chat/completions", foreign, ask); status != 404 || !strings.Contains(got, "there is no knowledge base") {
			t.Errorf("another tenant: %d %s", status, got)
		}
	}
}

// TestAliasesAreCheckedAtTheStart tells of an alias whose model no server has, and refuses a suffix
// that there is not.
func TestAliasesAreCheckedAtTheStart(t *testing.T) {
	clean(t, "")
	var log log
	m := serving(t, &log, "--data", t.TempDir(), "--alias", "a=demo/nosuch@agent", "--alias", "b=demo/hermes@agent", "--alias", "c=demo/hermes@agnet", "--list-suffixes", "shell")
	eng := m.now.Load().engine
	checkAliases(m.log, m.Config.Alias, eng, "demo", must.Have(eng.Models(t.Context()))(t))
	got := log.String()
	for alias, told := range map[string]bool{"a": true, "b": false, "c": true} {
		if strings.Contains(got, `"alias":"`+alias+`"`) != told {
			t.Errorf("%s: %v\n%s", alias, told, got)
		}
	}
	if err := checkSuffixes([]string{"agents"}); err == nil || !strings.Contains(err.Error(), "@agent, @shell") {
		t.Error(err)
	}
}
