package engine

import (
	"toolnorm/adapters"
	"toolnorm/chat"
)

// Reasons returns the names of everything that is done to a reply whose call or answer does not
// fit, in alphabetical order. See chat.Meta.Repairs.
func Reasons() []chat.Reason {
	return []chat.Reason{
		{Code: stepText,
			Means: "a call whose tool was not offered, or that does not fit its schema and that nothing could repair, is shown as text", Wrote: `{"days": 30}`, Reads: `{"days": 30}`},
		{Code: stepClamped,
			Means: "with the setting out-of-bounds clamp: a number that was out of its bounds became the nearest that is within", Wrote: `{"days": 30}`, Reads: `{"days": 7}`},
		{Code: stepDropped, Means: "optional members whose values did not fit were left out",
			Wrote: `{"city": "Rome", "days": "soon"}`, Reads: `{"city": "Rome"}`},
		{Code: stepFormatted,
			Means: "an answer that response_format wants in another form was repaired, or written once more", Wrote: "Fine.", Reads: `{"mood": "fine"}`},
		{Code: stepOpen,
			Means: "the rest of a call whose beginning was sent did not fit: the call stays open and the reply ends with length", Wrote: `{"text": "long…", "days": 30}`, Reads: `{"text": "long…"`},
		{Code: stepMisfit,
			Means: "with the setting misfit pass: a call that does not fit its schema is sent as it is", Wrote: `{"days": "soon"}`, Reads: `{"days": "soon"}`},
		{Code: stepNeedless,
			Means: "the model called a tool, said when asked that it needs none, and answered again without tools", Wrote: `get_weather {"city": "New York"} behind "Hello!"`, Reads: "Hello! How can I help?"},
		{Code: stepBounds,
			Means: "with the setting out-of-bounds pass: a call with a value out of its bounds is sent as it is", Wrote: `{"days": 30}`, Reads: `{"days": 30}`},
		{Code: stepReasked,
			Means: "the model was told what is wrong with its call, and wrote another one",
			Wrote: `{"days": 30}`, Reads: `{"days": 7}`},
		{Code: stepRenamed, Means: "a misspelt member got the name of the one that was missing",
			Wrote: `{"citty": "Rome"}`, Reads: `{"city": "Rome"}`},
		{Code: stepRepetition,
			Means: "the model wrote the same over and over: the reply was ended, with length; its tokens are an estimate", Wrote: "la la la…", Reads: "la la la"},
		{Code: stepRewritten,
			Means: "the model wrote the call, or the rest of it, once more, held to the schema",
			Wrote: `{"days": 30}`, Reads: `{"days": 7}`},
		{Code: adapters.SameCalls,
			Means: "the model made the same call, or the same few calls, over and over: the reply was ended behind the first ones; its tokens are an estimate", Wrote: "the same call, again and again", Reads: "three of them"},
		{Code: stepSingle,
			Means: "the reply ended behind its first call, as parallel_tool_calls wants; its tokens are an estimate", Wrote: "two calls", Reads: "the first"},
		{Code: stepSurplus, Means: "members that the tool's schema forbids were left out",
			Wrote: `{"city": "Rome", "reason": "asked"}`, Reads: `{"city": "Rome"}`},
		{Code: stepUnwedged,
			Means: "the model did not begin to write, was unloaded by the setting unload-stuck, and asked once more", Wrote: "", Reads: "Hi."},
	}
}
