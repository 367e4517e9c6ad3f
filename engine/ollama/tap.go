package ollama

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/valyala/fastjson"

	"toolnorm/chat"
	"toolnorm/internal/fault"
)

// damagedText is what Ollama 0.24 writes for the bytes of a token that are not UTF-8. Characters
// that are split over tokens are lost in this way. From 0.30 on the records have the exact bytes.
const damagedText = "\uFFFD"

// Marks are the tags that a tap must know to follow a model's reply. They are those of the model's
// family, which the settings or the model's name determine.
type Marks struct {
	ThinkEnd string   // the tag that ends its thinking: </think>
	Openings []string // the tags that may begin its calls: <tool_call>
}

// tap reads the model's text from the token stream of /api/chat, which also has the tokens of calls
// that the server holds back. What the server itself makes of the tokens (content, thinking, calls)
// is not passed on, with one exception. If the prompt ends inside a thought, or if the server has
// swallowed the tag that opens one, the first record with tokens already has thinking, and the
// server's thinking is passed on until it ends.
//
// If this program made the prompt, the exception is not needed, because the program knows whether
// the prompt opens a thought, and every token has a record.
//
// A record of a call that the server holds back:
//
//	{"message":{"content":""},"done":false,"logprobs":[{"token":"\u003cto","logprob":0,"bytes":[60,116,111]}]}
type tap struct {
	marks  Marks
	ours   bool   // this program made the prompt, and not the server
	count  int    // tokens so far, since an abandoned reply has no other count
	tokens []byte // bytes of the present record's tokens
	ends   []int  // the end of each token in them

	seen     bool   // the server shows tokens; otherwise its own reading is used
	thinking bool   // thinking is passed on instead of tokens
	border   []byte // tokens after thinking that may be the end of its tag
}

// tapped queues the text of one record, which it takes from the model's tokens. The parameter v is
// the record, m is the message in it, and line is its text. A server that does not know the option
// logprobs sends text without tokens. If the server made the prompt, its own reading of the reply
// is queued then. If this program made the prompt, that reading cannot be used, and tapped returns
// an error. It also returns an error if the tokens show U+FFFD in place of a character that was
// lost. Both errors are Curable, so another strategy is tried.
func (s *stream) tapped(v, m *fastjson.Value, line []byte) error {
	t := s.tap
	t.read(v)
	content, thinking := m.GetStringBytes("content"), m.GetStringBytes("thinking")
	if t.ours {
		content = v.GetStringBytes("response")
	}
	switch {
	case t.seen:
	// There is text but no tokens: this is the server's own reading of the reply to a prompt that
	// it did not write.
	case len(t.tokens) == 0 && t.ours:
		return tokenless(content, thinking)
	case len(t.tokens) == 0:
		return s.message(v, m, line)
	case t.ours:
		t.seen = true
	default:
		t.seen, t.thinking = true, len(thinking) > 0
		t.tokens = append(t.eaten(content), t.tokens...)
	}
	if t.thinking && !t.thought(s, thinking, content) {
		return nil
	}
	// A model may write U+FFFD itself. Then the server's own text has it too.
	if bytes.Contains(t.tokens, []byte(damagedText)) && !bytes.Contains(content, t.tokens) {
		return spoilt()
	}
	s.addEach(t.tokens, t.ends)
	return nil
}

// addEach queues a record's text token by token, because the code that reads the text may have to
// know which tokens are control tokens. The parameter ends has the offset in text at which each
// token ends. Text before the tokens is added to the first one.
func (s *stream) addEach(text []byte, ends []int) {
	if len(ends) > 1 {
		moved := len(text) - ends[len(ends)-1]
		from := 0
		for _, end := range ends {
			if end += moved; end > from && utf8.Valid(text[from:end]) {
				s.add(chat.Text, text[from:end])
				from = end
			}
		}
		text = text[from:]
	}
	s.add(chat.Text, text)
}

// spoilt returns the error for characters that cannot be recovered. Arguments with replaced
// characters would be wrong, and the tool would run with them. The error is Curable, so another
// strategy is tried.
func spoilt() error {
	return &fault.Error{
		Kind: fault.Unavailable, Curable: true,
		Message: "the model server spoilt characters of a call that it could not read itself; strategy raw gets them whole, and so does a newer server",
	}
}

// tokenless returns the error of a server that shows text without the tokens that it was asked for,
// or nil if there is no text either. The error is Curable, because other strategies need no tokens.
func tokenless(texts ...[]byte) error {
	for _, text := range texts {
		if len(text) > 0 {
			return &fault.Error{Kind: fault.Unavailable, Curable: true,
				Message: "the model server shows no tokens: strategy tokens needs a server that gives logprobs"}
		}
	}
	return nil
}

