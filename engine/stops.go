package engine

import (
	"iter"
	"strings"

	"toolnorm/chat"
)

// stopped ends a reply where its visible text holds one of the sequences, which itself is not shown. It holds back only
// what may become one: the longest end of the text that begins a sequence. Other events let go of what is held, since a
// sequence does not reach across them.
func stopped(in iter.Seq2[chat.Event, error], stops []string) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		held := ""
		text := func(s string) bool { return s == "" || yield(chat.Event{Kind: chat.Text, Text: s}, nil) }
		for ev, err := range in {
			if err == nil && ev.Kind == chat.Text {
				all := held + ev.Text
				if at := first(all, stops); at >= 0 {
					if text(all[:at]) {
						yield(chat.Event{Kind: chat.Finish, Text: chat.Stop}, nil)
					}
					return
				}
				keep := beginning(all, stops)
				held = all[len(all)-keep:]
				if !text(all[:len(all)-keep]) {
					return
				}
				continue
			}
			if !text(held) || !yield(ev, err) {
				return
			}
			held = ""
		}
	}
}

// first is where the sequence begins that is complete first in s, the longest if several end there; -1 when none is.
// What counts is the end, so that text that comes in pieces stops where the same text in one piece does.
func first(s string, stops []string) int {
	found, end := -1, len(s)+1
	for _, stop := range stops {
		at := strings.Index(s, stop)
		if stop == "" || at < 0 {
			continue
		}
		if e := at + len(stop); e < end || e == end && at < found {
			found, end = at, e
		}
	}
	return found
}

// beginning is the length of the longest end of s that begins a sequence without completing it.
func beginning(s string, stops []string) int {
	longest := 0
	for _, stop := range stops {
		for n := min(len(stop)-1, len(s)); n > longest; n-- {
			if strings.HasSuffix(s, stop[:n]) {
				longest = n
			}
		}
	}
	return longest
}
