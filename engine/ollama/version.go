package ollama

import (
	"strconv"
	"strings"

	"github.com/ollama/ollama/api"
)

// Older says that version a is older than b. What stands behind the numbers does not count: 0.30.0-rc1 is 0.30.0.
func Older(a, b string) bool {
	x, y := VersionNumbers(a), VersionNumbers(b)
	for i := range x {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return false
}

// VersionNumbers are the numbers of a version; all of them 0 where it has none, as in "0.0.0" of a server that was
// built without a version. Who compares must then decide for which it takes it.
func VersionNumbers(version string) (n [3]int) {
	version, _, _ = strings.Cut(strings.TrimPrefix(version, "v"), "-")
	for i, part := range strings.SplitN(version, ".", 3) {
		n[i], _ = strconv.Atoi(part) // of one that is no number nothing is known
	}
	return n
}

// Parser is the reader that a server has for the model's calls, empty when it has only the general one. Servers
// before 0.30 say it in the Modelfile only; that of gpt-oss is never said.
func Parser(show *api.ShowResponse) string {
	if show.Parser != "" {
		return show.Parser
	}
	for line := range strings.Lines(show.Modelfile) {
		if name, ok := strings.CutPrefix(line, "PARSER "); ok {
			return strings.TrimSpace(name)
		}
	}
	if family := show.Details.Family; family == "gptoss" || family == "gpt-oss" {
		return "harmony"
	}
	return ""
}
