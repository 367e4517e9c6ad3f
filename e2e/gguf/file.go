package gguf

import (
	"cmp"
	"encoding/binary"
	"io"
	"math"
)

// Value types of GGUF.
const (
	typeU32    = 4
	typeI32    = 5
	typeF32    = 6
	typeBool   = 7
	typeString = 8
	typeArray  = 9
)

// It is what GGUF takes when the key general.alignment is missing, as it is here.
const alignment = 32

// describe writes the keys of the file: what a server must know of the model besides its weights.
// With 1e9 as the base of the rotary embedding, the slowest rotation in each attention head is too
// small to matter.
func (m *Model) describe(f *file, v *vocabulary) {
	f.str("general.architecture", "llama")
	f.str("general.name", "scripted")
	f.u32("general.file_type", 7) // mostly Q8_0
	f.u32("llama.block_count", 1)
	f.u32("llama.context_length", cmp.Or(m.Context, 32768))
	f.u32("llama.embedding_length", uint32(m.width()))
	f.u32("llama.feed_forward_length", ffn)
	f.u32("llama.attention.head_count", uint32(m.width()/head))
	f.u32("llama.attention.head_count_kv", uint32(m.width()/head))
	f.f32("llama.attention.layer_norm_rms_epsilon", 1e-6)
	f.u32("llama.rope.dimension_count", head)
	f.f32("llama.rope.freq_base", 1e9)
	if m.Embeds {
		f.u32("llama.pooling_type", 1) // mean
	}
	f.u32("llama.vocab_size", uint32(len(v.tokens)))
	f.str("tokenizer.ggml.model", "gpt2")
	f.str("tokenizer.ggml.pre", "default")
	f.strs("tokenizer.ggml.tokens", v.tokens)
	f.i32s("tokenizer.ggml.token_type", v.types)
	f.strs("tokenizer.ggml.merges", []string{"Ġ t"})
	f.u32("tokenizer.ggml.bos_token_id", uint32(v.bos))
	f.u32("tokenizer.ggml.eos_token_id", uint32(v.eos))
	f.boolean("tokenizer.ggml.add_bos_token", true)
	if m.template != "" {
		f.str("tokenizer.chat_template", m.template)
	}
}

// file is a GGUF file while it is made. All numbers are little endian. First come the keys, then
// the places of the tensors, then their data. Keys and places are kept in memory until all are
// known, because the file begins with their numbers.
type file struct {
	keys, places []byte
	numKeys      uint64
	tensors      []tensor
	offset       uint64 // of the next tensor, from the start of the data
}

// key begins an entry of the file's metadata with its name and the kind of its value; the caller
// appends the value. It counts the entry, because the file's head says how many there are.
func (f *file) key(name string, kind uint32) {
	f.numKeys++
	f.keys = appendString(f.keys, name)
	f.keys = binary.LittleEndian.AppendUint32(f.keys, kind)
}

func (f *file) str(name, value string) {
	f.key(name, typeString)
	f.keys = appendString(f.keys, value)
}

func (f *file) u32(name string, value uint32) {
	f.key(name, typeU32)
	f.keys = binary.LittleEndian.AppendUint32(f.keys, value)
}

func (f *file) f32(name string, value float32) {
	f.key(name, typeF32)
	f.keys = binary.LittleEndian.AppendUint32(f.keys, math.Float32bits(value))
}

func (f *file) boolean(name string, value bool) {
	f.key(name, typeBool)
	f.keys = append(f.keys, map[bool]byte{true: 1}[value])
}

func (f *file) array(name string, kind uint32, n int) {
	f.key(name, typeArray)
	f.keys = binary.LittleEndian.AppendUint32(f.keys, kind)
	f.keys = binary.LittleEndian.AppendUint64(f.keys, uint64(n))
}

func (f *file) strs(name string, values []string) {
	f.array(name, typeString, len(values))
	for _, s := range values {
		f.keys = appendString(f.keys, s)
	}
}

func (f *file) i32s(name string, values []int32) {
	f.array(name, typeI32, len(values))
	for _, x := range values {
		f.keys = binary.LittleEndian.AppendUint32(f.keys, uint32(x))
	}
}

// tensor adds a tensor to the file, and its place: its name, its size, and the offset at which its
// data begins. The offset is a multiple of the alignment, counted from the start of all data.
func (f *file) tensor(t tensor) {
	f.places = appendString(f.places, t.name)
	f.places = binary.LittleEndian.AppendUint32(f.places, uint32(len(t.dims)))
	for _, d := range t.dims {
		f.places = binary.LittleEndian.AppendUint64(f.places, d)
	}
	f.places = binary.LittleEndian.AppendUint32(f.places, t.kind())
	f.places = binary.LittleEndian.AppendUint64(f.places, f.offset)
	f.offset += (t.size() + alignment - 1) / alignment * alignment
	f.tensors = append(f.tensors, t)
}

// writeTo writes the file in the format GGUF, version 3: head, keys, places of the tensors, and
// their data. llama.cpp and Ollama can both read this version. It returns an error if w does.
func (f *file) writeTo(w io.Writer) (n int64, err error) {
	out := []byte("GGUF")
	out = binary.LittleEndian.AppendUint32(out, 3)
	out = binary.LittleEndian.AppendUint64(out, uint64(len(f.tensors)))
	out = binary.LittleEndian.AppendUint64(out, f.numKeys)
	out = append(append(out, f.keys...), f.places...)
	for _, t := range f.tensors {
		n, err = flush(w, n, out, err)
		out = t.append(out[:0])
	}
	return flush(w, n, out, err)
}

// flush writes b, followed by zeros up to the alignment, and returns n plus the number of bytes
// written. If err is not nil, because an earlier write failed, it only returns n and err.
func flush(w io.Writer, n int64, b []byte, err error) (int64, error) {
	if err != nil {
		return n, err
	}
	b = append(b, make([]byte, (alignment-len(b)%alignment)%alignment)...)
	wrote, err := w.Write(b)
	return n + int64(wrote), err
}

// appendString writes a string as GGUF does: its length in eight bytes, then its bytes, without a
// zero byte at the end.
func appendString(b []byte, s string) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(len(s)))
	return append(b, s...)
}
