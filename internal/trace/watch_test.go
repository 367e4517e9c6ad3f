package trace

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"sync"
	"testing"
	"time"

	"toolnorm/chat"
	"toolnorm/internal/test/must"
)

// grow puts what a watch returns into the sides that a page shows.
func grow(sides []Side, all []Grown) []Side {
	for _, g := range all {
		for len(sides) <= g.Generation {
			sides = append(sides, Side{})
		}
		s := &sides[g.Generation]
		if g.Number == len(s.Parts) {
			s.Parts = append(s.Parts, g.Part)
			continue
		}
		text := s.Parts[g.Number].Text + g.Text
		s.Parts[g.Number] = g.Part
		s.Parts[g.Number].Text = text
	}
	return sides
}

// someEvent is any event of a reply.
func someEvent(r *rand.Rand) chat.Event {
	kinds := []chat.Kind{chat.Text, chat.Text, chat.Text, chat.Reasoning, chat.CallStart, chat.CallArgs, chat.CallArgs, chat.CallEnd, chat.Usage}
	return chat.Event{Kind: kinds[r.IntN(len(kinds))], Index: r.IntN(2), Text: []string{"", "a", "é", "<tool_call>", "long long text "}[r.IntN(5)]}
}

// TestAWatchSeesWhatIsKept lets a watch look at random moments of random replies, those that are
// too long to be kept included: what it puts together is what is kept, whatever the moments, also if
// another watch goes on from where it was, as for a page at another replica.
func TestAWatchSeesWhatIsKept(t *testing.T) {
	for _, seed := range []uint64{1, 2, 3, 77, 20261123} {
		r := rand.New(rand.NewPCG(seed, 0))
		for range 200 {
			l := New(1, true)
			e := l.Begin("id", "chat", "/", time.Now())
			l.Show(e, func() {})
			w := l.Watch("id", Seen{})
			var wrote, left []Side
			var repairs []string
			look := func() {
				c, _, _ := w.Next()
				wrote, left = grow(wrote, c.Wrote), grow(left, c.Left)
				repairs = append(repairs, c.Repairs...)
				if r.IntN(2) == 0 {
					var seen Seen
					body, err := json.Marshal(w.Seen)
					must.OK(t, errors.Join(err, json.Unmarshal(body, &seen)))
					w = l.Watch("id", seen)
				}
			}
			e.Bodies.leftRoom, e.Bodies.wroteRoom = r.IntN(2000), r.IntN(2000)
			hear := e.Bodies.Heard("raw")
			for range r.IntN(60) {
				switch r.IntN(8) {
				case 0:
					hear = e.Bodies.Heard("reasked")
				case 1, 2, 3:
					ev := someEvent(r)
					hear(ev)
				case 4:
					e.Decided(fmt.Sprint("code", r.IntN(3)))
				case 5:
					look()
				default:
					ev := someEvent(r)
					e.Event(&ev)
				}
			}
			look()
			if c, something, ended := w.Next(); something || ended {
				t.Fatalf("seed %d: nothing has come, and the watch has %+v, ended %v", seed, c, ended)
			}
			var kept []Side
			e.Bodies.seal()
			for i, g := range e.Bodies.Wrote {
				if len(g.Parts) > 0 {
					for len(kept) < i {
						kept = append(kept, Side{})
					}
					kept = append(kept, Side{Parts: g.Parts})
				}
			}
			if !reflect.DeepEqual(wrote, kept) {
				t.Fatalf("seed %d: the model wrote\n%+v\nand the watch saw\n%+v", seed, kept, wrote)
			}
			if len(left) > 0 && !reflect.DeepEqual(left[0].Parts, e.Bodies.Left.Parts) || len(left) == 0 && len(e.Bodies.Left.Parts) > 0 {
				t.Fatalf("seed %d: what left is\n%+v\nand the watch saw\n%+v", seed, e.Bodies.Left.Parts, left)
			}
			if !reflect.DeepEqual(repairs, e.run.decided) && len(repairs)+len(e.run.decided) > 0 {
				t.Fatalf("seed %d: repairs %v, seen %v", seed, e.run.decided, repairs)
			}
			l.Add(e)
			if _, _, ended := w.Next(); !ended || l.Watch("id", Seen{}) != nil {
				t.Fatalf("seed %d: the watch does not end with the exchange", seed)
			}
		}
	}
}

// TestAListIsFollowed has changes alone sent: what a follower puts together is the list.
func TestAListIsFollowed(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	l := New(50, false)
	f := NewFollow(l)
	rows, seen := map[string]int64{}, []string{}
	var open []*Exchange
	for i := range 500 {
		switch n := r.IntN(5); {
		case n == 0 && len(open) < 20:
			e := l.Begin(fmt.Sprint(i), "chat", "/", time.Now())
			l.Show(e, nil)
			open = append(open, e)
		case n == 1 && len(open) > 0:
			at := r.IntN(len(open))
			l.Add(open[at])
			open = append(open[:at], open[at+1:]...)
		case n == 2 && len(open) > 0:
			open[r.IntN(len(open))].Count(time.Second)
		case n == 3:
			news, _ := f.Next()
			for _, row := range news.Running {
				rows[row.ID] = row.Pieces
			}
			for _, id := range news.Gone {
				delete(rows, id)
			}
			for _, e := range news.Exchanges {
				seen = append(seen, e.ID)
			}
			want := map[string]int64{}
			for _, e := range open {
				want[e.ID] = e.run.pieces.Load()
			}
			if !reflect.DeepEqual(rows, want) || len(seen) != l.List().Seen {
				t.Fatalf("after %d: rows %v, want %v; %d were seen of %d", i, rows, want, len(seen), l.List().Seen)
			}
			if again, something := f.Next(); something || len(again.Running)+len(again.Gone)+len(again.Exchanges) > 0 {
				t.Fatalf("nothing has changed, and %+v is sent", again)
			}
		}
	}
}

// TestManyLookWhileAReplyComes is for the race detector.
func TestManyLookWhileAReplyComes(t *testing.T) {
	l := New(4, true)
	var all sync.WaitGroup
	for i := range 4 {
		id := fmt.Sprint(i)
		e := l.Begin(id, "chat", "/", time.Now())
		l.Show(e, nil)
		w, f := l.Watch(id, Seen{}), NewFollow(l)
		all.Go(func() {
			e.Asked(&chat.Request{Model: "m"}, true)
			hear := e.Bodies.Heard("raw")
			for range 300 {
				hear(chat.Event{Kind: chat.Text, Text: "word "})
				e.Count(1)
				e.Event(&chat.Event{Kind: chat.Text, Text: "word "})
				e.Decided("quotes")
			}
			e.End(200, nil, 0, 0)
			l.Add(e)
		})
		all.Go(func() {
			for ended := false; !ended; {
				var c Change
				c, _, ended = w.Next()
				for _, g := range c.Left {
					_ = len(g.Text)
				}
				f.Next()
			}
		})
	}
	all.Wait()
}
