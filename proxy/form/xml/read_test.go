package xml

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"toolnorm/chat"
	"toolnorm/internal/test/must"
)

// TestPromptsAreRead reads each prompt in testdata: as its .golden file says, the tools come first,
// then the rest of the prompt.
func TestPromptsAreRead(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d prompts, %v", len(files), err)
	}
	for _, file := range files {
		for _, role := range []chat.Role{chat.System, chat.User} {
			p, rest := Read([]chat.Message{{Role: role, Content: read(t, file)}})
			if p == nil {
				t.Fatalf("%s holds no tools", file)
			}
			got := fmt.Sprintf("%s\n", p.Protocol)
			for _, tool := range p.Offer() {
				got += fmt.Sprintf("== %s ==\n%s\n%s\n", tool.Name, tool.Description, tool.Schema)
			}
			got += "== rest ==\n" + rest[0].Content
			must.Match(t, strings.TrimSuffix(file, ".txt")+".golden", got)
		}
	}
}

func read(t testing.TB, file string) string {
	t.Helper()
	b := must.Read(t, file)
	return string(b)
}