// eaten returns the beginning of a text of which the server has shown only the rest. The server
// held it back, and never sent its token, because it looked like the start of a tag that opens
// thinking. If the server shows content, the missing text is taken from that. Otherwise it may be
// the start of a tag that opens a call: <tool_call> begins with "<t" as <think> does, so the first
// token shown may be "ool_call>". eaten returns nil if nothing is missing.
func (t *tap) eaten(content []byte) []byte {
	if before, ok := bytes.CutSuffix(content, t.tokens); ok {
		return bytes.Clone(before)
	}
	if len(content) > 0 {
		return nil
	}
	// The opening mark differs from the closing mark by the slash: <think>, </think>.
	opener := strings.Replace(t.marks.ThinkEnd, "/", "", 1)
	for _, mark := range t.marks.Openings {
		for n := 1; n < len(mark) && strings.HasPrefix(opener, mark[:n]); n++ {
			if rest := mark[n:]; bytes.HasPrefix(t.tokens,
				[]byte(rest[:min(len(rest), len(t.tokens))])) {
				return []byte(mark[:n])
			}
		}
	}
	return nil
}

// read reads the tokens of the record v, and stores their joined text in t.tokens. It uses the
// tokens' bytes and not their text, in which a part of a character is U+FFFD. Servers before 0.30
// have only the text.
func (t *tap) read(v *fastjson.Value) {
	t.tokens, t.ends = t.tokens[:0], t.ends[:0]
	for _, p := range v.GetArray("logprobs") {
		t.count++
		list := p.GetArray("bytes")
		for _, b := range list {
			t.tokens = append(t.tokens, byte(b.GetInt()))
		}
		if list == nil {
			t.tokens = append(t.tokens, p.GetStringBytes("token")...)
		}
		t.ends = append(t.ends, len(t.tokens))
	}
}

// thought passes on the server's thinking, and reports whether the thinking is over. If it is,
// t.tokens has the text after the tag that closes the thinking. The server shows neither that tag
// nor white space around it, so the tokens are searched for the tag, or for what is left of it. If
// the server shows content, no search is needed, since the content is the text after the tag.
func (t *tap) thought(s *stream, thinking, content []byte) bool {
	s.add(chat.Reasoning, thinking)
	if len(thinking) > 0 {
		t.border = t.border[:0]
	}
	t.border = append(t.border, behind(t.tokens, thinking)...)
	closer := []byte(t.marks.ThinkEnd)
	switch rest, over := beyond(t.border, closer); {
	case len(content) > 0:
		t.tokens = append(t.tokens[:0], content...)
	case over && (len(thinking) == 0 || bytes.Contains(t.border, closer)):
		t.tokens = append(t.tokens[:0], rest...)
	default:
		return false
	}
	t.thinking = false
	return true
}

// behind returns the part of tokens, the bytes that the model wrote, that comes after the model's
// thinking, or nil if tokens do not contain the thinking. The parameter thinking is the thinking as
// the server reported it. White space at its start may be missing in tokens.
func behind(tokens, thinking []byte) []byte {
	if len(thinking) == 0 {
		return tokens
	}
	for _, part := range [][]byte{thinking, bytes.TrimLeft(thinking, space)} {
		if i := bytes.LastIndex(tokens, part); i >= 0 {
			return tokens[i+len(part):]
		}
	}
	return nil
}

// space lists the white space characters.
const space = " \t\r\n"

// beyond returns the text in border that comes after closer, the tag that ends thinking. It also
// recognizes a tag without its end ("</thi") or without its beginning ("nk>"), because the server
// drops a token or two there. It returns false while border is empty or only the beginning of the
// tag, and while no text has followed the whole tag.
func beyond(border, closer []byte) ([]byte, bool) {
	border = bytes.TrimLeft(border, space)
	if _, rest, ok := bytes.Cut(border, closer); ok {
		rest = bytes.TrimLeft(rest, space)
		return rest, len(rest) > 0
	}
	n := 0
	for n < len(border) && n < len(closer) && border[n] == closer[n] {
		n++
	}
	if n == len(border) {
		return nil, false
	}
	rest := bytes.TrimLeft(border[n:], space)
	for i := range closer {
		if after, ok := bytes.CutPrefix(rest, closer[i:]); ok {
			return bytes.TrimLeft(after, space), true
		}
	}
	return rest, true
}
