// Package agent runs the loop in which a model asks for tools, the tools are run, and the model
// reads the results, until it answers: ask, act, observe.
//
// [Loop.Run] is the loop for models that were never trained to call tools: the system prompt
// describes the tools, with a contract, and the model writes its calls in its text, from which the
// format "agent" of package adapters reads them with all its tolerance. [Loop] is a [chat.Model] as
// well: a model whose name ends in @agent is offered these tools beside those of the client, and
// the client sees the steps as thoughts. Every run ends within bounds, for a reason that has a
// name.
//
//	agent.go     Config, Loop, requests and outcomes; the reasons for the end of a run
//	run.go       the loop itself, for both
//	closing.go   asking for an answer at a limit; which texts are not answers
//	act.go       running a call, and what the model reads of its result
//	consent.go   calls for which the user's consent is asked
//	sampling.go  what MCP servers ask the model of a run
//	origin.go    where the values of calls come from
//	pointed.go   the records of a long list that the question names
//	missing.go   what an answer should have looked up
//	spelled.go   names that a model has copied wrongly
//	harmless.go  breaking marks in texts of others
//	contract.go  tools in a prompt and calls in a text; contract.txt is the prompt
//	native.go    tools in a request and calls as events
//	toolset.go   the tools of one run, and their names
//	brief.go     when there are too many tools: shorter descriptions, and the search; find.go asks tools/find
//	reading.go   calls in words and of unknown tools, which the decoder takes for text; internal/worded finds them
//	choose.go    the choice of a tool before the loop
//	knowledge.go the same for questions about a knowledge base, which need no model
//	documents.go knowledge bases as models (kb/NAME): answers with their sources
//	queue.go     the queue for models
//	model.go     the chat.Model
//	rpc.go       the address /generate_with_mcp; rpcwrite.go writes its answers
package agent
