package main

import (
	"path/filepath"
	"strings"
	"testing"

	"toolnorm/internal/test/must"

	"go.yaml.in/yaml/v3"
)

func TestOnlyWithKeysOthersMayReachTheServer(t *testing.T) {
	for _, row := range []struct {
		listen, keys string
		args         []string
		want         string // of the error
		log          string
	}{
		{"127.0.0.1:0", "", nil, "", `"message":"serving"`},
		{"[::1]:0", "", nil, "", `"message":"serving"`},
		{"0.0.0.0:0", "", nil, "no API key is set", ""},
		{":0", "", nil, "no API key is set", ""},
		{"[::]:0", "", nil, "no API key is set", ""},
		{"0.0.0.0:0", "", []string{"--insecure-no-keys"}, "", "no API key is set"},
		{"0.0.0.0:0", "sk-0123456789abcdef", nil, "", `"api_keys":1`},
		{"0.0.0.0:0", "", []string{"--published", "127.0.0.1"}, "", `"message":"serving"`},
		{"0.0.0.0:0", "", []string{"--published", "::1"}, "", `"message":"serving"`},
		{"0.0.0.0:0", "", []string{"--published", "0.0.0.0"}, "other machines can reach 0.0.0.0, but no API key is set", ""},
		{"0.0.0.0:0", "", []string{"--published", "192.168.1.4"}, "no API key is set", ""},
		{"0.0.0.0:0", "sk-0123456789abcdef", []string{"--published", "0.0.0.0"}, "", `"api_keys":1`},
		{"0.0.0.0:0", "", []string{"--published", "localhost"}, "is not an IP address", ""},
		{"127.0.0.1:0", "secret", nil, "api-keys: key 1: a key needs at least 16 characters", ""},
	} {
		clean(t, "")
		t.Setenv("TOOLNORM_API_KEYS", row.keys)
		var out log
		_, err := started(t, &out, append(row.args, "--listen", row.listen)...)
		if row.want == "" && err != nil && strings.Contains(err.Error(), "cannot assign") {
			continue // no IPv6 here
		}
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%+v: error %v", row, err)
		}
		if !strings.Contains(out.String(), row.log) || row.keys != "" && strings.Contains(out.String(), row.keys) {
			t.Errorf("%+v: the log is %s", row, out.String())
		}
	}
}

// TestTheContainersPortsAreOfThisMachine holds that what docker-compose.yml publishes is what it
// tells the program, and that nothing in it lets everybody in.
func TestTheContainersPortsAreOfThisMachine(t *testing.T) {
	text := must.Read(t, "../../docker-compose.yml")
	var file struct {
		Services map[string]struct {
			Environment map[string]string
			Ports       []string
		}
	}
	must.OK(t, yaml.Unmarshal(text, &file))
	const published = "${TOOLNORM_PUBLISH:-127.0.0.1}"
	for name, s := range file.Services {
		for _, port := range s.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:") && (name != "toolnorm" || !strings.HasPrefix(port, published+":")) {
				t.Errorf("%s publishes %s", name, port)
			}
		}
	}
	env := file.Services["toolnorm"].Environment
	if env["TOOLNORM_PUBLISHED"] != published || env["TOOLNORM_INSECURE_NO_KEYS"] != "" || len(file.Services["toolnorm"].Ports) != 1 {
		t.Errorf("the program is told %q", env)
	}
}

func TestEveryPathButTheHealthCheckWantsAKey(t *testing.T) {
	file := filepath.Join(t.TempDir(), "keys")
	must.Write(t, file, "sk-0123456789abcdef\n")
	m := fresh(t, "--api-keys-file", file)
	for path, want := range map[string]int{
		"/healthz": 200, "/v1/models": 401, "/v1/chat/completions": 401, "/debug": 401, "/version": 401, "/": 401, "/api/tags": 401, "/nowhere": 401,
	} {
		for key, want := range map[string]int{"": want, "sk-0123456789abcdef": 0} {
			got := status(t, m.URL()+path, key)
			if want != 0 && got != want || want == 0 && got == 401 {
				t.Errorf("%s with key %q: %d, want %d", path, key, got, want)
			}
		}
	}
}
