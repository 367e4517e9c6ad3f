// Package claim distinguishes announcements of a call from claims about the result of a call. Both
// occur between two calls of one reply; after a claim the model continues from a result that it has
// made up.
//
// It weighs the length of the text, whether it is a single announcement, and above all the values
// in it; only labels of results decide alone. An announcement names the arguments of the next call,
// or values from the conversation. A claim has new values, or values that the next call only passes
// on.
package claim
