package engine

import (
	"strings"

	"github.com/ollama/ollama/api"
)

const (
	cloneMark   = "-toolnorm-raw" // behind the name of a clone's model
	cloneDigest = 12              // hexadecimal digits of the model's digest in the name
	passthrough = "passthrough"   // Ollama's parser that leaves everything as the model wrote it
)

// fullName is a model's name as Ollama compares names.
func fullName(model string) string {
	if !strings.Contains(model[strings.LastIndexByte(model, '/')+1:], ":") {
		model += ":latest"
	}
	return strings.ToLower(model)
}

// cutTag splits a full name.
func cutTag(name string) (model, tag string) {
	i := strings.LastIndexByte(name, ':')
	if i < 0 {
		return name, ""
	}
	return name[:i], name[i+1:]
}

// cloneName is the name of the clone that a model of that digest has: of "qwen3:8b" it is
// "qwen3-toolnorm-raw:8b-0123456789ab". Empty: the digest is none of Ollama's.
func cloneName(model, digest string) string {
	digest = strings.TrimPrefix(digest, "sha256:")
	if len(digest) < cloneDigest || !isHex(digest) {
		return ""
	}
	name, tag := cutTag(fullName(model))
	return name + cloneMark + ":" + tag + "-" + digest[:cloneDigest]
}

// originalOf is the full name of a clone's model, and the beginning of the digest that it had. Only names that cloneName
// could have given are a clone's.
func originalOf(clone string) (model, digest string, ok bool) {
	name, tag := cutTag(clone)
	name, ok = strings.CutSuffix(name, cloneMark)
	i := strings.LastIndexByte(tag, '-')
	if !ok || i <= 0 || name == "" {
		return "", "", false
	}
	model, digest = name+":"+tag[:i], tag[i+1:]
	return model, digest, len(digest) == cloneDigest && isHex(digest)
}

// IsClone says that a model of an Ollama server is what strategy clone made, and no model of the user's.
func IsClone(name string) bool {
	_, _, ok := originalOf(name)
	return ok
}

// isHex says that s has the digits of a digest only.
func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

// cloneOf is which model of the server shows what that one writes as it is: itself if it does, else its clone. Empty: there
// can be none, since another server runs it, or since llama-server renders its prompts, which it would not do for a clone.
func cloneOf(show *api.ShowResponse, model, digest string) string {
	template := strings.TrimSpace(show.Template)
	switch {
	case show.RemoteHost != "":
		return ""
	case show.Parser == passthrough:
		return model
	case show.Parser == "" && show.Renderer == "" && (template == "" || template == "{{ .Prompt }}"):
		return ""
	}
	return cloneName(model, digest)
}
