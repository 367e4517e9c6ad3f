package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"toolnorm/chat"
	"toolnorm/engine/upstream"
	"toolnorm/internal/fault"
)

// pool is several servers that act as one. A conversation goes to the server that its key selects,
// because that server has the prompt in its cache already, unless the server has too much to do. A
// pool is meant for a few machines. With more, a load balancer is put before them (docs/scale.md),
// which uses the same key.
type pool struct {
	name    string
	members []*member

	mu sync.Mutex // guards running of all members, since these are compared
}

// member is one server of a pool, with its state.
type member struct {
	*server
	at      string // its address
	place   uint64 // a hash of its address
	running int    // requests that it is answering for this program; guarded by the pool's lock

	mu sync.Mutex // guards the fields below
	// its models, by listedName, with their digests
	has    map[string]string
	listed time.Time // when it was last asked for its models, with or without success
	away   error     // why it cannot be reached; nil: it can, as far as is known
	full   time.Time // until when it counts as full
	// closed when the pending request for its list ends; nil: no request is pending
	asking chan struct{}
}

const (
	// balance is how many times its share of the requests a server of a pool may have before a
	// conversation goes to another one.
	balance = 2.5
	// leastBound is how many requests a server may have in any case. Waiting for one reply costs
	// less than reading a prompt anew, and with two requests among eight servers the share of each
	// is only a quarter.
	leastBound = 2
	// listedAge is how old the list of a server's models may be. awayAge is how long a server that
	// failed is not asked again. fullAge is how long a server that refused a request counts as
	// full.
	listedAge, awayAge, fullAge = 5 * time.Second, time.Second, 2 * time.Second
	// listWait is how long a server of a pool may take to list its models. A sleeping machine does
	// not answer at all.
	listWait = 2 * time.Second
)

// newPool returns a server that stands for the pool of the servers at several addresses. The
// parameter one is a function that returns the server at a single address.
func newPool(name string, ats []string, one func(at string) *server) *server {
	p := &pool{name: name}
	memory := new(memory) // what was learned about a model is true on every server
	for _, at := range ats {
		s := one(at)
		s.memory = memory
		p.members = append(p.members, &member{server: s, at: at, place: hash64(at)})
	}
	return &server{name: name, pool: p, memory: memory}
}

// ask asks a server in the background which models it has, unless it is being asked already. It
// returns a channel that is closed when the answer is known.
func (m *member) ask() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.asking == nil {
		done := make(chan struct{})
		m.asking = done
		go func() {
			defer close(done)
			ctx, cancel := context.WithTimeout(context.Background(), listWait)
			defer cancel()
			has, err := m.installed(ctx)
			m.mu.Lock()
			defer m.mu.Unlock()
			m.asking, m.listed, m.away = nil, time.Now(), nil
			switch f := fault.From(err); {
			case err == nil:
				m.has = has
			case f.Kind != fault.Busy: // a server that is loading its model is not away
				m.away = err
			}
		}()
	}
	return m.asking
}

// installed returns the models of a server, with their digests if the server sends them. It returns
// an error if the server cannot be reached.
func (m *member) installed(ctx context.Context) (map[string]string, error) {
	known, err := m.known(ctx)
	if err != nil {
		return nil, err
	}
	has := map[string]string{}
	if n, ok := known.backend.(native); ok {
		list, err := n.Tags(ctx)
		if err != nil {
			return nil, err
		}
		for _, one := range list.Models {
			has[listedName(one.Name)] = one.Digest
		}
		return has, nil
	}
	list, err := known.Models(ctx)
	for _, one := range list {
		has[listedName(one.ID)] = ""
	}
	return has, err
}

// listedName returns a model's name in the form in which lists of different servers are compared.
func listedName(model string) string {
	return strings.TrimSuffix(strings.ToLower(model), ":latest")
}

// state returns the time since the server's models were listed, and whether the list has the given
// model, in the form of listedName. The error away says why the server cannot be reached, and is
// nil if it can.
func (m *member) state(model string) (age time.Duration, has bool, away error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, has = m.has[model]
	return time.Since(m.listed), has, m.away
}

// isFull reports whether a server has just refused a request because it has too many.
func (m *member) isFull() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Now().Before(m.full)
}

// look asks servers for their lists of models, if the lists that are known from them are old. It
// waits for the answers, unless a server that answers is already known to have the model.
func (p *pool) look(ctx context.Context, model string) {
	found := false
	var coming []<-chan struct{}
	for _, m := range p.members {
		age, has, away := m.state(model)
		found = found || away == nil && has
		if away == nil && age > listedAge || away != nil && age > awayAge {
			coming = append(coming, m.ask())
		}
	}
	for _, c := range coming {
		if found {
			return
		}
		select {
		case <-c:
		case <-ctx.Done():
			return
		}
	}
}

