// Package claim tells the announcement of a call from the claim that a call has answered: both
// stand between two calls of one reply, and behind the second the model goes on from a result that
// it has made up.
//
// It weighs, and no single word decides but labels of results: how much stands there, whether it is
// one announcement, and above all which values it names. An announcement names the arguments of the
// call that follows, or what was asked for; a claim brings values that nobody gave, or that the
// next call only passes on.
package claim
