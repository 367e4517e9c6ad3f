// Package repeat finds repetitions, so that the model can be stopped: text without end, and the
// same calls with the same results turn by turn. It only detects them; the engine decides what to
// do.
//
//	text.go   a text that repeats itself byte for byte
//	calls.go  turns with the same calls and the same results
package repeat
