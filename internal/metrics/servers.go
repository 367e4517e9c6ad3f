package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"toolnorm/engine"
)

// servers is a prometheus.Collector for the state of the model servers. It asks them at a scrape; a
// scrape soon after another one gets the same state.
type servers struct {
	up, queue, running *prometheus.Desc
	models             *models

	mu    sync.Mutex
	found []engine.State
	asked time.Time
}

// init sets the descriptions of the metrics.
func (s *servers) init(m *models) {
	s.models = m
	s.up = prometheus.NewDesc("toolnorm_server_up", "1 if the model server answers, else 0.",
		[]string{provider}, nil)
	s.queue = prometheus.NewDesc("toolnorm_server_queue",
		"Requests that wait for a model server, since it is busy.", []string{provider}, nil)
	s.running = prometheus.NewDesc("toolnorm_server_running",
		"Requests that a server of a pool answers for this process.", []string{provider}, nil)
}

// Describe implements prometheus.Collector: it sends the descriptions of the metrics.
func (s *servers) Describe(to chan<- *prometheus.Desc) {
	to <- s.up
	to <- s.queue
	to <- s.running
}

// Collect implements prometheus.Collector: it sends the current values.
func (s *servers) Collect(to chan<- prometheus.Metric) {
	for _, state := range s.states() {
		up := 0.0
		if state.Up {
			up = 1
		}
		to <- prometheus.MustNewConstMetric(s.up, prometheus.GaugeValue, up, state.Label())
		to <- prometheus.MustNewConstMetric(s.queue, prometheus.GaugeValue, float64(state.Waiting),
			state.Label())
		if state.At != "" {
			to <- prometheus.MustNewConstMetric(s.running, prometheus.GaugeValue,
				float64(state.Running), state.Label())
		}
	}
}

// freshFor is how long a state is reused for further scrapes.
const freshFor = 5 * time.Second

// states returns the states of the servers, which are at most freshFor old. Concurrent scrapes wait
// for one answer. Without a source there are none.
func (s *servers) states() []engine.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	from := s.models.source.Load()
	if from == nil || time.Since(s.asked) < freshFor {
		return s.found
	}
	ctx, cancel := context.WithTimeout(context.Background(), askWait)
	defer cancel()
	s.found, s.asked = (*from).States(ctx), time.Now()
	s.models.learn(s.found)
	return s.found
}
