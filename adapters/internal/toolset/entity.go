package toolset

import (
	"bytes"
	"html"
	"strconv"
)

// maxEntity bounds an HTML entity such as &amp; in bytes. The longest ones in attributes are &quot;
// and &#x27;.
const maxEntity = 8

// unescape returns a name, or the beginning of one, without its escapes. For example, Kimi K3's
// tool="a&amp;b" is the tool a&b. An incomplete escape at the end is left out, so that Begins can
// check a name byte by byte. A name with an invalid \u escape is returned unchanged.
func unescape(name []byte) []byte {
	if bytes.IndexByte(name, '\\') < 0 && bytes.IndexByte(name, '&') < 0 {
		return name
	}
	var out []byte
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '\\' && i+1 == len(name):
			return out
		// get\u005fweather
		case c == '\\' && name[i+1] == 'u':
			if len(name) < i+6 {
				return out
			}
			r, err := strconv.ParseUint(string(name[i+2:i+6]), 16, 16)
			if err != nil {
				return name
			}
			out = append(out, string(rune(r))...)
			i += 5
		case c == '\\':
			i++
			out = append(out, name[i])
		// a&amp;b; an ampersand without a semicolon is itself
		case c == '&':
			end := bytes.IndexByte(name[i:], ';')
			if end < 0 && len(name)-i < maxEntity {
				return out
			}
			end = max(end, 0)
			out = append(out, html.UnescapeString(string(name[i:i+end+1]))...)
			i += end
		default:
			out = append(out, c)
		}
	}
	return out
}
