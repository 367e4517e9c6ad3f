package kb

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolnorm/internal/auth"
	"toolnorm/internal/ocr"
	"toolnorm/internal/test/must"
	"toolnorm/internal/toolargs"
	"toolnorm/tools"
	"toolnorm/tools/kb/kbstore"
)

// registry has the two tools of this file, over a store with a base of the tenant acme.
func registry(t *testing.T, n *ocr.Normalizer, b kbstore.Base) (*tools.Registry, *kbstore.Store, kbstore.Base) {
	t.Helper()
	s := must.Have(kbstore.OpenStore(t.Context(), filepath.Join(t.TempDir(), "kb.db")))(t)
	t.Cleanup(func() { _ = s.Close() })
	b.Tenant = "acme"
	made := must.Have(s.Create(t.Context(), b))(t)
	r := tools.New(tools.Options{Fit: new(toolargs.Reader).Fit})
	at := func() time.Time { return time.Date(2025, 11, 8, 19, 30, 45, 123456789, time.FixedZone("JST", 9*3600)) }
	must.OK(t, r.Set("kb", new(Config).getKnowledgeBaseSummary(s, at), normalizeOCRText(n)))
	return r, s, made
}

// as is a context in which somebody asks.
func as(t *testing.T, p *auth.Principal) context.Context { return auth.WithPrincipal(t.Context(), p) }

var acme = &auth.Principal{Subject: "hong", Tenant: "acme"}

// args are the arguments of a call.
func args(t *testing.T, v map[string]any) json.RawMessage {
	t.Helper()
	return must.Have(json.Marshal(v))(t)
}

// TestTheSampleOfTheSummary is the specification's sample, but for the id.
func TestTheSampleOfTheSummary(t *testing.T) {
	r, s, b := registry(t, new(ocr.Normalizer), kbstore.Base{Name: "マイナビサービス概要", Description: "マイナビが提供する各種サービスの説明資料"})
	for i, documents := range []int{7, 5, 3} {
		c := must.Have(s.Collect(t.Context(), b.ID, string(rune('a'+i))))(t)
		for n := range documents {
			d := kbstore.Document{Collection: c, Source: string(rune('a' + n)), Access: kbstore.Access{Tenant: "acme", Public: true}}
			chunks := make([]kbstore.Chunk, 22+map[bool]int{true: 12}[i == 2 && n == 2])
			must.OK(t, s.Put(t.Context(), b.ID, &d, chunks))
		}
	}
	want := `{"knowledge_base_id":"` + b.ID + `","summary":"マイナビサービス概要: マイナビが提供する各種サービスの説明資料","statistics":{"total_documents":15,"total_collections":3,"total_chunks":342},"generated_at":"2025-11-08T10:30:45.123456Z"}`
	res := r.Call(as(t, acme), "get_knowledge_base_summary", args(t, map[string]any{"knowledge_base_id": b.ID}))
	if res.IsError || string(res.Structured) != want || res.Text() != want {
		t.Errorf("got %s %s", res.Text(), res.Structured)
	}
}

func TestAnEmptyKnowledgeBaseIsAWarning(t *testing.T) {
	r, s, b := registry(t, new(ocr.Normalizer), kbstore.Base{Name: "Handbook"})
	ask := func() string {
		return r.Call(as(t, auth.Local()), "get_knowledge_base_summary", args(t, map[string]any{"knowledge_base_id": b.ID})).Text()
	}
	if got := ask(); !strings.Contains(got, `"summary":"Handbook","statistics":{"total_documents":0,"total_collections":0,"total_chunks":0}`) || !strings.Contains(got, `"warnings":["No collections found","No documents found"]`) {
		t.Errorf("got %s", got)
	}
	must.Have(s.Collect(t.Context(), b.ID, "files"))(t)
	if got := ask(); !strings.Contains(got, `"total_collections":1`) || !strings.Contains(got, `"warnings":["No documents found"]`) {
		t.Errorf("got %s", got)
	}
}

