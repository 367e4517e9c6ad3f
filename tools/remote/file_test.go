package remote

import (
	"encoding/binary"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"toolnorm/internal/test/must"
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

// read is the file of a text.
func read(t *testing.T, text string) *file {
	t.Helper()
	f, err := parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return f
}

func TestAServerThatCannotBeUsedIsLeftOutAlone(t *testing.T) {
	for entry, want := range map[string]string{
		`{}`:                                                 "has no name",
		`{"name":"local","url":"http://h"}`:                  "come with the program",
		`{"name":"a","url":"ftp://h"}`:                       "http:// or https://",
		`{"name":"a","url":"http://u:p@h"}`:                  "headers",
		`{"name":"a","url":"http://h","args":{"x":1}}`:       "args must be a list",
		`{"name":"a","command":"c","args":"a b"}`:            "args must be a list",
		`{"name":"good","url":"http://h"}`:                   "twice",
		`{"name":"a"}`:                                       "either a url or a command",
		`{"name":"a","name":"b"}`:                            "twice",
		`{"name":"a","url":"http://169.254.169.254/latest"}`: "no MCP server may be at",
		`7`:                               "must be an object",
		`null`:                            "must be an object",
		`"http://h"`:                      "must be an object",
		`{"name":"a","serverUrl":7.5e1}`:  "serverUrl must be a text",
		`{"name":"a","url":["http://h"]}`: "url must be a text",
		`{"name":"a","url":"http://h","disabled":"perhaps"}`:  "true or false",
		`{"name":"a","url":"http://h","type":"carrier"}`:      "sse, http or stdio",
		`{"name":"a","url":"http://h","headers":{"A":["b"]}}`: "object of texts",
	} {
		f := read(t, `[{"name":"good","url":"http://h"},`+entry+`,{"name":"other","command":"c"}]`)
		if w := f.servers[1]; w.err == nil || !strings.Contains(w.err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", entry, w.err, want)
		}
		if f.servers[0].err != nil || f.servers[2].err != nil {
			t.Errorf("beside %s: %v, %v", entry, f.servers[0].err, f.servers[2].err)
		}
	}
}

func TestTheFileSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{`7`: "must be a list", `{}`: "mcpServers", `{"mcpServers":7}`: "mcpServers", "[\n{]": "line 2", `"x"`: "must be a list", "{\"a\":\n{\"b\":1}\n": "line 2: the file ends before every bracket is closed", `{"a":1`: "line 1: the file ends",
		"{\"a\": \"b\n": "line 1", "[\n{}": "line 2"} {
		if _, err := parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parse(%s) = %v, want %q in it", text, err, want)
		}
	}
}

