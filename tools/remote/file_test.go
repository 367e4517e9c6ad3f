package remote

import (
	"net/netip"
	"strings"
	"testing"
)

func TestTheFileKeepsItsFormAndWhatIsNotKnown(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"nothing", "", "[\n  {\"name\":\"n\",\"url\":\"http://h/sse\"}\n]\n"},
		{"a list", `[{"name":"tts","note":"mine","url":"http://192.168.0.18:23016/sse"}]`,
			"[\n  {\"name\":\"tts\",\"note\":\"mine\",\"url\":\"http://192.168.0.18:23016/sse\"},\n  {\"name\":\"n\",\"url\":\"http://h/sse\"}\n]\n"},
		{"a server that is there", `[{"url":"http://h/old","headers":{"A":"b"},"name":"n","x":1}]`,
			"[\n  {\"url\":\"http://h/sse\",\"headers\":{\"A\":\"b\"},\"name\":\"n\",\"x\":1}\n]\n"},
		{"a server that moves to another host leaves its keys", `[{"name":"n","url":"http://other/old","headers":{"A":"b"}}]`,
			"[\n  {\"name\":\"n\",\"url\":\"http://h/sse\"}\n]\n"},
		{"an object", `{"inputs":[1],"mcpServers":{"fs":{"command":"npx","args":["-y"]}}}`,
			"{\n  \"inputs\": [\n    1\n  ],\n  \"mcpServers\": {\n    \"fs\": {\n      \"command\": \"npx\",\n      \"args\": [\n        \"-y\"\n      ]\n    },\n    \"n\": {\n      \"url\": \"http://h/sse\"\n    }\n  }\n}\n"},
	} {
		f, err := parse([]byte(tt.in))
		if err == nil {
			err = f.put(Entry{Name: "n", URL: "http://h/sse"})
		}
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got, err := f.encode(); err != nil || string(got) != tt.want {
			t.Errorf("%s: %s, %v, want\n%s", tt.name, got, err, tt.want)
		}
	}
}

func TestTheFileSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		`7`:                                        "must be a list",
		`[{}]`:                                     "server 0 has no name",
		`[{"name":"a.b","url":"http://h"}]`:        "A-Z a-z 0-9 _ and -",
		`[{"name":"local","url":"http://h"}]`:      "come with the program",
		`[{"name":"a","url":"ftp://h"}]`:           "http:// or https://",
		`[{"name":"a","url":"http://u:p@h"}]`:      "headers",
		`[{"name":"a","url":"http://h","args":3}]`: `server "a"`,
		`[{"name":"a","url":"http://h"},{"name":"a","url":"http://h"}]`: "twice",
		`{}`:                        "mcpServers",
		`{"mcpServers":{"a":{}}}`:   "either a url or a command",
		`[{"name":"a","name":"b"}]`: "twice",
		`[{"name":"a","url":"http://169.254.169.254/latest"}]`: "no MCP server may be at",
	} {
		if _, err := parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parse(%s) = %v, want %q in it", text, err, want)
		}
	}
}

func TestWhatIsSecretIsNotShown(t *testing.T) {
	t.Setenv("KEY", "s3cret")
	e := Entry{URL: "https://h/mcp?key=s3cret&env=${KEY}&empty="}
	if got := e.shown(); got != "https://h/mcp?key=…&env=${KEY}&empty=" {
		t.Errorf("shown = %s", got)
	}
	full, err := Entry{URL: "https://${HOST:-h}/${env:KEY}", Headers: map[string]string{"A": "Bearer ${KEY}"}}.filled()
	if err != nil || full.URL != "https://h/s3cret" || full.Headers["A"] != "Bearer s3cret" {
		t.Errorf("filled = %+v, %v", full, err)
	}
}

func TestWhereAServerMayBe(t *testing.T) {
	no := false
	public, private, mapped := "public", "private", "never"
	for text, want := range map[string]string{
		"8.8.8.8": public, "2606:4700::1111": public, "127.0.0.1": private, "::1": private, "10.1.2.3": private, "192.168.0.18": private,
		"172.31.0.1": private, "100.64.0.1": private, "fd12::1": private, "::ffff:10.0.0.1": private, "64:ff9b::a00:1": private, "2002:a00:1::": private,
		"169.254.169.254": mapped, "::ffff:169.254.169.254": mapped, "64:ff9b::a9fe:a9fe": mapped, "fe80::1": mapped, "fe80::1%eth0": mapped, "0.0.0.0": mapped, "::": mapped,
		"224.0.0.1": mapped, "ff02::1": mapped, "255.255.255.255": mapped, "fd00:ec2::254": mapped, "100.100.100.200": mapped, "168.63.129.16": mapped,
	} {
		ip := netip.MustParseAddr(text)
		got := public
		switch {
		case (Entry{URL: "https://h"}).allows(ip) != nil:
			got = mapped
		case (Entry{URL: "https://h", Private: &no}).allows(ip) != nil:
			got = private
		}
		if got != want {
			t.Errorf("%s is taken for %s, want %s", text, got, want)
		}
	}
	if (Entry{URL: "http://h"}).allows(netip.MustParseAddr("8.8.8.8")) == nil {
		t.Error("plain http goes to a public address")
	}
}

func TestEveryToolHasANameThatIsItsOwn(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"add", "a b", "a/b", "a_b", "날씨", "시간", strings.Repeat("x", 200), strings.Repeat("x", 201)} {
		q := qualified("s", name)
		if other, taken := seen[q]; taken || len(q) > 128 || !strings.HasPrefix(q, "s.") {
			t.Errorf("%q is called %q, as is %q", name, q, other)
		}
		seen[q] = name
	}
}

// FuzzFile reads whatever may stand in the file: what is taken, comes back from a save as the same servers.
func FuzzFile(f *testing.F) {
	for _, text := range []string{"", "[]", `[{"name":"a","url":"http://h/sse","x":[1,{"y":null}]}]`, `{"mcpServers":{"a":{"command":"c","env":{"K":"${V}"}}},"z":1}`, `[{"name":"a","url":"http://h","private":false}]`, "\ufeff[]", `[{"name":"a","name":"b"}]`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := parse([]byte(text))
		if err != nil {
			return
		}
		once, err := a.encode()
		if err != nil {
			t.Fatalf("encode(%q): %v", text, err)
		}
		b, err := parse(once)
		if err != nil {
			t.Fatalf("parse(%q), saved from %q: %v", once, text, err)
		}
		if len(a.servers) != len(b.servers) || a.isObject != b.isObject {
			t.Fatalf("%q became %q", text, once)
		}
		for i := range a.servers {
			if !a.servers[i].entry.same(b.servers[i].entry) || a.servers[i].entry.Name != b.servers[i].entry.Name {
				t.Errorf("%q became %q", text, once)
			}
		}
		if twice, _ := b.encode(); string(twice) != string(once) {
			t.Errorf("a second save writes %q, the first %q", twice, once)
		}
	})
}
