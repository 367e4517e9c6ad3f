// Package engine answers a request with events: it decides how the model can best be asked, has its
// server asked, decodes what the model wrote, and sees to it that every call fits its schema and
// every reply has an end. An [Engine] is a chat.Model.
//
// A request becomes a job, which each step returns changed; a reply is a sequence of events,
// through which each stage passes them on. The file to begin with is pipeline.go: it lists both
// ways, in order.
//
// Around the way:
//
//	engine.go      the Engine; a second attempt at a model that does not begin to write
//	config.go      what can be set
//	server.go      model servers, and which one a model is on
//	pool.go        several servers that stand for one, and which of them a conversation goes to
//	turn.go        one request and the servers that are asked for it: its key, and another server when one fails
//	pipeline.go    the steps of a request and the stages of a reply
//	job.go         a request with everything decided about it, and the order that a server gets of it
//	flight.go      what many requests need at once is found out by the first
//	memory.go      what earlier requests taught about a model
//	remember.go    and what of that outlives the program
//
// Before the server is asked:
//
//	checks.go      what is refused at once, schemas that cannot be used, and what to do about a model that no server has
//	template.go    the form in which the model's own template writes calls
//	names.go       names of tools that the model's family cannot write
//	history.go     a conversation that the template takes
//	context.go     how long a context the request gets, and what is left out when none is long enough; bytes a token, prompts that
//	               the server cuts silently, counting for clients
//	tool_budget.go tools that take more than they may: shorter texts, or fewer tools
//	strategy.go    how the model's text is read, and what takes over when that fails
//	gate.go        whether the model needs a tool at all
//	force.go       tool_choice: the output is constrained to one call
//	described.go   tools in the system prompt, for models that were never taught to call, and in which words
//
// While the reply comes:
//
//	source.go         opens a generation, and watches it
//	pace.go           how much of a call waits: what the model writes in a short time
//	repeats.go        the same over and over: turn by turn, in a text, in calls; what finds it is engine/repeat
//	needless.go       calls that the model does not need, as it says itself
//	guard.go          only calls that fit their schemas; repair.go: what is done about the others
//	reasons.go        the names of all that was done, for logs, headers and docs/repairs.md
//	format_answer.go  response_format beside tools
//	logprobs.go       probabilities beside tools
//	finish.go         ids, stop sequences, the end
//
// Beside it:
//
//	complete.go    texts that are written on, and embeddings
//	examine.go     what is known of a model, for doctor; state.go: which servers answer, with what models
//	ollama_api.go  Ollama's own API: lists, descriptions, passing.go: the way to the server for what is passed on
//	               unread
//
// The kinds of server are packages of their own, engine/ollama and engine/openai, which carry out
// an upstream.Order. engine/reduce writes schemas with the keywords that every server takes.
package engine
