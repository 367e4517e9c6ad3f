package vector

import "math"

// Small holds vectors in a quarter of the memory, a byte a number: 100,000 of 1,024 take 97 MB and not
// 390. It is no faster. What it finds is near enough that the best of four times as many hold the true
// ones, which the vectors themselves then order.
type Small struct {
	dimensions int
	rows       []int8
	scales     []float32 // what a byte of each row stands for
}

// spare is how many times as many candidates are ordered by their vectors as were asked for.
const spare = 4

// NewSmall makes an index; all vectors have to have the same length.
func NewSmall(vectors [][]float32) *Small {
	x := new(Small)
	if len(vectors) > 0 {
		x.dimensions = len(vectors[0])
	}
	x.rows, x.scales = make([]int8, len(vectors)*x.dimensions), make([]float32, len(vectors))
	for i, v := range vectors {
		x.scales[i] = squeeze(x.rows[i*x.dimensions:(i+1)*x.dimensions], unit(v))
	}
	return x
}

// Dimensions is the length of the vectors; 0 when there are none.
func (x *Small) Dimensions() int { return x.dimensions }

// squeeze writes v as bytes. Each row has a scale of its own: one for all would leave two bits to a row
// whose numbers are small. The largest number becomes 127; what one stands for is given.
func squeeze(to []int8, v []float32) float32 {
	var most float32
	for _, a := range v {
		most = max(most, a, -a)
	}
	if most == 0 {
		return 0
	}
	for i, a := range v {
		to[i] = int8(math.Round(float64(a / most * 127)))
	}
	return most / 127
}

// Search is Index.Search; exact gives the vector of a row, or nil when there is none any more, and orders
// the candidates. Without it the order is that of the bytes.
func (x *Small) Search(q []float32, n int, allowed func(row int) bool, exact func(row int) []float32) []Hit {
	if x.dimensions == 0 || len(q) != x.dimensions {
		return nil
	}
	q = unit(q)
	bytes := make([]int8, len(q))
	scale := squeeze(bytes, q)
	near := func(row int) float32 {
		return float32(dot8(bytes, x.rows[row*x.dimensions:(row+1)*x.dimensions])) * scale * x.scales[row]
	}
	if exact == nil {
		return nearest(len(x.scales), n, allowed, near)
	}
	var hits []Hit
	for _, hit := range nearest(len(x.scales), spare*n, allowed, near) {
		if v := exact(hit.Row); len(v) == len(q) {
			hits = append(hits, Hit{hit.Row, dot(q, unit(v))})
		}
	}
	return first(n, hits)
}

// dot8 has four sums, as dot. A sum of 1,024 products of bytes is below 2^24, so 32 bits are enough for
// vectors of 100,000 numbers.
func dot8(a, b []int8) int32 {
	var s0, s1, s2, s3 int32
	b = b[:len(a)]
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += int32(a[i]) * int32(b[i])
		s1 += int32(a[i+1]) * int32(b[i+1])
		s2 += int32(a[i+2]) * int32(b[i+2])
		s3 += int32(a[i+3]) * int32(b[i+3])
	}
	for ; i < len(a); i++ {
		s0 += int32(a[i]) * int32(b[i])
	}
	return s0 + s1 + s2 + s3
}
