package engine

import "toolnorm/chat"

// What a request's client is told was done to it, in headers that begin with Toolnorm- and in comments.
const (
	noteHistory   = "History"   // the conversation was put right: codes of package history
	noteTrimmed   = "Trimmed"   // its oldest turns were left out
	noteTruncated = "Truncated" // the server has cut it silently
	noteTools     = "Tools"     // the tools take more tokens than the budget
	noteUnchecked = "Unchecked" // calls of a tool are not checked, since its schema cannot be used
	noteNames     = "Names"     // tools have other names toward the model, which cannot write theirs
	noteTemplate  = "Template"  // what the model's template says about its calls, where that decides how it is read
	noteLoop      = "Loop"      // the model makes the same call over and over
)

// tell tells the client of something that was done to the request. Requests of our own have no observer, so they
// tell nobody.
func (j *job) tell(word, text string) {
	if j.observer.OnNote != nil {
		j.observer.OnNote(word, text)
	}
}

// Reasons are the names of all that is done to a reply whose call or answer does not fit, in alphabetical order. See
// chat.Meta.Repairs.
func Reasons() []chat.Reason {
	return []chat.Reason{
		{Code: stepText, Means: "a call that does not fit its tool's schema, and that nothing could repair, is shown as text", Wrote: `{"days": 30}`, Reads: `{"days": 30}`},
		{Code: stepClamped, Means: "with the setting out-of-bounds clamp: a number that was out of its bounds became the nearest that is within", Wrote: `{"days": 30}`, Reads: `{"days": 7}`},
		{Code: stepFormatted, Means: "an answer that response_format wants in another form was repaired, or written once more", Wrote: "Fine.", Reads: `{"mood": "fine"}`},
		{Code: stepOpen, Means: "the rest of a call whose beginning was sent did not fit: the call stays open and the reply ends with length", Wrote: `{"text": "long…", "days": 30}`, Reads: `{"text": "long…"`},
		{Code: stepBounds, Means: "with the setting out-of-bounds pass: a call with a value out of its bounds is sent as it is", Wrote: `{"days": 30}`, Reads: `{"days": 30}`},
		{Code: stepReasked, Means: "the model was told what is wrong with its call, and wrote another one", Wrote: `{"days": 30}`, Reads: `{"days": 7}`},
		{Code: stepRepetition, Means: "the model wrote the same over and over: the reply was ended, with length; its tokens are an estimate", Wrote: "la la la…", Reads: "la la la"},
		{Code: stepRewritten, Means: "the model wrote the call, or the rest of it, once more, held to the schema", Wrote: `{"days": 30}`, Reads: `{"days": 7}`},
		{Code: stepSame, Means: "the model made the same call, or the same few calls, over and over: the reply was ended behind the first ones; its tokens are an estimate", Wrote: "the same call, again and again", Reads: "three of them"},
		{Code: stepSingle, Means: "the reply ended behind its first call, as parallel_tool_calls wants; its tokens are an estimate", Wrote: "two calls", Reads: "the first"},
		{Code: stepSurplus, Means: "members that the tool's schema forbids were left out", Wrote: `{"city": "Rome", "reason": "asked"}`, Reads: `{"city": "Rome"}`},
		{Code: stepUnwedged, Means: "the model did not begin to write, was unloaded by the setting unload-stuck, and asked once more", Wrote: "", Reads: "Hi."},
	}
}
