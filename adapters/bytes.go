package adapters

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isQuote(c int) bool { return c == '"' || c == '\'' || c == '`' }

func isWord(c int) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 0 && c < 0x80 && isLetter(byte(c))
}

func isHex(c int) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isCloser(c int) bool { return c == '}' || c == ']' || c == ')' }

func isSpace(c int) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }
