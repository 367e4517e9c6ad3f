// Package repeat finds what is said over and over, so that whoever says it can be stopped: text
// without end, and the same calls with the same results turn by turn. It only looks; what is done
// about it is the engine's.
//
//	text.go   a text that repeats itself byte for byte
//	calls.go  turns of calls that are the same to whoever runs them
package repeat
