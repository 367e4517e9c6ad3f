package xml_test

import (
	"encoding/json"
	"fmt"

	"toolnorm/chat"
	"toolnorm/proxy/form/xml"
)

// A prompt's tools become real ones, and a call becomes what the client looks for.
func Example() {
	system := `Available tools:

1. read_file
Description: Returns the contents of a file.
Format:
<read_file>
<uri>The FULL path to the file.</uri>
</read_file>

Tool calling details:
- To call a tool, write its name and parameters in one of the XML formats specified above.

Be brief.`
	prompt, messages := xml.Read([]chat.Message{{Role: chat.System, Content: system}})
	fmt.Println(messages[0].Content)
	fmt.Printf("%s %s\n", prompt.Offer()[0].Name, prompt.Offer()[0].Schema)
	open, rest, err := prompt.Write(chat.Call{Name: "read_file", Args: json.RawMessage(`{"uri":"/src/main.go"}`)})
	fmt.Println(open+rest, err)
	// Output:
	// You can call the tools that are offered to you: at most ONE in a reply, at its end. Then stop and wait; the result comes in the next message.
	//
	// Be brief.
	// read_file {"type":"object","properties":{"uri":{"type":"string","description":"The FULL path to the file."}},"required":["uri"]}
	// <read_file>
	// <uri>/src/main.go</uri>
	// </read_file> <nil>
}
