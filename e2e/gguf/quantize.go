package gguf

import (
	"encoding/binary"
	"math"
)

// Tensor types of GGUF. The output matrix is read whole for every token, so a quarter of its size
// is four times the speed; its margins are tens of times what rounding takes.
const (
	kindF32 = 0
	kindQ8  = 8 // blocks of 32 numbers: a scale in half precision, then a byte each

	block      = 32
	blockBytes = 2 + block
)

func (t tensor) kind() uint32 {
	if t.small {
		return kindQ8
	}
	return kindF32
}

// size returns the tensor's length in the file, without padding.
func (t tensor) size() uint64 {
	if t.small {
		return uint64(len(t.data)) / block * blockBytes
	}
	return 4 * uint64(len(t.data))
}

// append writes the tensor's data.
func (t tensor) append(out []byte) []byte {
	if t.small {
		for i := 0; i < len(t.data); i += block {
			out = appendBlock(out, t.data[i:i+block])
		}
		return out
	}
	for _, x := range t.data {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out
}

// appendBlock writes 32 numbers as Q8_0: the largest becomes 127 or -127, and a block of zeros has
// the scale 0.
func appendBlock(out []byte, data []float32) []byte {
	var most float32
	for _, x := range data {
		most = max(most, float32(math.Abs(float64(x))))
	}
	scale := most / 127
	out = binary.LittleEndian.AppendUint16(out, half(scale))
	for _, x := range data {
		q := 0.0
		if scale > 0 {
			q = math.Round(float64(x / scale))
		}
		out = append(out, byte(int8(q)))
	}
	return out
}

// half returns a number in half precision. Only zero and what half precision holds as a normal
// number occur here: scales between 0.0001 and 1. Subnormal numbers would need another way of
// rounding; the smallest normal one stands for them.
func half(x float32) uint16 {
	if x == 0 {
		return 0
	}
	bits := math.Float32bits(x) + 1<<12 // rounds the 13 bits that go
	exponent := int(bits>>23) - 127 + 15
	if exponent < 1 {
		return 1 << 10 // the smallest normal number
	}
	return uint16(exponent)<<10 | uint16(bits>>13&0x3ff)
}
