package admin

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolnorm/chat"
	"toolnorm/internal/auth"
	"toolnorm/internal/trace"
	"toolnorm/internal/usage"
)

func TestUsageIsListedAndDownloaded(t *testing.T) {
	u := usage.New(usage.Config{
		Where: filepath.Join(t.TempDir(), "history.db"), Days: 3, Warn: func(err error) { t.Error(err) },
		Named: func(model string, do func(name, server string)) { do(model, "") }, Asks: func(string) bool { return true },
	})
	s := New(Config{Usage: u})
	who := auth.WithPrincipal(context.Background(), &auth.Principal{Subject: `=cmd|'/c calc'!A1,"x"`})
	u.End(who, &trace.Sum{API: "chat", Model: "qwen3", Status: 200, Calls: 1, Tokens: chat.Counts{Prompt: 9, Cached: 5, Completion: 2}})
	today := time.Now().Format(time.DateOnly)
	for path, want := range map[string]string{
		"usage":        `{"rows":[{"day":"` + today + `","caller":"=cmd|'/c calc'!A1,\"x\"","model":"qwen3","requests":1,"failed":0,"calls":1,"prompt_tokens":9,"cached_tokens":5,"completion_tokens":2}],"kept":true}`,
		"usage?as=csv": "day,caller,model,requests,failed,calls,prompt_tokens,cached_tokens,completion_tokens\n" + today + `,"'=cmd|'/c calc'!A1,""x""",qwen3,1,0,1,9,5,2`,
	} {
		if status, body := asked(t, s, "GET", "/admin/api/"+path, ""); status != 200 || strings.TrimSpace(body) != want {
			t.Errorf("%s: %d %s\nwant %s", path, status, body, want)
		}
	}
	for _, path := range []string{"usage?days=0", "usage?days=x", "usage?as=xls"} {
		answers(t, s, "GET", "/admin/api/"+path, "", 400, "")
	}
	answers(t, New(Config{}), "GET", "/admin/api/usage", "", 200, `{"rows":[],"kept":false}`)
}
