// Package agent runs the loop in which a model asks for tools, the tools are run, and the model
// reads what came of it, until it answers: ask, act, observe.
//
// [Loop.Run] is the loop for models that were never taught to call: the tools stand in the system
// prompt, with a contract, and the calls in the text, which the format "agent" of package adapters
// reads with all its tolerance. [Loop] is a [chat.Model] as well: a model whose name ends in @agent
// is offered the tools beside those of the client, which reads the steps as thoughts. Every run
// ends within bounds, for a reason that has a name.
//
//	agent.go     Config, Loop, what is asked and what comes back; the reasons of an end
//	run.go       the loop itself, for both
//	closing.go   the question for an answer behind a limit; what is none
//	act.go       running a call, and what the model reads of it
//	consent.go   calls that the user is asked for
//	origin.go    where the values of calls come from
//	pointed.go   what of a long list the question names
//	missing.go   what an answer should have looked up
//	spelled.go   names that a model has copied wrongly
//	harmless.go  marks in what others have written
//	contract.go  tools in a prompt and calls in a text; contract.txt is the prompt
//	native.go    tools in a request and calls as events
//	toolset.go   the tools of one run, and their names
//	brief.go     tools that are too many: shorter descriptions, and the search; find.go ranks them
//	reading.go   calls in words, and of tools that there are not, which the decoder takes for text; internal/worded finds them
//	choose.go    the choice of a tool in front of the loop
//	knowledge.go the same for questions about a knowledge base, which need no model
//	documents.go knowledge bases as models (kb/NAME): answers with their sources
//	queue.go     the queue in front of models
//	model.go     the chat.Model
//	rpc.go       the address /generate_with_mcp; rpcwrite.go writes its answers
package agent