// candidates returns the servers that answer and have the model, except those in the map failed.
// They are in the order in which the conversation with the given key prefers them. If no server
// lists the model, all servers that answer are returned, because not every kind of server lists
// everything that it has.
func (p *pool) candidates(ctx context.Context, key, model string,
	failed map[*member]error) []*member {
	model = listedName(model)
	p.look(ctx, model)
	var all, others []*member
	listed := false
	for _, m := range p.members {
		_, has, away := m.state(model)
		listed = listed || has
		switch {
		case away != nil || failed[m] != nil:
		case has:
			all = append(all, m)
		default:
			others = append(others, m)
		}
	}
	if !listed {
		all = others
	}
	of := hash64(key)
	slices.SortStableFunc(all, func(a, b *member) int {
		return cmp.Compare(preference(of, b.place), preference(of, a.place))
	})
	return all
}

// preference returns how much a conversation prefers a server, by the hashes of its key and of the
// server's address. It is the same in every replica. This is rendezvous hashing: a server that is
// added or removed changes the first choice only for the conversations that prefer it.
func preference(key, place uint64) uint64 { return upstream.Mix(key ^ place) }

// hash64 returns a hash of a short text, without a seed.
func hash64(text string) uint64 {
	var r upstream.Root
	r.Add(text)
	return r.Sum()
}

// take chooses a server for a request, and counts the request there. It returns nil if there is no
// server to choose from.
func (p *pool) take(all []*member) *member {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(all) == 0 {
		return nil
	}
	m := all[pickBounded(all, balance)]
	m.running++
	return m
}

// pickBounded returns the index of the server that gets a request. The servers are in the order in
// which a conversation prefers them. It chooses the first one that is not full and whose running
// requests are fewer than leastBound, or fewer than factor times the average. If there is no such
// server, it returns 0.
func pickBounded(all []*member, factor float64) int {
	sum := 1
	for _, m := range all {
		sum += m.running
	}
	most := max(leastBound, int(math.Ceil(factor*float64(sum)/float64(len(all)))))
	return max(0, slices.IndexFunc(all, func(m *member) bool {
		return m.running < most && !m.isFull()
	}))
}

// give subtracts one from the number of requests that are running at the server m, because a
// request has finished.
func (p *pool) give(m *member) {
	p.mu.Lock()
	defer p.mu.Unlock()
	m.running--
}

// poolAway is the code of the error for a pool in which no server answers.
const poolAway = "servers_away"

// allAway returns the error for a pool in which no server with the model answers. It names the
// servers, because a user of two machines has to know which one to look at.
func (p *pool) allAway(model string, failed map[*member]error) error {
	var said []string
	var why []error
	for _, m := range p.members {
		_, _, away := m.state(model)
		if away = cmp.Or(failed[m], away); away != nil {
			said, why = append(said, m.at), append(why, away)
		}
	}
	return &fault.Error{Kind: fault.Busy, Code: poolAway, Retry: listedAge,
		Cause: errors.Join(why...),
		Message: fmt.Sprintf(
			"no model server of %s that has %s can be reached: %s; start one of them", p.name,
			model, strings.Join(said, ", "))}
}

// list returns the models of all servers, each once. It returns an error only if no server answers.
func (p *pool) list(ctx context.Context) (all []chat.Info, err error) {
	lists, errs := make([][]chat.Info, len(p.members)), make([]error, len(p.members))
	var asked sync.WaitGroup
	for i, m := range p.members {
		asked.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, listWait)
			defer cancel()
			lists[i], errs[i] = m.list(ctx)
		})
	}
	asked.Wait()
	if !slices.Contains(errs, nil) {
		return nil, errors.Join(errs...)
	}
	known := map[string]bool{}
	for _, list := range lists {
		for _, m := range list {
			if name := listedName(m.ID); !known[name] {
				known[name], all = true, append(all, m)
			}
		}
	}
	return all, nil
}

// known returns a server of the pool that has the model. If a server was already chosen for the
// request that ctx belongs to, known returns that server. Otherwise it returns the one that the
// conversation prefers. It returns an error if no server with the model answers.
func (p *pool) known(ctx context.Context, model string) (*server, error) {
	t, _ := ctx.Value(turnKey{}).(*turn)
	if t == nil {
		all := p.candidates(ctx, upstream.Conversation(ctx), model, nil)
		if len(all) == 0 {
			return nil, p.allAway(model, nil)
		}
		return all[0].known(ctx)
	}
	if t.at == nil {
		if err := t.choose(ctx, p, model); err != nil {
			return nil, err
		}
	}
	return t.at.known(ctx)
}
