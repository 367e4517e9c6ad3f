package proxy

import "toolnorm/chat"

// isCall says that an event is part of a call.
func isCall(k chat.Kind) bool { return k == chat.CallStart || k == chat.CallArgs || k == chat.CallEnd }

// asText is a call that its client's form cannot hold, with the reason, for whoever reads the reply.
func asText(c chat.Call, why error) string {
	return "The tool " + c.Name + " was to be called, but the call cannot be written for this client: " + why.Error() + ". It was:\n\n```json\n" +
		string(c.Args) + "\n```\n"
}
