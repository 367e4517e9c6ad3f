package ollama

import (
	"strings"
	"testing"
)

// TestParseHost holds the rows of Ollama's own tables for a server's and for a client's address.
func TestParseHost(t *testing.T) {
	for in, want := range map[string]string{
		"":                                "http://127.0.0.1:11434",
		"1.2.3.4":                         "http://1.2.3.4:11434",
		":1234":                           "http://127.0.0.1:1234",
		"1.2.3.4:1234":                    "http://1.2.3.4:1234",
		"example.com":                     "http://example.com:11434",
		"example.com:1234":                "http://example.com:1234",
		":0":                              "http://127.0.0.1:0",
		":66000":                          "http://127.0.0.1:11434",
		":-1":                             "http://127.0.0.1:11434",
		"[::1]":                           "http://[::1]:11434",
		"[::]":                            "http://[::1]:11434",
		"::1":                             "http://[::1]:11434",
		"[::1]:1337":                      "http://[::1]:1337",
		" 1.2.3.4 ":                       "http://1.2.3.4:11434",
		"\"1.2.3.4\"":                     "http://1.2.3.4:11434",
		" \" 1.2.3.4 \" ":                 "http://1.2.3.4:11434",
		"'1.2.3.4'":                       "http://1.2.3.4:11434",
		"http://1.2.3.4":                  "http://1.2.3.4:80",
		"http://1.2.3.4:4321":             "http://1.2.3.4:4321",
		"https://1.2.3.4":                 "https://1.2.3.4:443",
		"https://1.2.3.4:4321":            "https://1.2.3.4:4321",
		"https://example.com/ollama":      "https://example.com:443/ollama",
		"http://example.com:8080/a/b/":    "http://example.com:8080/a/b",
		"ollama.com":                      "https://ollama.com:443",
		"127.0.0.1":                       "http://127.0.0.1:11434",
		"0.0.0.0":                         "http://127.0.0.1:11434",
		"0.0.0.0:1234":                    "http://127.0.0.1:1234",
		"[::]:1234":                       "http://[::1]:1234",
		"https://0.0.0.0:4321":            "https://127.0.0.1:4321",
		"localhost":                       "http://localhost:11434",
		"http://localhost:11434/":         "http://localhost:11434",
		"http://[fe80::1]:11434":          "http://[fe80::1]:11434",
		"[2001:db8::1]":                   "http://[2001:db8::1]:11434",
		"http://ollama.internal/v1/proxy": "http://ollama.internal:80/v1/proxy",
	} {
		if got, err := ParseHost(in); err != nil || got != want {
			t.Errorf("ParseHost(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
}

func TestParseHostRefuses(t *testing.T) {
	for in, names := range map[string]string{
		"ftp://1.2.3.4":          "ftp",
		"unix:///run/ollama":     "unix",
		"my host":                "my host",
		"http://[bad":            "bracket",
		"http://me:pw@host:1234": "me:pw@host",
	} {
		if got, err := ParseHost(in); err == nil || !strings.Contains(err.Error(), names) {
			t.Errorf("ParseHost(%q) = %q, %v, want an error that names %q", in, got, err, names)
		}
	}
}
