package gguf

import (
	"math"
	"math/rand/v2"
	"slices"
)

// The shape of the model, and the strengths that its weights are made of.
const (
	wide = 512 // width: dims 0..3 are flags, the others hold u
	slim = 128 // of a small model
	head = 128 // width of a head
	ffn  = 32  // all zero

	flagAny      = 0 // 1 on every token
	flagSelector = 1 // 1 on selectors
	flagBOS      = 2 // 1 on the begin-of-sequence token
	flagLast     = 3 // 2 on the last piece of a script that ends
	firstFree    = 4

	chain = 10.0 // pull of the next piece
	start = 4.5  // pull of the first piece, by the selector that attention has copied
	// pull of the piece behind one that scripts share, by the same selector: less than that of a
	// first piece
	whose = 2.0
)

// width returns how many numbers the vector of a token has. The more it has, the longer attention
// takes.
func (m *Model) width() int {
	if m.Small {
		return slim
	}
	return wide
}

// gain returns the factor by which the vectors of a smaller model are multiplied to get the same
// logits. It is needed because a normalised vector is as long as the root of the model's width.
func (m *Model) gain() float32 { return float32(math.Sqrt(wide / float64(m.width()))) }

// tensor is one array of the model's weights. The names are those that llama.cpp looks for in a
// model of type llama. It needs all norms, gates and matrices, even those that do nothing here.
type tensor struct {
	name  string
	dims  []uint64 // input first
	data  []float32
	small bool // to be written in eight bits a number
}

// tensors returns the weights of the model. A matrix has one row for each output, and each row has
// one weight for each input.
func (m *Model) tensors(v *vocabulary) []tensor {
	n, dim := len(v.tokens), m.width()
	u := m.directions(v)
	q, k := attention(dim)
	row, square := []uint64{uint64(dim)}, []uint64{uint64(dim), uint64(dim)}
	up, down := []uint64{uint64(dim), ffn}, []uint64{ffn, uint64(dim)}
	all := []uint64{uint64(dim), uint64(n)}
	ones, zero := slices.Repeat([]float32{1}, dim), make([]float32, dim*ffn)
	return []tensor{
		{name: "token_embd.weight", dims: all, data: m.embeddings(v, u)},
		{name: "blk.0.attn_norm.weight", dims: row, data: ones},
		{name: "blk.0.attn_q.weight", dims: square, data: q},
		{name: "blk.0.attn_k.weight", dims: square, data: k},
		{name: "blk.0.attn_v.weight", dims: square, data: diagonal(1, dim)},
		{name: "blk.0.attn_output.weight", dims: square, data: diagonal(0.1*m.gain(), dim)},
		{name: "blk.0.ffn_norm.weight", dims: row, data: ones},
		{name: "blk.0.ffn_gate.weight", dims: up, data: zero},
		{name: "blk.0.ffn_up.weight", dims: up, data: zero},
		{name: "blk.0.ffn_down.weight", dims: down, data: zero},
		{name: "output_norm.weight", dims: row, data: ones},
		{name: "output.weight", dims: all, data: m.output(v, u), small: true},
	}
}

// directions returns a vector for each token of the vocabulary. The vectors decide which token
// follows which. Mostly they are random. But if m.Small is set, each token that chooses a script
// has a dimension of its own, the pieces of scripts are random in the others, and all other tokens
// are zero.
func (m *Model) directions(v *vocabulary) [][]float32 {
	if !m.Small {
		return v.align(random(len(v.tokens), firstFree, m.width()))
	}
	choose := append([]int{v.bos}, v.selectors...)
	u := random(len(v.tokens), firstFree+len(choose), m.width())
	for i := range v.selectors[len(v.selectors)-1] + 1 {
		u[i] = make([]float32, m.width())
	}
	for i, s := range choose {
		u[s][firstFree+i] = 1
	}
	return v.align(u)
}

// random returns n random vectors of length 1. Their first numbers, as many as the parameter first
// says, are zero; the others are Gaussian. With many dimensions the vectors are nearly at right
// angles, so a token brings up hardly any token but the one that it should. The seed is fixed, so
// that a model is the same each time.
func random(n, first, dim int) [][]float32 {
	r := rand.New(rand.NewPCG(7, 7))
	out := make([][]float32, n)
	for i := range out {
		out[i] = make([]float32, dim)
		var sum float64
		for d := first; d < dim; d++ {
			x := r.NormFloat64()
			out[i][d] = float32(x)
			sum += x * x
		}
		scale := float32(1 / math.Sqrt(sum))
		for d := range out[i] {
			out[i][d] *= scale
		}
	}
	return out
}

// align gives all pieces that come before the same shared piece one common vector in u, and returns
// u. A shared piece occurs in several scripts; the pieces before it must not be shared themselves.
// With a vector for each of them, the shared piece would come up by chance.
func (v *vocabulary) align(u [][]float32) [][]float32 {
	first := map[int]int{} // of those in front of a shared piece
	for _, pieces := range v.pieces {
		for k := 1; k < len(pieces); k++ {
			before, after := pieces[k-1], pieces[k]
			if !v.shared[after] || v.shared[before] {
				continue
			}
			if _, known := first[after]; !known {
				first[after] = before
			}
			u[before] = u[first[after]]
		}
	}
	return u
}

