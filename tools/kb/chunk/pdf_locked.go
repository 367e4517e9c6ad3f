package chunk

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"regexp"
	"strconv"
)

// unlockedPDF returns a PDF without its encryption, if that is AES with 256 bits, which the PDF
// library does not support, and reading needs no password. It returns nil for any other file. Only
// streams are decrypted. Strings outside of pages, such as the title, stay encrypted and must not
// be used.
func unlockedPDF(data []byte) []byte {
	start := bytes.Index(data, []byte("%PDF-"))
	if start < 0 {
		return nil
	}
	m := finder{data: bytes.TrimRight(data[start:], "\x00 \r\n"), at: map[int]object{}}
	m.key = m.fileKey()
	if m.key == nil {
		return nil
	}
	m.out = bytes.Clone(m.data)
	m.find()
	trailer := rootOnly.FindString(m.trailer())
	if trailer == "" {
		return nil
	}
	return m.list(trailer)
}

// Expressions that find the objects and members related to encryption.
var (
	rootOnly  = regexp.MustCompile(`/Root \d+ \d+ R|/Root\s*\d+\s+\d+\s+R`)
	encryptOf = regexp.MustCompile(`/Encrypt\s*(?:(\d{1,9})\s+\d{1,5}\s+R|<<)`)
	lengthOf  = regexp.MustCompile(`/Length\s+\d+(?:\s+\d+\s+R)?`)
	listOf    = regexp.MustCompile(`/Type\s*/XRef\b`)
)

// fileKey returns the key of a file that opens without a password. It returns nil if the file has
// another encryption or none.
func (m *finder) fileKey() []byte {
	found := encryptOf.FindSubmatchIndex(m.data)
	if found == nil {
		return nil
	}
	from := found[1] - 2
	if found[2] >= 0 {
		number := string(m.data[found[2]:found[3]])
		at := regexp.MustCompile(`(?:^|[\s>\])])`+number+`\s+\d{1,5}\s+obj\b`).FindAllIndex(m.data,
			-1)
		if at == nil {
			return nil
		}
		from = at[len(at)-1][1]
	}
	l := &lexer{data: m.data[from:min(from+longestDict, len(m.data))]}
	dict, _ := l.token(0)
	member := func(name string) (t token) {
		for i := 0; i+1 < len(dict.list); i += 2 {
			if dict.list[i].kind == isName && dict.list[i].text == name {
				t = dict.list[i+1]
			}
		}
		return t
	}
	user, wrapped, revision := member("U").text, member("UE").text, int(member("R").n)
	if member("V").n != 5 || revision < 5 || revision > 6 || len(user) < 48 || len(wrapped) < 32 {
		return nil
	}
	if !bytes.Equal(keyHash(revision, user[32:40]), []byte(user[:32])) {
		return nil // a password is needed
	}
	block, err := aes.NewCipher(keyHash(revision, user[40:48]))
	if err != nil {
		return nil
	}
	key := make([]byte, 32)
	cipher.NewCBCDecrypter(block, make([]byte, aes.BlockSize)).CryptBlocks(key,
		[]byte(wrapped[:32]))
	return key
}

// keyHash returns the hash of the empty password with a salt (ISO 32000-2, 7.6.4.3.4).
func keyHash(revision int, salt string) []byte {
	sum := sha256.Sum256([]byte(salt))
	k := sum[:]
	if revision == 5 {
		return k
	}
	for round, last := 0, byte(0); round < 64 || int(last) > round-32; round++ {
		block, err := aes.NewCipher(k[:16])
		if err != nil {
			return nil
		}
		e := bytes.Repeat(k, 64)
		cipher.NewCBCEncrypter(block, k[16:32]).CryptBlocks(e, e)
		rest := 0
		for _, b := range e[:16] {
			rest += int(b) // equals the number modulo 3, since 256 is 1 modulo 3
		}
		switch rest % 3 {
		case 0:
			sum := sha256.Sum256(e)
			k = sum[:]
		case 1:
			sum := sha512.Sum384(e)
			k = sum[:]
		default:
			sum := sha512.Sum512(e)
			k = sum[:]
		}
		last = e[len(e)-1]
	}
	return k[:32]
}

// decrypted returns a stream without its encryption, or nil if it is too short.
func (m *finder) decrypted(stream []byte) []byte {
	stream = bytes.TrimRight(stream, "\r\n")
	for extra := range 3 { // the trimmed bytes may belong to the stream
		if whole := stream[:min(len(stream)+extra, cap(stream))]; len(whole)%aes.BlockSize == 0 {
			stream = whole
			break
		}
	}
	stream = stream[:len(stream)/aes.BlockSize*aes.BlockSize]
	block, err := aes.NewCipher(m.key)
	if err != nil || len(stream) < 2*aes.BlockSize {
		return nil
	}
	out := make([]byte, len(stream)-aes.BlockSize)
	cipher.NewCBCDecrypter(block, stream[:aes.BlockSize]).CryptBlocks(out, stream[aes.BlockSize:])
	if pad := int(out[len(out)-1]); pad >= 1 && pad <= aes.BlockSize {
		out = out[:len(out)-pad]
	}
	return out
}

// rewrite appends an object with its decrypted stream to the new file m.out, and records the
// object's position there.
func (m *finder) rewrite(number int, o object, dict, stream []byte) {
	dict = lengthOf.ReplaceAll(dict, []byte("/Length "+strconv.Itoa(len(stream))))
	m.out = append(m.out, '\n')
	m.at[number] = object{len(m.out), o.generation}
	m.out = fmt.Appendf(m.out, "%d %d obj\n%sstream\n%s\nendstream\nendobj", number, o.generation,
		dict, stream)
}