// TestTheErrorsOfTheSummaryAndOCR are the specification's table, in its order of checks: who asks,
// the arguments, whether the base exists, whether it may be seen, the store.
func TestTheErrorsOfTheSummaryAndOCR(t *testing.T) {
	r, s, b := registry(t, new(ocr.Normalizer), kbstore.Base{Name: "Handbook"})
	const none = "cf23c222-b024-4533-81aa-52e4f673281e"
	check := func(who *auth.Principal, tool string, v map[string]any, want string) {
		t.Helper()
		res := r.Call(as(t, who), tool, args(t, v))
		if !res.IsError || res.Text() != want || string(res.Structured) != want {
			t.Errorf("%s %v by %+v: %v %s %s, want %s", tool, v, who, res.IsError, res.Text(), res.Structured, want)
		}
	}
	base := func(id string) map[string]any { return map[string]any{"knowledge_base_id": id} }
	const sum = "get_knowledge_base_summary"
	check(nil, sum, base("x"), `{"status_code":401,"message":"Invalid authentication credentials"}`)
	check(acme, sum, base("x"), `{"status_code":400,"message":"knowledge_base_id must be a UUID","hint":"one of these names will do: Handbook"}`)
	check(acme, sum, base(none), `{"status_code":404,"message":"Knowledge base not found"}`)
	check(&auth.Principal{Tenant: "other"}, sum, base(b.ID), `{"status_code":403,"message":"Access denied to this knowledge base"}`)
	check(&auth.Principal{Tenant: "acme", Bases: []string{none}}, sum, base(b.ID), `{"status_code":403,"message":"Access denied to this knowledge base"}`)
	check(&auth.Principal{Tenant: "acme", Bases: []string{none}}, sum, base(none), `{"status_code":404,"message":"Knowledge base not found"}`)
	check(acme, "normalize_ocr_text", map[string]any{"text": "カメラ-レンズ"}, `{"status_code":503,"message":"LLM service unavailable"}`)
	check(acme, "normalize_ocr_text", map[string]any{"text": strings.Repeat("ー", 10_001)}, `{"status_code":400,"message":"Text too long (max 10000 chars)"}`)
	must.OK(t, s.Close())
	check(acme, sum, base(b.ID), `{"status_code":503,"message":"Knowledge base store unavailable"}`)
	// What the specification has no words for is the schema's to say.
	for _, v := range []map[string]any{{"knowledge_base_id": none, "tenant": "other"}} {
		if res := r.Call(as(t, acme), sum, args(t, v)); !res.IsError || res.Structured != nil {
			t.Errorf("%v: %s", v, res.Text())
		}
	}
}

// TestTheSamplesOfOCR are the specification's, with the shape of the result.
func TestTheSamplesOfOCR(t *testing.T) {
	r, _, _ := registry(t, new(ocr.Normalizer), kbstore.Base{Name: "x"})
	for in, want := range map[string]string{
		"マネ-ジャ-":       `{"original_text":"マネ-ジャ-","normalized_text":"マネージャー","status":"success","changes":[{"offset":2,"from":"-","to":"ー","by":"rule"},{"offset":5,"from":"-","to":"ー","by":"rule"}],"ambiguous":0,"warnings":[]}`,
		"self-service": `{"original_text":"self-service","normalized_text":"self-service","status":"success","changes":[],"ambiguous":0,"warnings":[]}`,
		"e-mail":       `{"original_text":"e-mail","normalized_text":"e-mail","status":"success","changes":[],"ambiguous":0,"warnings":[]}`,
	} {
		if res := r.Call(as(t, acme), "normalize_ocr_text", args(t, map[string]any{"text": in})); res.IsError || string(res.Structured) != want {
			t.Errorf("%s: %s", in, res.Text())
		}
	}
	for in, want := range map[string]string{"ユ-ザ-": "ユーザー", "サ-ビス（service）のガイドライン": "サービス（service）のガイドライン"} {
		if res := r.Call(as(t, acme), "normalize_ocr_text", args(t, map[string]any{"text": in})); !strings.Contains(res.Text(), `"normalized_text":"`+want+`","status":"success"`) {
			t.Errorf("%s: %s", in, res.Text())
		}
	}
}

func TestAKnowledgeBaseIsMeantByItsNameOrAlone(t *testing.T) {
	r, s, first := registry(t, new(ocr.Normalizer), kbstore.Base{Name: "Office", Description: "rules"})
	ask := func(who *auth.Principal, v map[string]any) string {
		return r.Call(as(t, who), "get_knowledge_base_summary", args(t, v)).Text()
	}
	for _, v := range []map[string]any{{}, {"knowledge_base_id": ""}, {"knowledge_base_id": "office"}, {"knowledge_base_id": first.ID}} {
		if got := ask(acme, v); !strings.Contains(got, first.ID) {
			t.Errorf("%v: %s", v, got)
		}
	}
	// Another tenant's base neither takes part nor shows.
	must.Have(s.Create(t.Context(), kbstore.Base{Name: "Secret", Tenant: "other"}))(t)
	if got := ask(acme, nil); !strings.Contains(got, first.ID) {
		t.Errorf("with another tenant's base: %s", got)
	}
	must.Have(s.Create(t.Context(), kbstore.Base{Name: "HR", Tenant: "acme"}))(t)
	const which = `{"status_code":400,"message":"knowledge_base_id is missing","hint":"one of these names will do: HR, Office (rules)"}`
	if got := ask(acme, nil); got != which {
		t.Errorf("with two: %s", got)
	}
	if got := ask(acme, map[string]any{"knowledge_base_id": "Secret"}); strings.Contains(got, "Secret") || !strings.Contains(got, "must be a UUID") {
		t.Errorf("another tenant's name: %s", got)
	}
}
