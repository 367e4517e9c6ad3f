package derive

// whys say for a family what its template does not tell: what these cases hold is known from what
// its models wrote.
var whys = map[string]string{
	"apertus":          "the template prints reasoning only if it comes in content blocks of a special type",
	"apriel":           "the marks around an answer appear only in the system prompt",
	"command-a":        "the older text marks belong to another checkpoint",
	"command-r":        "the template always prints a fence, but the models omit it",
	"command-r7b":      "text marks are printed only in some turns",
	"deepseek-dsml":    "model slips: a missing section or attribute, words from the next version",
	"deepseek-v3":      "spellings of other checkpoints, and marks that a model echoes",
	"deepseek-v3.1":    "the template prints no reasoning; spellings of other checkpoints, and marks that a model echoes",
	"deepseek-v4":      "model slips: a missing section or attribute, words from the previous version",
	"gemma4":           "model slips in the marks",
	"gigachat":         "version 3 writes messages in another template's form",
	"glimmer":          "messages without a recipient and messages to developers are not printed",
	"glm4":             "the end mark of another checkpoint",
	"harmony":          "channels and recipients that the template never prints, and slips in headers",
	"hermes":           "Reka's end mark",
	"hunyuan-v3":       "other checkpoints write the tags with another suffix or none",
	"lfm2":             "model slip: JSON instead of Python",
	"llama3":           "the form of built-in tools: name.call(…)",
	"minicpm5":         "the tokenizer adds spaces that no template prints",
	"minimax-m3":       "spaces inside marks and newlines around reasoning, which the template does not print",
	"mistral":          "forms of other versions",
	"mistral-small3.2": "model slip: fences around calls",
	"nemotron-v2":      "the newline between text and a call is not printed",
	"phi4":             "the marks of the newer template",
	"poolside":         "model slips: another tag in front of a call, and a mark that ends the turn",
	"qwen3-coder":      "model slip: attributes as other families write them",
}
