package main

import (
	"io"
	"strings"
	"testing"
)

func TestAnAdminKeyOpensAdmin(t *testing.T) {
	const apiKey, adminKey = "sk-0123456789abcdef", "ad-0123456789abcdef"
	for _, tt := range []struct {
		name string
		args []string
		want map[string]int // by "path key"
	}{
		{"no keys", nil, map[string]int{"/admin ": 200, "/admin/api/session ": 200, "/adminx ": 404}},
		{"API keys", []string{"--api-keys", apiKey}, map[string]int{
			"/admin ": 200, "/admin/api/session ": 401, "/admin/api/session " + apiKey: 200, "/admin/api/session " + adminKey: 401,
		}},
		{"both", []string{"--api-keys", apiKey, "--admin-key", adminKey}, map[string]int{
			"/admin ": 200, "/admin/api/session ": 401, "/admin/api/session " + apiKey: 403, "/admin/api/session " + adminKey: 200,
			"/v1/models " + adminKey: 200, "/v1/models " + apiKey: 200,
		}},
		{"an admin key", []string{"--admin-key", adminKey}, map[string]int{
			"/admin/api/session ": 401, "/admin/api/session " + adminKey: 200, "/v1/models ": 200,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			clean(t, "")
			m, err := started(t, io.Discard, append(tt.args, "--listen", "127.0.0.1:0", "--data", t.TempDir())...)
			if err != nil {
				t.Fatal(err)
			}
			for ask, want := range tt.want {
				path, key, _ := strings.Cut(ask, " ")
				got := status(t, m.URL()+path, key)
				if got != want {
					t.Errorf("%s: %d, want %d", ask, got, want)
				}
			}
		})
	}
}
