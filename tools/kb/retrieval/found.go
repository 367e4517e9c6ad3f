package retrieval

import (
	"context"
	"iter"
	"slices"

	"toolnorm/internal/lexical"
	"toolnorm/tools/kb/kbstore"
)

// passages returns the passages that were found, whose positions are given, with their words. Their
// texts are read later, by load, when it is known which are shown. The parameter ideal is the score
// of a perfect match. It returns an error if the index is damaged or the database fails.
func (d *disk) passages(ctx context.Context, found []ranked, ideal float64) ([]*passage, error) {
	var places []kbstore.Place
	for _, s := range found {
		if x := d.parts[s.part]; x.made == nil {
			places = append(places, kbstore.PlaceOf(x.ID, s.passage))
		}
	}
	streams, err := d.reader.Streams(ctx, places)
	if err != nil {
		return nil, err
	}
	all := make([]*passage, 0, len(found))
	for _, s := range found {
		x := d.parts[s.part]
		var stream kbstore.Stream
		if x.made != nil {
			stream = kbstore.Stream{Chunk: x.made.Chunks[s.passage],
				Tokens: x.made.Passages.Streams[s.passage]}
		} else {
			stream, streams = streams[0], streams[1:]
		}
		fields, err := lexical.ReadStream(stream.Tokens)
		if err != nil {
			return nil, d.damaged(s.part, err)
		}
		p := &passage{row: len(d.rows), Metadata: Metadata{Chunk: stream.Chunk,
			Document: x.Documents[x.Owners[s.passage]].ID, Sparse: value(s.score / ideal)}}
		if len(fields) > 0 {
			p.words.own = fields[len(fields)-1]
		}
		p.words.all = func() iter.Seq[uint32] { return d.numbers(p.text) }
		d.rowOf[stream.Chunk] = len(d.rows)
		d.rows = append(d.rows, spot{s.part, s.passage, fields})
		all = append(all, p)
	}
	return all, nil
}

// load reads the texts of the passages that do not have them yet, and returns the passages. The
// store applies the filter once more, so passages that may not be seen any more are dropped. It
// returns an error if the database fails.
func (d *disk) load(ctx context.Context, all []*passage) ([]*passage, error) {
	var ids []string
	byID := map[string]*passage{}
	for _, p := range all {
		if p.text == "" {
			ids, byID[p.Chunk] = append(ids, p.Chunk), p
		}
	}
	candidates, err := d.reader.Chunks(ctx, d.filter, ids)
	if err != nil {
		return nil, err
	}
	for i := range candidates {
		byID[candidates[i].ID].read(&candidates[i])
	}
	return slices.DeleteFunc(all, func(p *passage) bool { return p.text == "" }), nil
}

// read copies the text and the position of a passage from the store.
func (p *passage) read(c *kbstore.Candidate) {
	p.Chunk, p.text, p.Document, p.Index, p.Collection = c.ID, c.Text, c.Document, c.Index,
		c.Collection
	p.Title, p.Heading = c.Title, c.Heading
}

// nearby returns the passages in near, which were found by their vectors, without those that the
// principal may not see. A passage that the search by words has found as well is not read again;
// merge unites the two later. It returns an error if the database fails.
func (d *disk) nearby(ctx context.Context, near []*passage) ([]*passage, error) {
	var ids []string
	for _, p := range near {
		if _, known := d.rowOf[p.Chunk]; !known {
			ids = append(ids, p.Chunk)
		}
	}
	candidates, err := d.reader.Chunks(ctx, d.filter, ids)
	if err != nil {
		return nil, err
	}
	taken := map[string]*passage{}
	for i := range candidates {
		taken[candidates[i].ID] = d.take(&candidates[i])
	}
	all := []*passage{}
	for _, p := range near {
		if read := taken[p.Chunk]; read != nil {
			read.Dense, p = p.Dense, read
		} else if _, known := d.rowOf[p.Chunk]; !known {
			continue // it went meanwhile
		}
		all = append(all, p)
	}
	return all, nil
}

// take returns the passage of a candidate that the search by vectors found. If the search by words
// has not found the same passage, take splits its text into words, since its position in the index
// is not known.
func (d *disk) take(c *kbstore.Candidate) *passage {
	row, there := d.rowOf[c.ID]
	if !there {
		row = len(d.rows)
		d.rowOf[c.ID] = row
		d.rows = append(d.rows, spot{len(d.parts), 0,
			[][]uint32{slices.Collect(d.numbers(c.Title)), slices.Collect(d.numbers(c.Heading)),
				slices.Collect(d.numbers(c.Text))}})
	}
	p := &passage{row: row, words: wordsOf(d.rows[row].fields[2])}
	p.read(c)
	return p
}
