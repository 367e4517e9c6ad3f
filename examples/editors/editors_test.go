package editors

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"toolnorm/internal/test/must"

	"go.yaml.in/yaml/v3"
)

// What every file names: one address, one model, one key. So whoever has set up one client knows
// what to change in the next.
const (
	address = "http://127.0.0.1:11435"
	model   = "qwen3-coder:30b"
	key     = "any"
)

// readAll reads the files of the folders, by their paths.
func readAll(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(path, "/") {
			return err
		}
		b, err := os.ReadFile(path)
		files[filepath.ToSlash(path)] = string(b)
		return err
	})
	if err != nil || len(files) < 12 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	return files
}

// fence is a block of code on the page.
var fence = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

func TestThePageShowsEachFileAndNothingElse(t *testing.T) {
	page := must.Read(t, "../../docs/editors.md")
	program := must.Read(t, "../python-openai/main.py")
	files := readAll(t)
	shown := map[string]bool{}
	for _, m := range fence.FindAllStringSubmatch(string(page), -1) {
		shown[m[2]] = true
		if m[1] == "python" && strings.Contains(string(program), m[2]) {
			continue
		}
		if !slices.Contains(values(files), m[2]) {
			t.Errorf("docs/editors.md shows what is in no file:\n%s", m[2])
		}
	}
	for path, text := range files {
		if !shown[text] {
			t.Errorf("docs/editors.md does not show %s", path)
		}
	}
}

func values(files map[string]string) (all []string) {
	for _, text := range files {
		all = append(all, text)
	}
	return all
}

// named finds what a file says of addresses, models and keys, however its format calls them.
var (
	urls = regexp.MustCompile(`https?://[^"'\s,}]+`)
	keys = regexp.MustCompile(`(?i)(?:api_?-?key|auth_token)"?\s*[:=]\s*"?([^",\s]+)`)
)

func TestEveryFileNamesTheSameServerModelAndKey(t *testing.T) {
	for path, text := range readAll(t) {
		server := address
		if path == "open-webui/compose.yaml" {
			server = "http://toolnorm:11435" // the name of the service in docker-compose.yml
		}
		found := urls.FindAllString(text, -1)
		found = slices.DeleteFunc(found, func(u string) bool { return u == "https://opencode.ai/config.json" })
		if len(found) == 0 {
			t.Errorf("%s names no server", path)
		}
		for _, u := range found {
			if rest, ok := strings.CutPrefix(u, server); !ok || !slices.Contains([]string{"", "/v1", "/mcp"}, rest) {
				t.Errorf("%s names %s", path, u)
			}
		}
		for _, m := range keys.FindAllStringSubmatch(text, -1) {
			if m[1] != key {
				t.Errorf("%s has the key %s", path, m[1])
			}
		}
		isMCP := strings.Contains(filepath.Base(path), "mcp")
		if !isMCP && path != "open-webui/compose.yaml" && !strings.Contains(text, model) {
			t.Errorf("%s does not name %s", path, model)
		}
	}
}

// zed and void are what the two editors without a package of their own read, by the names of their
// sources (language_model.rs and agent.rs of Zed's settings_content, mcpServiceTypes.ts of Void).
type zed struct {
	LanguageModels struct {
		OpenAICompatible map[string]struct {
			APIURL          string `json:"api_url"`
			AvailableModels []struct {
				Name         string `json:"name"`
				MaxTokens    uint64 `json:"max_tokens"`
				Capabilities struct {
					Tools             *bool `json:"tools"`
					Images            *bool `json:"images"`
					ParallelToolCalls *bool `json:"parallel_tool_calls"`
					PromptCacheKey    *bool `json:"prompt_cache_key"`
				} `json:"capabilities"`
			} `json:"available_models"`
		} `json:"openai_compatible"`
	} `json:"language_models"`
	Agent struct {
		DefaultModel struct {
			Provider string `json:"provider"`
			Model    string `json:"model"`
		} `json:"default_model"`
	} `json:"agent"`
	ContextServers map[string]struct {
		URL string `json:"url"`
	} `json:"context_servers"`
}

type void struct {
	MCPServers map[string]struct {
		URL string `json:"url"`
	} `json:"mcpServers"`
}

// strictly reads JSON that has no other members than the value.
func strictly(t *testing.T, path string, into any) {
	t.Helper()
	b := must.Read(t, path)
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		t.Errorf("%s: %v", path, err)
	}
}

func TestZedAndVoid(t *testing.T) {
	var z zed
	strictly(t, "zed/settings.json", &z)
	p := z.LanguageModels.OpenAICompatible[z.Agent.DefaultModel.Provider]
	if len(p.AvailableModels) != 1 || p.AvailableModels[0].Name != z.Agent.DefaultModel.Model {
		t.Fatalf("the default model is %v of %+v", z.Agent.DefaultModel, p)
	}
	// Zed has no defaults for the members of capabilities: one that is missing drops the whole of
	// its settings.
	if c := p.AvailableModels[0].Capabilities; c.Tools == nil || !*c.Tools || c.Images == nil || c.ParallelToolCalls == nil || c.PromptCacheKey == nil {
		t.Errorf("capabilities: %+v", c)
	}
	if p.APIURL != address+"/v1" || p.AvailableModels[0].MaxTokens == 0 || z.ContextServers["toolnorm"].URL != address+"/mcp" {
		t.Errorf("%+v", z)
	}
	var v void
	strictly(t, "void/mcp.json", &v)
	if v.MCPServers["toolnorm"].URL != address+"/mcp" {
		t.Errorf("%+v", v)
	}
}

func TestEveryFileIsWellFormed(t *testing.T) {
	for path, text := range readAll(t) {
		var value map[string]any
		var err error
		switch filepath.Ext(path) {
		case ".json":
			err = json.Unmarshal([]byte(text), &value)
		case ".yaml", ".yml":
			err = yaml.Unmarshal([]byte(text), &value)
		case ".toml": // Codex reads it in the lane
			continue
		default:
			t.Errorf("%s: nobody knows this format", path)
		}
		if err != nil || len(value) == 0 {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestOpenWebUIJoinsTheServices holds that the file goes with docker-compose.yml, which names what
// it asks.
func TestOpenWebUIJoinsTheServices(t *testing.T) {
	type compose struct {
		Services map[string]struct {
			DependsOn   []string `yaml:"depends_on"`
			Environment map[string]string
		}
	}
	var main, added compose
	for path, into := range map[string]*compose{"../../docker-compose.yml": &main, "open-webui/compose.yaml": &added} {
		b := must.Read(t, path)
		if err := yaml.Unmarshal(b, into); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	ui := added.Services["open-webui"]
	for _, name := range ui.DependsOn {
		if _, ok := main.Services[name]; !ok {
			t.Errorf("docker-compose.yml has no service %s", name)
		}
		// toolnorm answers under the names that it was told alone.
		if !strings.Contains(main.Services[name].Environment["TOOLNORM_HOSTS"], name) || !strings.Contains(ui.Environment["OPENAI_API_BASE_URL"], "//"+name+":") {
			t.Errorf("%s is asked at %s, and answers to %s", name, ui.Environment["OPENAI_API_BASE_URL"], main.Services[name].Environment["TOOLNORM_HOSTS"])
		}
	}
	if len(ui.DependsOn) != 1 {
		t.Errorf("it waits for %s", ui.DependsOn)
	}
}
