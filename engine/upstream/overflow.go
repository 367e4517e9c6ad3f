package upstream

import (
	"fmt"
	"regexp"
	"strconv"
)

// Overflow is the cause of a fault with the code context_length_exceeded: what the server has counted, in tokens; 0 is
// what it does not say.
type Overflow struct {
	Tokens int // of the request, without its reply if the server tells them apart
	Window int // of the context
}

// Error says both.
func (o *Overflow) Error() string {
	return fmt.Sprintf("%d tokens do not fit into a context of %d", o.Tokens, o.Window)
}

// How servers say how long a request is, and how long it may be: llama-server, OpenAI, vLLM.
var (
	promptSaid = regexp.MustCompile(`\((\d+) in the messages`)
	tokensSaid = regexp.MustCompile(`request \((\d+) tokens|resulted in (\d+) tokens|requested (\d+) tokens|has (\d+) input tokens`)
	windowSaid = regexp.MustCompile(`context size \((\d+) tokens|context length is (\d+)`)
)

// overflowOf reads the counts in what a server said.
func overflowOf(text string) *Overflow {
	tokens := firstNumber(promptSaid, text)
	if tokens == 0 {
		tokens = firstNumber(tokensSaid, text)
	}
	return &Overflow{Tokens: tokens, Window: firstNumber(windowSaid, text)}
}

// firstNumber is what the first group that matched holds, 0 when there is none.
func firstNumber(e *regexp.Regexp, text string) int {
	groups := e.FindStringSubmatch(text)
	for i := 1; i < len(groups); i++ {
		if n, err := strconv.Atoi(groups[i]); err == nil {
			return n
		}
	}
	return 0
}
