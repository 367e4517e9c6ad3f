package connect

import (
	"encoding/json"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/tailscale/hujson"
	"go.yaml.in/yaml/v3"

	"toolnorm/internal/test/must"
)

var server = Server{URL: "http://127.0.0.1:9999", Model: `it's "odd"`, Key: "k"}

// Every client is connected in an empty home and disconnected again, and nothing is left but
// folders.
func TestConnectAndUndoInAnEmptyHome(t *testing.T) {
	for _, c := range Clients() {
		t.Run(c.Name, func(t *testing.T) {
			home, folder := t.TempDir(), t.TempDir()
			changes := must.Have(c.Plan(home, folder, server))(t)
			for _, step := range c.ByHand(server) {
				if strings.Contains(step, exampleURL) || strings.Contains(step, exampleModel) {
					t.Errorf("a step names the server of the examples: %s", step)
				}
			}
			if len(changes) == 0 {
				if len(c.ByHand(server)) == 0 {
					t.Error("nothing is written, and nothing is said")
				}
				return
			}
			for _, change := range changes {
				text := string(change.After)
				if !change.New || strings.Contains(text, exampleURL) || strings.Contains(text, exampleModel) || !strings.Contains(text, server.URL) && !strings.HasSuffix(change.Path, "Code/User/settings.json") {
					t.Errorf("%s:\n%s", change.Path, text)
				}
				if strings.HasSuffix(change.Path, ".json") && !json.Valid(change.After) {
					t.Errorf("%s is not valid JSON:\n%s", change.Path, text)
				}
			}
			if err := c.Write(folder, changes); err != nil || !c.Connected(folder) {
				t.Fatal(err)
			}
			if _, err := c.Undo(folder, false); err != nil || c.Connected(folder) {
				t.Fatal(err)
			}
			for _, change := range changes {
				if _, err := os.Stat(change.Path); !os.IsNotExist(err) {
					t.Errorf("%s is left: %v", change.Path, err)
				}
			}
			if _, err := c.Undo(folder, false); err != ErrNotConnected {
				t.Errorf("Undo = %v, want %v", err, ErrNotConnected)
			}
		})
	}
}

// What a file had stays, and undoing gives back its bytes, also behind two connections; a file that
// was changed since is not touched.
func TestAFileThatIsThereIsMerged(t *testing.T) {
	for name, row := range map[string]struct{ old, has string }{
		"zed":         {"// mine\n{\n\t\"theme\": \"Ayu\", // dark\n\t\"agent\": {\"enabled\": true,},\n}\n", "// dark"},
		"claude-code": {`{"env":{"A":"b"},"hooks":{}}`, `"hooks":{}`},
		"opencode":    {"{\n    \"provider\": {\n        \"x\": {}\n    }\n}\r\n", `"x": {}`},
		"codex":       {"# mine\nmodel = \"gpt\"\nnotify = [\n  [\"a\"],\n]\n\n[tools]\nweb = true\n", "[tools]\nweb = true\n"},
		"continue":    {"name: mine\nversion: 2.0.0\nmodels:\n  # old\n  - name: other\n    provider: ollama\n", "# old"},
	} {
		t.Run(name, func(t *testing.T) {
			var c Client
			for _, one := range Clients() {
				if one.Name == name {
					c = one
				}
			}
			home, folder := t.TempDir(), t.TempDir()
			path := c.Paths(home)[0]
			real := filepath.Join(home, "dotfile")
			must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
			must.OK(t, os.WriteFile(real, []byte(row.old), 0o640))
			if err := os.Symlink(real, path); err != nil {
				t.Skip(err)
			}
			for range 2 {
				changes := must.Have(c.Plan(home, folder, server))(t)
				text := string(changes[0].After)
				if !strings.Contains(text, row.has) || !strings.Contains(text, server.URL) {
					t.Errorf("merged:\n%s", text)
				}
				must.OK(t, c.Write(folder, changes))
			}
			info, err := os.Lstat(path)
			if err != nil || info.Mode()&os.ModeSymlink == 0 {
				t.Errorf("the link was replaced: %v %v", info, err)
			}
			now, _ := os.ReadFile(path)
			_ = os.WriteFile(path, append(now, ' '), 0o600)
			if _, err := c.Undo(folder, false); err == nil || !strings.Contains(err.Error(), "changed since") {
				t.Errorf("Undo of a file that was changed: %v", err)
			}
			_ = os.WriteFile(path, now, 0o600)
			must.Have(c.Undo(folder, false))(t)
			if now, _ := os.ReadFile(path); string(now) != row.old {
				t.Errorf("Undo left %q, want %q", now, row.old)
			}
			if info, _ := os.Stat(path); info.Mode().Perm() != 0o640 {
				t.Errorf("mode %v, want 640", info.Mode())
			}
		})
	}
}

