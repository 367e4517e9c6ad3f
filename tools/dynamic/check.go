package dynamic

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolnorm/internal/pyexpr"
)

// The bounds of a draft, in bytes or numbers of items. A model reads descriptions with every
// request, so a long one costs more than it explains; 4 KiB are about a page.
const (
	longestDescription = 4096
	longestParamText   = 1024
	longestDefinition  = 65_536
	mostParams         = 50
	longestTimeout     = 60_000 // milliseconds
	mostRows           = 10_000
)

// toolName matches the names that every client API accepts. OpenAI's API allows 64 characters and
// no dots; toolnorm uses a dot between a server's name and a tool's. The first character is a
// letter, since some clients accept no digit there. Names of connections follow the same rule.
var toolName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// paramName matches the valid names of parameters. They are ASCII identifiers, because a client
// that writes arguments as XML makes an element of each name.
var paramName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,63}$`)

// basics checks everything in a draft except its definition, and reports all mistakes to p, so that
// an author can correct them together. It runs before anything is registered, since the library of
// the MCP server panics on some mistakes that are refused here.
func (d *Draft) basics(p *problems) {
	if !toolName.MatchString(d.Name) {
		p.wrong("name", "name", "a tool's name is a letter and up to 63 of A-Z a-z 0-9 _ -")
	}
	if strings.TrimSpace(d.DescriptionAgent) == "" {
		p.wrong("description_agent", "description",
			"models need to know what the tool does, when to use it and what comes back")
	}
	readable(p, "description_agent", d.DescriptionAgent, longestDescription)
	readable(p, "description_user", d.DescriptionUser, longestDescription)
	if d.Type != typeSQL && d.Type != typePython {
		p.wrong("tool_type", "type", "tool_type is SQL or PYTHON, not %.40q", d.Type)
	}
	d.parameters(p)
	d.options(p)
	d.examples(p)
	switch {
	case strings.TrimSpace(d.Definition) == "":
		p.wrong("definition", "syntax", "enter a query or an expression")
	case len(d.Definition) > longestDefinition:
		p.wrong("definition", "limit", "the definition has %d bytes, more than %d",
			len(d.Definition), longestDefinition)
	case !utf8.ValidString(d.Definition):
		p.wrong("definition", "syntax", "the definition is not valid UTF-8")
	}
}

// parameters checks the draft's parameters and adds mistakes to p. Two names must not differ only
// in case, since models are careless with case.
func (d *Draft) parameters(p *problems) {
	if len(d.Params) > mostParams {
		p.wrong("params", "limit", "%d parameters are more than %d", len(d.Params), mostParams)
		return
	}
	seen := map[string]bool{}
	for i, one := range d.Params {
		field := fmt.Sprintf("params[%d].", i)
		lower := strings.ToLower(one.Name)
		switch {
		case !paramName.MatchString(one.Name):
			p.wrong(field+"param_name", "parameter",
				"a parameter's name is a letter and up to 63 of A-Z a-z 0-9 _, and %.80q is not",
				one.Name)
		case d.Type != typeSQL && pyexpr.CheckName(one.Name) != nil:
			p.wrong(field+"param_name", "parameter",
				"%s is a word of expressions, and cannot be a parameter's name", one.Name)
		case seen[lower]:
			p.wrong(field+"param_name", "parameter", "there are two parameters %s", one.Name)
		}
		seen[lower] = true
		if _, ok := kindOf(one.Type); !ok {
			p.wrong(field+"param_type", "parameter",
				"param_type is one of %s, or a LIST of one, as LIST<STRING>; not %.40q",
				strings.Join(baseTypes, ", "), one.Type)
		} else {
			d.Params[i].details(p, field)
		}
		readable(p, field+"description", one.Description, longestParamText)
	}
}

// options checks the draft's options and adds mistakes to p. An option that the tool's type does
// not use is a mistake: an author who sets max_rows for an expression believes that it limits
// something.
func (d *Draft) options(p *problems) {
	o := d.Options
	if !slices.Contains([]string{"", "auto", "rows", "one", "value"}, o.Result) {
		p.wrong("options.result", "option", "result is auto, rows, one or value, not %.40q",
			o.Result)
	}
	if !slices.Contains([]string{"", "json", "text"}, o.Format) {
		p.wrong("options.format", "option", "format is json or text, not %.40q", o.Format)
	}
	if o.Timeout < 0 || o.Timeout > longestTimeout {
		p.wrong("options.timeout_ms", "option", "timeout_ms is 1 to %d", longestTimeout)
	}
	if o.MaxRows < 0 || o.MaxRows > mostRows {
		p.wrong("options.max_rows", "option", "max_rows is 1 to %d", mostRows)
	}
	selects := slices.ContainsFunc(d.Params, func(p Param) bool { return p.ChoicesSQL != "" })
	if d.Type == typePython && (o.Connection != "" && !selects || o.Result != "" ||
		o.MaxRows != 0) {
		p.wrong("options", "option", "connection, result and max_rows are for SQL tools")
	}
}

// readable checks a text that models and people read, and adds a mistake to p under the name field.
// The text must not be too long, and must not contain control or invisible characters. A model
// follows the text as an instruction, so a reviewer has to see all of it, and characters that
// change the direction of a line could hide parts. NUL and escape sequences would also reach logs
// and terminals, as by toolrun --list.
func readable(p *problems, field, text string, longest int) {
	switch {
	case len(text) > longest:
		p.wrong(field, "description", "the text has %d bytes, more than %d", len(text), longest)
	case !utf8.ValidString(text):
		p.wrong(field, "description", "the text is not valid UTF-8")
	default:
		for _, c := range text {
			if c != '\n' && c != '\t' && (unicode.IsControl(c) || isInvisible(c)) {
				p.wrong(field, "description",
					"the text holds the character U+%04X, which cannot be seen", c)
				return
			}
		}
	}
}

// isInvisible reports whether a character is invisible, such as direction marks, tags, private-use
// characters and line separators. It returns false for joiners (U+200C, U+200D) and variation
// selectors, since scripts and emoji need them.
func isInvisible(c rune) bool {
	switch {
	// Persian and Hindi are misspelt without joiners, and family emoji fall apart.
	case c == 0x200C || c == 0x200D || c >= 0xFE00 && c <= 0xFE0F:
		return false
		// Line separators, which break JSON in old JavaScript, and Hangul fillers,
		// which show as nothing and count as letters.
	case c == 0x2028 || c == 0x2029 || c == 0x3164 || c == 0xFFA0 || c == 0x115F || c == 0x1160:
		return true
	}
	return unicode.Is(unicode.Cf, c) || unicode.Is(unicode.Co, c) || c >= 0xE0100 && c <= 0xE01EF
}

// normalize brings a draft into its stored form, and reports to p what it cannot read. It unpacks a
// definition that is an object, trims texts, and omits options that have their default value. It
// runs before every check and comparison, so that an export that is imported again is the same byte
// for byte.
func (d *Draft) normalize(p *problems) {
	d.Name = strings.TrimSpace(d.Name)
	d.DescriptionAgent, d.DescriptionUser = lines(d.DescriptionAgent), lines(d.DescriptionUser)
	// the specification writes String and STRING
	d.Type = strings.ToUpper(strings.TrimSpace(d.Type))
	d.Params = slices.Clone(d.Params)
	if err := d.unpack(); err != nil {
		p.wrong("definition", "syntax",
			"the definition is an object with sql or expr that cannot be read: %v", err)
	}
	for _, name := range d.attach() {
		p.wrong("definition", "parameter", "the definition describes %s, which is no parameter",
			name)
	}
	for i := range d.Params {
		d.Params[i].Type = typeName(d.Params[i].Type)
		d.Params[i].ChoicesSQL = lines(d.Params[i].ChoicesSQL)
		d.Params[i].Required = d.Params[i].Required && len(d.Params[i].Default) == 0
		d.Params[i].Name, d.Params[i].Description = strings.TrimSpace(d.Params[i].Name),
			lines(d.Params[i].Description)
	}
	d.Definition = lines(d.Definition)
	d.Examples = slices.Clone(d.Examples)
	for i := range d.Examples {
		d.Examples[i].normalize()
	}
	if d.Options.Result == "auto" {
		d.Options.Result = ""
	}
	if d.Options.Format == "json" {
		d.Options.Format = ""
	}
}

// lines returns the text trimmed and with LF as its line breaks. The text area of a page sends CR
// LF.
func lines(text string) string {
	return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n"))
}