// embeddings returns the vectors of all tokens, one after the other. The last piece of a script has
// a flag that makes the end of the reply follow. A piece that several scripts share has no such
// flag, as it may be in the middle of one of them.
func (m *Model) embeddings(v *vocabulary, u [][]float32) []float32 {
	dim := m.width()
	out := make([]float32, len(u)*dim)
	row := func(i int) []float32 { return out[i*dim : (i+1)*dim] }
	for i := range u {
		addScaled(row(i), 2, u[i])
		row(i)[flagAny] = 1
	}
	for _, s := range v.selectors {
		row(s)[flagSelector] = 1
	}
	row(v.bos)[flagBOS] = 1
	for i, pieces := range v.pieces {
		if len(pieces) > 0 && !m.scripts[i].Loop && !v.shared[pieces[len(pieces)-1]] {
			row(pieces[len(pieces)-1])[flagLast] = 2
		}
	}
	return out
}

// attention returns the query and key matrices of the given width, the same in all heads. They make
// each token look at the latest selector (a token that chooses a script) before it. Rotary
// embedding turns dims 2i and 2i+1 of a head by 1e9^(-2i/128) a position. For i = 63 that is nearly
// nothing: there a selector scores 866, the begin token 62, and others 0. For i = 28 the query is
// at a right angle to the key, so a selector's score falls by 0.19 with each position between them.
func attention(dim int) (q, k []float32) {
	root := math.Sqrt(float64(dim))
	common := root / math.Sqrt(5)  // dim 0 of an ordinary token after the norm
	flagged := root / math.Sqrt(6) // the flags of a selector or the begin token
	q, k = make([]float32, dim*dim), make([]float32, dim*dim)
	for h := range dim / head {
		at := func(row, col int) int { return (h*head+row)*dim + col }
		q[at(126, flagAny)] = float32(14 / common)
		k[at(126, flagSelector)] = float32(700 / flagged)
		k[at(126, flagBOS)] = float32(50 / flagged)
		q[at(57, flagAny)] = float32(57 / common)
		k[at(56, flagSelector)] = float32(320 / flagged)
	}
	return q, k
}

// output returns a matrix with a row for each token, which decides after which tokens that token
// comes. The row is made from the vectors of these tokens in u. The first token of a script comes
// after the script's selector. That of the script "default" also comes after the begin token, which
// attention finds if the prompt has no selector.
func (m *Model) output(v *vocabulary, u [][]float32) []float32 {
	dim := m.width()
	out := make([]float32, len(u)*dim)
	row := func(i int) []float32 { return out[i*dim : (i+1)*dim] }
	row(v.eos)[flagLast] = chain * m.gain()
	pulls := map[int][]pull{}
	for i, s := range m.scripts {
		pieces, first := v.pieces[i], v.eos
		if len(pieces) > 0 {
			first = pieces[0]
		}
		pulls[first] = append(pulls[first], pull{v.selectors[i], start})
		if s.Name == "default" {
			pulls[first] = append(pulls[first], pull{v.bos, start})
		}
		if len(pieces) > 0 && v.shared[pieces[len(pieces)-1]] {
			pieces = append(slices.Clip(pieces), v.eos)
		}
		for k := 1; k < len(pieces); k++ {
			after, by := pieces[k], pull{pieces[k-1], chain}
			same := func(p pull) bool { return p.by == chain && &u[p.of][0] == &u[by.of][0] }
			if !slices.ContainsFunc(pulls[after], same) {
				pulls[after] = append(pulls[after], by)
			}
			if v.shared[by.of] {
				pulls[after] = append(pulls[after], pull{v.selectors[i], whose})
			}
		}
		if s.Loop && len(pieces) > 0 {
			pulls[first] = append(pulls[first], pull{pieces[len(pieces)-1], chain})
		}
	}
	for i, list := range pulls {
		for k := range list {
			list[k].by *= m.gain()
		}
		for _, p := range list {
			addScaled(row(i), p.by, u[p.of])
		}
		if v.shares() {
			settle(row(i), v.quiet(list), u)
		}
	}
	return out
}

// pull says how strongly a token makes another one likely to follow.
type pull struct {
	of int
	by float32
}

// shares reports whether scripts have pieces in common.
func (v *vocabulary) shares() bool {
	for _, is := range v.shared {
		if is {
			return true
		}
	}
	return false
}

// quiet returns the list with a pull added for each missing selector, a token that chooses a
// script. The added pulls have the strength 0, so that no selector makes a token follow by chance.
func (v *vocabulary) quiet(list []pull) []pull {
	for _, s := range v.selectors {
		if !slices.ContainsFunc(list, func(p pull) bool { return p.of == s }) {
			list = append(list, pull{s, 0})
		}
	}
	return list
}

// settle adjusts a token's row so that the token comes up after each token in pulls exactly as
// strongly as the pull says. The pulls disturb each other, because directions are never quite at
// right angles. Each step sets one pull right and disturbs the others a little; twelve rounds
// suffice.
func settle(row []float32, pulls []pull, u [][]float32) {
	for range 12 {
		for _, p := range pulls {
			var has float32
			for d, x := range u[p.of] {
				has += x * row[d]
			}
			addScaled(row, p.by-has, u[p.of])
		}
	}
}

func addScaled(dst []float32, by float32, src []float32) {
	for i, x := range src {
		dst[i] += by * x
	}
}

func diagonal(x float32, dim int) []float32 {
	out := make([]float32, dim*dim)
	for i := range dim {
		out[i*dim+i] = x
	}
	return out
}