func TestFilesThatCannotBeMerged(t *testing.T) {
	for text, merge := range map[string]func(old, add []byte) ([]byte, error){
		"{":                                     mergeJSON,
		"[]":                                    mergeJSON,
		"- a\n":                                 mergeYAML,
		"a: [":                                  mergeYAML,
		"[mcp_servers.toolnorm]\nurl = \"x\"\n": mergeTOML,
	} {
		if out, err := merge([]byte(text), []byte("{}\n[mcp_servers.toolnorm]")); err == nil {
			t.Errorf("%q was merged into %q", text, out)
		}
	}
}

// Any two objects merge into what merging their values gives.
func TestJSONMergesAsItsValuesDo(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 2000 {
		a, b := object(r, 3), object(r, 3)
		old, add := spelled(r, a), spelled(r, b)
		out, err := mergeJSON(old, add)
		if err != nil {
			t.Fatalf("%s + %s: %v", old, add, err)
		}
		plain, err := hujson.Standardize(out)
		var got any
		if err == nil {
			err = json.Unmarshal(plain, &got)
		}
		if want := merged(a, b); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\n+ %s\n= %s (%v)", old, add, out, err)
		}
	}
}

// The same of YAML's mappings, whose scalars stay.
func TestYAMLKeepsWhatIsThere(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	for range 500 {
		a, b := object(r, 2), object(r, 2)
		old, _ := yaml.Marshal(a)
		add, _ := yaml.Marshal(b)
		out, err := mergeYAML(old, add)
		if err != nil {
			t.Fatalf("%s + %s: %v", old, add, err)
		}
		var got map[string]any
		must.OK(t, yaml.Unmarshal(out, &got))
		for key := range b {
			if _, ok := got[key]; !ok {
				t.Fatalf("%s is missing in\n%s", key, out)
			}
		}
		for key, v := range a {
			if _, both := b[key]; !both && !reflect.DeepEqual(got[key], v) {
				t.Fatalf("%s is %v, was %v", key, got[key], v)
			}
		}
	}
}

// object is an object of few names, so that two have some in common.
func object(r *rand.Rand, depth int) map[string]any {
	out := map[string]any{}
	for range r.Intn(4) {
		key := string(rune('a' + r.Intn(4)))
		switch k := r.Intn(4); {
		case k == 0 && depth > 0:
			out[key] = object(r, depth-1)
		case k == 1:
			out[key] = []any{"x", true}
		default:
			out[key] = []any{"text", 1.5, nil, false}[r.Intn(4)]
		}
	}
	return out
}

// spelled writes an object in one of the ways in which people do.
func spelled(r *rand.Rand, v any) []byte {
	if r.Intn(2) == 0 {
		b, _ := json.Marshal(v)
		return b
	}
	b, _ := json.MarshalIndent(v, "", []string{"  ", "\t", "    "}[r.Intn(3)])
	if r.Intn(2) == 0 {
		b = []byte("// settings\n" + strings.ReplaceAll(string(b), ",\n", ", // one\n"))
	}
	return append(b, '\n')
}

// merged is what merging two values gives.
func merged(a, b any) any {
	x, ok := a.(map[string]any)
	y, both := b.(map[string]any)
	if !ok || !both {
		return b
	}
	out := map[string]any{}
	maps.Copy(out, x)
	for key, v := range y {
		if old, there := out[key]; there {
			v = merged(old, v)
		}
		out[key] = v
	}
	return out
}
