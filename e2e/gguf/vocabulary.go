package gguf

// Token types of GGUF.
const (
	normal      = 1
	control     = 3
	userDefined = 4 // found in prompt text as well
)

// vocabulary holds the tokens of a model, in the order of their numbers: 256 bytes, one merge,
// three control tokens, one token that selects each script, and then the pieces of one script after
// the other. All 256 bytes are there, so that any prompt can be read; no reply uses them.
type vocabulary struct {
	tokens    []string // as the file spells them
	types     []int32
	bos, eos  int
	selectors []int        // of each script
	pieces    [][]int      // of each script
	shared    map[int]bool // pieces of more than one script
}

// mergeToken is " t": a loader wants at least one merge. None leads to a piece, so prompts are read
// byte by byte.
const mergeToken = "Ġt"

// vocabulary returns all tokens of the model. The selectors, which choose a script, are
// user-defined tokens and not control tokens, because servers find user-defined ones in a prompt's
// text, and may leave control tokens unread.
func (m *Model) vocabulary() *vocabulary {
	v := &vocabulary{}
	for b := range 256 {
		v.add(spell(string([]byte{byte(b)})), normal)
	}
	v.add(mergeToken, normal)
	v.bos = v.add("<|endoftext|>", control)
	v.add("<|im_start|>", control)
	v.eos = v.add("<|im_end|>", control)
	for _, s := range m.scripts {
		v.selectors = append(v.selectors, v.add(s.Selector(), userDefined))
	}
	v.shared = map[int]bool{}
	known := map[string]int{}
	for _, pieces := range m.pieces {
		ids := make([]int, 0, len(pieces))
		for _, p := range pieces {
			id, twice := known[p]
			if !twice {
				id = v.addPiece(p, m.control[p])
				known[p] = id
			}
			v.shared[id] = twice
			ids = append(ids, id)
		}
		v.pieces = append(v.pieces, ids)
	}
	return v
}

// addPiece adds a piece of a script as a token, and returns the number of the token. The text of a
// control token is stored as it is, that of others in the spelling of GPT-2.
func (v *vocabulary) addPiece(p string, isControl bool) int {
	if isControl {
		return v.add(p, control)
	}
	return v.add(spell(p), normal)
}

func (v *vocabulary) add(token string, kind int32) int {
	v.tokens = append(v.tokens, token)
	v.types = append(v.types, kind)
	return len(v.tokens) - 1
}

// spell writes bytes as GPT-2 vocabularies do: printable Latin-1 stands for itself, every other
// byte, in order, for U+0100, U+0101 and so on. llama.cpp turns tokens of a gpt2 vocabulary back
// into bytes by the same table.
func spell(s string) string {
	out := make([]rune, 0, len(s))
	for i := range len(s) {
		out = append(out, byteRunes[s[i]])
	}
	return string(out)
}

var byteRunes = func() (table [256]rune) {
	next := rune(0x100)
	for b := range table {
		if b >= '!' && b <= '~' || b >= 0xA1 && b <= 0xAC || b >= 0xAE {
			table[b] = rune(b)
			continue
		}
		table[b] = next
		next++
	}
	return table
}()
