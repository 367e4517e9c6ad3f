// Package print writes calls and results as a model's own chat template prints them.
//
// Calls of earlier turns are part of a prompt, and must be exactly what the model's template
// prints: servers cache prompts by their beginning, and models copy what they see. Most of these
// templates are Jinja run by Python, so JSON has Python's blanks and numbers here.
//
// A [Spelling] defines how the values of a call are written. The grammar uses the same Spelling, so
// it allows everything that is printed.
//
//	calls.go      Calls: sections, messages, the placeholders of a call's example
//	form.go       calls in a form that examples cannot express
//	spelling.go   Spelling: JSON, Python, pseudo-JSON, nested tags, raw text, and their uses
//	value.go      the writer of values in all spellings
//	results.go    Results: the results of tools; Number: the ids by which results refer to calls
//	prompt.go     Prompt: the text that teaches a model its tools, for models whose template does not
//	signature.go  tools as the heads of Python functions, the shorter wording of that text
package print
