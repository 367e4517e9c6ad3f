// Package print writes what a model of a family would have written: the way back from events to
// text.
//
// Calls of earlier turns go into a prompt in the words of the model that reads it, so they must be
// what its chat template prints, to the byte: servers cache prompts by their beginning, and models
// copy what they see. Most of these templates are Jinja run by Python, which is why JSON here has
// Python's blanks and numbers.
//
// A [Spelling] says how the values of a call are written. The grammar, which says what a model may
// write, reads the same Spelling, so what is printed is always among what is allowed.
//
//	calls.go      Calls: sections, messages, the holes of a call's example
//	form.go       calls in a form that no example can say
//	spelling.go   Spelling: JSON, Python, pseudo-JSON, nested tags, raw text, and which of them a family uses where
//	value.go      the one writer of values in all of those spellings
//	results.go    Results: what tools answered; Number: the ids by which answers refer to calls
//	prompt.go     Prompt: the text that teaches a model its tools, for models whose template does not
//	signature.go  tools as the heads of Python functions, the shorter wording of that text
package print
