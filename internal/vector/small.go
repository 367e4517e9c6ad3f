package vector

import "math"

// Small is an Index that stores one byte instead of four for each number. For example, 100,000
// vectors of 1,024 numbers take 97 MB instead of 390. It is not faster. Its scores are less exact,
// so a caller should take four times as many hits as it wants and order them by the vectors
// themselves.
type Small struct {
	dimensions int
	rows       []int8
	scales     []float32 // the value of one step of a byte, for each row
}

// Small returns the vectors of an index as a Small.
func (x *Index) Small() *Small {
	s := &Small{dimensions: x.dimensions}
	for row := range len(x.rows) / max(1, x.dimensions) {
		s.Set(row, x.rows[row*x.dimensions:(row+1)*x.dimensions])
	}
	return s
}

// Set stores the vector of a row, as Index.Set does, and reports whether v was stored.
func (x *Small) Set(row int, v []float32) bool {
	if missing := row + 1 - len(x.scales); missing > 0 {
		x.scales = append(x.scales, make([]float32, missing)...)
		x.rows = append(x.rows, make([]int8, missing*x.dimensions)...)
	}
	to := x.rows[row*x.dimensions : (row+1)*x.dimensions]
	clear(to)
	x.scales[row] = 0
	if len(v) != x.dimensions {
		return false
	}
	x.scales[row] = squeeze(to, unit(v))
	return len(v) > 0
}

// Dimensions returns the length of the vectors, or 0 if there are none.
func (x *Small) Dimensions() int { return x.dimensions }

// squeeze encodes the numbers of v as the bytes of the slice to, and returns the value of one step
// of a byte, or 0 if v is all zeros. The largest number becomes 127. Each row has its own scale,
// because a common one would leave two bits for a row with small numbers.
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

// Search returns the n rows whose rounded vectors are nearest to q, the nearest first. Only rows
// for which the function allowed returns true count. Vectors are rounded to one byte a number, so
// Search is fast but not exact. A caller that needs the nearest k rows asks for 4k rows, which
// contain them, and orders these by the exact vectors. Search returns nil if q has another length
// than the vectors.
func (x *Small) Search(q []float32, n int, allowed func(row int) bool) []Hit {
	if x.dimensions == 0 || len(q) != x.dimensions {
		return nil
	}
	bytes := make([]int8, len(q))
	scale := squeeze(bytes, unit(q))
	return nearest(len(x.scales), n, allowed, func(row int) float32 {
		return float32(dot8(bytes,
			x.rows[row*x.dimensions:(row+1)*x.dimensions])) * scale * x.scales[row]
	})
}

// dot8 returns the dot product, with four sums as in dot. A sum of 1,024 products of bytes is below
// 2^24, so 32 bits are enough for vectors of 100,000 numbers.
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
