package ocr

// mostJudged is the largest number of hyphens in a run that are judged. Each of their readings is
// one bit of a 64-bit word; a reading says for each hyphen whether it is a long-vowel mark.
const mostJudged = 6

// lengthens[k] is the set of readings in which hyphen k is a long-vowel mark: reading b belongs to
// it if bit k of b is set.
var lengthens = [mostJudged]uint64{
	0xaaaa_aaaa_aaaa_aaaa, 0xcccc_cccc_cccc_cccc, 0xf0f0_f0f0_f0f0_f0f0, 0xff00_ff00_ff00_ff00,
	0xffff_0000_ffff_0000, 0xffff_ffff_0000_0000,
}

// shortest is the length of the shortest word that proves anything, in characters. With words of
// two characters, a hyphen between two words could nearly always be part of a third: ヘルプデスク-担当
// would end with クー.
const shortest = 3

// sight is what the dictionary says about a run, a sequence of katakana with hyphens. Each hyphen
// is either a long-vowel mark or a hyphen. A reading is a number that says so for all hyphens: its
// bit k is set if hyphen k is a long-vowel mark. A uint64 is a set of readings: its bit b is set if
// reading b is in the set.
type sight struct {
	readings uint64 // the readings that consist of words, split at the hyphens that stay
	ending   uint64 // the readings whose last word has at least the length shortest
	// for each hyphen, the length of the longest word that has it as a long-vowel mark
	covered [mostJudged]int
	at      [mostJudged]int // the offsets of the hyphens
	n       int             // the number of hyphens
	reach   []uint64        // for each offset, the readings that consist of words up to it
}

// judge returns a verdict for each hyphen of a run of katakana: whether it stands for the
// long-vowel mark ー. A verdict is certain if all ways to split the run into words of the dictionary
// agree on the hyphen. If they differ, or if there is no such way, the hyphen is ambiguous.
func (r *run) judge(d dictionary) []verdict {
	all := make([]verdict, len(r.hyphens))
	set := func(v verdict) []verdict {
		for i := range all {
			all[i] = v
		}
		return all
	}
	// メール, and サーバー though サーバ is a word as well: whoever wrote it with a mark meant the one with
	// the mark.
	if d.has(r.text) {
		return set(long)
	}
	// A run with so many hyphens is a line of several words without spaces, which is rare in OCR.
	if len(r.hyphens) > mostJudged {
		return set(ambiguous)
	}
	s := r.look(d)
	readings := s.preferred(r)
	if readings == 0 {
		return set(ambiguous)
	}
	for k := range all {
		all[k] = s.verdict(r, k, readings)
	}
	return all
}

// verdict decides whether the hyphen with index k is a long-vowel mark, a hyphen, or ambiguous. The
// parameter readings is the set of possible readings of the run; each reading says for every hyphen
// whether it is a long-vowel mark.
func (s *sight) verdict(r *run, k int, readings uint64) verdict {
	with, without := readings&lengthens[k], readings&^lengthens[k]
	switch {
	case with != 0 && without != 0:
		return ambiguous
	case with != 0:
		// A single character on one side is no evidence for a word, as in ア-イ.
		if s.n == 1 && (s.at[0] == 1 || s.at[0] == r.n-2) && s.covered[k] < shortest {
			return ambiguous
		}
		return long
	case s.at[k] == r.n-1: // whole words, and after them a hyphen that joins nothing
		return ambiguous
	case s.covered[k] > 0: // カメラ-レンズ could contain the name メラー
		return ambiguous
	}
	return hyphen
}

// preferred returns the readings that are worth considering. A reading says for each hyphen whether
// it is a long-vowel mark. If a hyphen at the end of the run can be a mark or not in otherwise
// equal readings, the reading without the mark is left out. For example, both サーバ and サーバー are
// words, so the hyphen of サーバ- is taken for the mark.
func (s *sight) preferred(r *run) uint64 {
	last := s.n - 1
	if s.at[last] != r.n-1 {
		return s.readings
	}
	// The reading without the last mark has its bit lower by 1<<last.
	better := s.ending & lengthens[last] >> (1 << last)
	return s.readings &^ better
}

// look finds out, for each way to read the hyphens of a run, whether the run then splits into words
// of the dictionary. A reading says for each hyphen whether it is a long-vowel mark. All readings
// are examined together, in the time of one: for each offset, look records the set of readings
// whose characters up to there consist of words.
func (r *run) look(d dictionary) *sight {
	s := &sight{n: len(r.hyphens), reach: make([]uint64, r.n+1)}
	which := make([]int, r.n) // 1 + the number of a hyphen
	for k, at := range r.hyphens {
		s.at[k], which[at] = at, k+1
	}
	s.reach[0] = ^uint64(0) >> (64 - 1<<s.n)
	for i := range r.n {
		if k := which[i]; k > 0 {
			s.reach[i+1] |= s.reach[i] &^ lengthens[k-1] // it stays, and splits
			continue
		}
		s.wordsFrom(r, d, i, which)
	}
	s.readings = s.reach[r.n]
	return s
}

// wordsFrom records the dictionary's words that begin at offset i of the run. The element which[j]
// is 0 if character j is no hyphen, and otherwise the hyphen's number, counted from 1.
func (s *sight) wordsFrom(r *run, d dictionary, i int, which []int) {
	in := ^uint64(0) // readings in which the hyphens so far are marks
	for j := i + 1; j <= min(r.n, i+longestWord); j++ {
		if k := which[j-1]; k > 0 {
			in &= lengthens[k-1] // the word has the mark
		}
		// Words of one character would match nearly every syllable.
		if j-i < 2 || !d.has(r.part(i, j)) {
			continue
		}
		s.reach[j] |= s.reach[i] & in
		if j == r.n && j-i >= shortest {
			s.ending |= s.reach[i] & in
		}
		for k := range s.n {
			if s.at[k] > i && s.at[k] < j {
				s.covered[k] = max(s.covered[k], j-i)
			}
		}
	}
}