// TestTheSpellingsOfOtherProgramsAreRead has the form of each program's own documents.
func TestTheSpellingsOfOtherProgramsAreRead(t *testing.T) {
	url := Entry{Name: "a", URL: "http://h/mcp"}
	web := Entry{Name: "a", URL: "http://h/mcp", Type: "http"}
	run := Entry{Name: "a", Command: "npx", Args: []string{"-y", "x"}}
	env := Entry{Name: "a", Command: "npx", Args: []string{"-y", "x"}, Env: map[string]string{"K": "v"}}
	off := Entry{Name: "a", URL: "http://h/mcp", Disabled: true}
	for _, tt := range []struct {
		program, text string
		want          Entry
	}{
		{"Cline", `{"mcpServers":{"a":{"type":"streamableHttp","url":"http://h/mcp","disabled":false,"autoApprove":[]}}}`, web},
		{"Roo", `{"mcpServers":{"a":{"type":"streamable-http","url":"http://h/mcp"}}}`, web},
		{"VS Code", `{"inputs":[],"servers":{"a":{"type":"http","url":"http://h/mcp"}}}`, web},
		{"VS Code's settings", `{"editor.fontSize":1,"mcp":{"inputs":[],"servers":{"a":{"type":"stdio","command":"npx","args":["-y","x"]}}}}`, Entry{Name: "a", Type: "stdio", Command: "npx", Args: []string{"-y", "x"}}},
		{"Windsurf", `{"mcpServers":{"a":{"serverUrl":"http://h/mcp"}}}`, url},
		{"Gemini CLI", `{"theme":"x","mcpServers":{"a":{"httpUrl":"http://h/mcp","timeout":5000,"trust":true}}}`, web},
		{"Zed", `{"context_servers":{"a":{"source":"custom","command":"npx","args":["-y","x"],"env":{"K":"v"}}}}`, env},
		{"Zed, older", `{"context_servers":{"a":{"command":{"path":"npx","args":["-y","x"],"env":{"K":"v"}},"settings":{}}}}`, env},
		{"VS Code's file of variables", `{"servers":{"a":{"command":"x","envFile":"/e/.env"}}}`, Entry{Name: "a", Command: "x", EnvFile: "/e/.env"}},
		{"opencode", `{"mcp":{"a":{"type":"local","command":["npx","-y","x"],"environment":{"K":"v"},"enabled":true}}}`, Entry{Name: "a", Type: "stdio", Command: "npx", Args: []string{"-y", "x"}, Env: map[string]string{"K": "v"}}},
		{"opencode, remote", `{"mcp":{"a":{"type":"remote","url":"http://h/mcp","enabled":false}}}`, off},
		{"Continue", `{"mcpServers":[{"name":"a","command":"npx","args":["-y","x"]}]}`, run},
		{"comments", "{\n// mine\n\"mcpServers\": { /* one */ \"a\": {\"url\": \"http://h/mcp\",},\n},\n}", url},
		{"commas", `[{"name":"a","url":"http://h/mcp",},]`, url},
		{"a mark", "\ufeff[{\"name\":\"a\",\"url\":\"http://h/mcp\"}]", url},
		{"UTF-16", wide(`[{"name":"a","url":"http://h/mcp"}]`, binary.LittleEndian, true), url},
		{"UTF-16, the other order", wide(`{"mcpServers":{"a":{"url":"http://h/mcp"}}}`, binary.BigEndian, true), url},
		{"UTF-16 without a mark", wide(`[{"name":"a","url":"http://h/mcp"}]`, binary.LittleEndian, false), url},
		{"numbers", `[{"name":"a","command":"npx","args":["-y","x"],"env":{"K":"v","GONE":null}}]`, env},
		{"other case", `[{"Name":"a","URL":"http://h/mcp"}]`, url},
		{"empty lists of PHP", `[{"name":"a","url":"http://h/mcp","headers":[],"env":[]}]`, url},
		{"both, and a type", `[{"name":"a","url":"http://h/mcp","command":"npx","type":"http"}]`, web},
	} {
		f := read(t, tt.text)
		if len(f.servers) != 1 || f.servers[0].err != nil || f.servers[0].entry.Name != tt.want.Name || !f.servers[0].entry.same(tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.program, f.servers, tt.want)
			continue
		}
		// A change keeps the form, and what was read of it.
		text, err := f.encode()
		must.OK(t, err)
		if again := read(t, string(text)); !again.servers[0].entry.same(tt.want) || again.servers[0].entry.Name != "a" {
			t.Errorf("%s: saved as %s", tt.program, text)
		}
	}
}

// wide is a text in UTF-16.
func wide(text string, order binary.AppendByteOrder, mark bool) string {
	var b []byte
	if mark {
		b = order.AppendUint16(b, 0xfeff)
	}
	for _, u := range utf16.Encode([]rune(text)) {
		b = order.AppendUint16(b, u)
	}
	return string(b)
}

