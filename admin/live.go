package admin

import (
	"cmp"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"toolnorm/chat"
	"toolnorm/internal/auth"
	"toolnorm/internal/fault"
	"toolnorm/internal/history"
	"toolnorm/internal/replay"
	"toolnorm/internal/trace"
)

// live answers the routes about the last exchanges (requests with their replies), and about model
// replies that are decoded again.
type live struct {
	trace   *trace.Log       // nil: none are recorded
	history *history.History // nil: none are recorded beyond a restart
	reasons []chat.Reason
	current *atomic.Pointer[current]
	log     zerolog.Logger
	events  *hub
	fleet   *fleet
}

// routes adds the routes for the pages Overview and Live to a server.
func (l *live) routes(to *Server) {
	to.Handle("GET "+API+"exchanges", show(l.listExchanges))
	to.Handle("GET "+API+"exchanges/live", l.followList)
	to.Handle("GET "+API+"exchanges/{id}", show(l.oneExchange))
	to.Handle("GET "+API+"exchanges/{id}/live", l.followOne)
	to.Handle("POST "+API+"exchanges/{id}/stop", show(l.stop))
	to.Handle("GET "+API+"history", show(l.search))
	to.Handle("POST "+API+"texts", show(l.texts))
	to.Handle("GET "+API+"formats", show(l.listFormats))
	to.Handle("POST "+API+"replay", show(l.replay))
	to.Handle("POST "+API+"learn", show(l.learn))
	if l.fleet.others != nil {
		l.fleet.others.Hear(aboutLive, l.answer)
	}
}

// meaning explains a repair code.
type meaning struct {
	Means string `json:"means"`
	Wrote string `json:"wrote"`
	Reads string `json:"reads"`
}

// meanings returns the meaning of every repair code, so that a page needs no second request. The
// sentences are those of docs/repairs.md, which is generated from the same list.
func (l *live) meanings() map[string]meaning {
	all := map[string]meaning{}
	for _, r := range l.reasons {
		all[r.Code] = meaning{r.Means, r.Wrote, r.Reads}
	}
	return all
}

// exchanges is the list of recorded exchanges, with the meanings of the repair codes.
type exchanges struct {
	trace.List
	Reasons map[string]meaning `json:"reasons"`
}

// exchange is one recorded exchange, as a page shows it. For each text that the model generated, it
// has the result of decoding that text again.
type exchange struct {
	Exchange *trace.Exchange `json:"exchange"`
	// the exchanges of its conversation, oldest first, without their texts
	Turns    []trace.Exchange   `json:"turns"`
	Readings []*replay.Reading  `json:"readings"`
	Reasons  map[string]meaning `json:"reasons"`
}

// listExchanges returns the recorded exchanges, without their texts, and the running requests. If
// the query parameter after has the member seen of an earlier answer, only later exchanges are
// returned, and the meanings of the codes, which do not change, are left out. If no exchanges are
// recorded, the list is empty and its member keeps, the number of exchanges that can be kept, is 0.
// It returns an error if after is not a number of at least 0.
func (l *live) listExchanges(r *http.Request) (any, error) {
	list := trace.List{Counts: map[string]int{}, Exchanges: []trace.Exchange{},
		Running: []trace.Row{}}
	after, err := strconv.Atoi(cmp.Or(r.URL.Query().Get("after"), "0"))
	if err != nil || after < 0 {
		return nil, fault.Wrong("after", "after must be the seen of an earlier list")
	}
	if l.trace != nil {
		list = l.trace.After(after)
	}
	reasons := map[string]meaning{}
	if after == 0 {
		reasons = l.meanings()
	}
	return exchanges{list, reasons}, nil
}

// stop ends a running request, here or at another replica. The client of that request gets an error
// that says that it was stopped. stop itself returns an error if no such request is running.
func (l *live) stop(r *http.Request) (any, error) {
	id := r.PathValue("id")
	stopped := l.trace != nil && l.trace.Stop(id)
	if !stopped {
		_, _, stopped = l.fleet.first(r.Context(), "", liveAsk{What: "stop", ID: id})
	}
	if !stopped {
		return nil, fault.New(fault.NotFound, "that request does not run any more")
	}
	return map[string]bool{"stopped": true}, nil
}

// mostMinutes is the longest time for which the switch on the page records texts. An administrator
// who forgets the switch should not go on recording what others write.
const mostMinutes = 120