func TestNamesThatCannotBeNamesHereAreChanged(t *testing.T) {
	f := read(t, `{"mcpServers":{"My server":{"url":"http://h"},"My_server":{"url":"http://h"},"io.github.owner/name":{"url":"http://h"},"날씨":{"url":"http://h"},"시간":{"url":"http://h"}}}`)
	var names []string
	for _, w := range f.servers {
		if w.err != nil || !validName.MatchString(w.entry.Name) || slices.Contains(names, w.entry.Name) {
			t.Errorf("%q is %q, %v", w.key, w.entry.Name, w.err)
		}
		names = append(names, w.entry.Name)
	}
	if names[1] != "My_server" || names[2] != "io_github_owner_name" {
		t.Errorf("names: %q", names)
	}
	for _, name := range []string{names[2], "날씨"} { // both by the name here and by the one in the file
		if !f.drop(name) {
			t.Errorf("%s cannot be removed", name)
		}
	}
}

func TestAChangeKeepsWhatItCannotWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp.json")
	before := "// mine\n[{\"name\":\"a\",\"url\":\"http://h\"}, 7]\n"
	must.Write(t, path, before)
	f, err := load(path)
	if err == nil {
		err = f.put(Entry{Name: "b", URL: "http://h/b"})
	}
	if err == nil {
		err = f.save(path)
	}
	must.OK(t, err)
	kept, _ := os.ReadFile(path + ".bak")
	now, _ := os.ReadFile(path)
	if string(kept) != before || string(now) != "[\n  {\"name\":\"a\",\"url\":\"http://h\"},\n  7,\n  {\"name\":\"b\",\"url\":\"http://h/b\"}\n]\n" {
		t.Errorf("kept %q, saved %q", kept, now)
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

func TestAFileOfVariablesIsRead(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("USERPROFILE", dir)
	text := "\ufeff# keys\r\nexport A=1\r\n\r\nB = two words # why\nC=\"x # y\\n\\\"z\\\"\"\nD='$A ${B}'\nE=\nF=https://h/?a=b#c\nG=file\n"
	must.OK(t, os.WriteFile(filepath.Join(dir, ".env"), []byte(text), 0o600))
	want := map[string]string{"A": "1", "B": "two words", "C": "x # y\n\"z\"", "D": "$A ${B}", "E": "", "F": "https://h/?a=b#c", "G": "entry"}
	for _, at := range []string{filepath.Join(dir, ".env"), "${userHome}/.env", ".env"} {
		e, err := Entry{Command: "true", Dir: dir, EnvFile: at, Env: map[string]string{"G": "entry"}}.filled()
		if err != nil || !maps.Equal(e.Env, want) {
			t.Errorf("%s: %q, %v", at, e.Env, err)
		}
	}
	for at, want := range map[string]string{"/no/such/file": "no such file", dir: "it is no file", "${workspaceFolder}/.env": "write its path"} {
		if _, err := (Entry{Command: "true", EnvFile: at, Env: map[string]string{"G": "entry"}}).filled(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", at, err)
		}
	}
	if _, err := (Entry{Command: "true", EnvFile: ".env"}).filled(); err == nil || !strings.Contains(err.Error(), "absolute") {
		t.Error(err)
	}
	_ = os.WriteFile(filepath.Join(dir, "odd.env"), []byte("A=1\ns3cret\n"), 0o600)
	if _, err := (Entry{Command: "true", EnvFile: filepath.Join(dir, "odd.env")}).filled(); err == nil || !strings.Contains(err.Error(), "line 2") || strings.Contains(err.Error(), "s3cret") {
		t.Error(err)
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
		q := qualify("s", name)
		if other, taken := seen[q]; taken || len(q) > 128 || !strings.HasPrefix(q, "s.") {
			t.Errorf("%q is called %q, as is %q", name, q, other)
		}
		seen[q] = name
	}
}

// FuzzFile reads whatever may stand in the file: what is taken, comes back from a save as the same
// servers.
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
		if len(a.servers) != len(b.servers) || !slices.Equal(a.path, b.path) {
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