// texts turns on the recording of texts at all replicas for some minutes, for requests that come
// from now on; 0 minutes turn it off. It returns an error if no requests are recorded, if minutes
// is out of range, or if the other replicas cannot be told.
func (l *live) texts(r *http.Request) (any, error) {
	var ask struct {
		Minutes int `json:"minutes"`
	}
	if err := read(r, &ask); err != nil {
		return nil, err
	}
	switch {
	case l.trace == nil:
		return nil, fault.New(fault.Invalid, "no requests are kept (setting trace)")
	case ask.Minutes < 0 || ask.Minutes > mostMinutes:
		return nil, fault.Wrong("minutes", "minutes must be 0 to 120")
	}
	by := auth.PrincipalOf(r.Context()).Subject
	l.keepTexts(ask.Minutes, by)
	if l.fleet.others != nil {
		if err := l.fleet.others.TellAll(aboutLive,
			liveAsk{What: "texts", Minutes: ask.Minutes, By: by}); err != nil {
			return nil, err
		}
	}
	return map[string]int{"minutes": ask.Minutes}, nil
}

// keepTexts records the texts of requests at this replica for some minutes. The log names the
// administrator who asked for it.
func (l *live) keepTexts(minutes int, by string) {
	l.trace.KeepTexts(time.Now().Add(time.Duration(minutes) * time.Minute))
	l.log.Warn().Str("by", by).Int("minutes", minutes).Msg(
		"prompts and replies are kept in memory for a time")
}

// oneExchange returns everything that is recorded of an exchange. Each text that the model
// generated is decoded again now, and not when the client asked, so that the client did not wait
// for it. If the exchange is not in this replica's memory, the replica that answered it is asked
// first, because it can know more than the history. It returns an error if no replica has the
// exchange, or if the history cannot be read.
func (l *live) oneExchange(r *http.Request) (any, error) {
	e, here, err := l.find(r.Context(), r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	if !here {
		ask, replica := liveAsk{What: "one", ID: r.PathValue("id")}, ""
		if e != nil {
			replica = cmp.Or(e.Replica, l.fleet.label)
		}
		if body, _, ok := l.fleet.first(r.Context(), replica, ask); ok {
			return body, nil
		}
	}
	if e == nil {
		return nil, fault.New(fault.NotFound,
			"that request is not kept any more; only the last ones are (settings trace and history)")
	}
	turns, err := l.turns(r.Context(), e.Conversation)
	return exchange{e, turns, l.readings(e), l.meanings()}, err
}

// readings decodes the recorded text of each generation (answer of the model) of an exchange again,
// and returns the results in order. A result is nil if its generation has no text or an incomplete
// one, or if the format is no longer known. An incomplete text is not decoded, because its cut end
// would look as if the model had stopped there.
func (l *live) readings(e *trace.Exchange) []*replay.Reading {
	if e.Bodies == nil {
		return []*replay.Reading{}
	}
	all := make([]*replay.Reading, len(e.Bodies.Wrote))
	f := l.current.Load().formats.Named(e.Format)
	if f == nil {
		return all
	}
	for i, g := range e.Bodies.Wrote {
		t := replay.Text{Tools: toolsOf(e.Bodies), Prompt: tailOf(g.Prompt),
			Messages: saidIn(e.Bodies)}
		for _, p := range g.Parts {
			switch p.Kind {
			case chat.Text.String():
				t.Raw += p.Text
			case chat.Finish.String():
				t.Cut = p.Text == chat.Length
			}
		}
		if t.Raw == "" || g.Missing > 0 || len(t.Raw) > maxReplay {
			continue
		}
		if reading, err := replay.Read(f, t); err == nil {
			all[i] = reading
		}
	}
	return all
}

// toolsOf returns the tools that were offered. A tool whose schema was not recorded has no schema,
// so any object fits. Names are recorded before schemas, so that a call of a tool with a huge
// schema is still recognized.
func toolsOf(b *trace.Bodies) []chat.Tool {
	all := make([]chat.Tool, len(b.Tools))
	for i, name := range b.Tools {
		all[i] = chat.Tool{Name: name, Schema: b.Schemas[name]}
	}
	return all
}

// saidIn returns the recorded messages of an exchange. The decoder needs them to tell whether a
// text that looks like a call is meant as one or is a quotation.
func saidIn(b *trace.Bodies) []chat.Message {
	all := make([]chat.Message, len(b.Messages))
	for i, m := range b.Messages {
		all[i] = chat.Message{Role: chat.Role(m.Role), Content: m.Text, CallID: m.CallID}
		for _, c := range m.Calls {
			all[i].Calls = append(all[i].Calls, chat.Call{ID: c.ID, Name: c.Name})
		}
	}
	return all
}

// tailOf returns the last 64 bytes of a prompt. That is enough for the decoder to see whether the
// reply begins inside reasoning.
func tailOf(prompt string) string { return prompt[max(len(prompt)-64, 0):] }

// maxReplay is the longest text that is read again, in bytes. Recorded texts are shorter.
const maxReplay = 256 << 10
