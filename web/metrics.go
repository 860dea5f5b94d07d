package web

import (
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/robotmem/robotmem-go/robotmem/admin"
)

// maxSources is the number of values of the label source. Recorders choose the names
// of sources, and a Prometheus server stores a series for each.
const maxSources = 200

// otherSources is the common label of all sources over maxSources.
const otherSources = "other"

// metrics answers the current metrics of the node in the format of Prometheus. If the memory does
// not answer, the scrape fails with the problem, and Prometheus marks the target as down.
func (s *server) metrics() echo.HandlerFunc {
	process := prometheus.NewRegistry()
	process.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))

	return func(c echo.Context) error {
		stats, err := s.svc.Stats(c.Request().Context(), &admin.StatsRequest{})
		if err != nil {
			return err
		}

		var more []admin.Metric
		if s.opts.Metrics != nil {
			if more, err = s.opts.Metrics(c.Request().Context()); err != nil {
				return err
			}
		}

		// The statistics are of one moment, so each scrape has a registry of its own.
		memory := prometheus.NewRegistry()
		memory.MustRegister(prometheus.CollectorFunc(func(out chan<- prometheus.Metric) {
			collect(stats, out)

			for _, m := range more {
				collectMore(&m, out)
			}
		}))

		both := prometheus.Gatherers{process, memory}
		promhttp.HandlerFor(both, promhttp.HandlerOpts{}).ServeHTTP(c.Response(), c.Request())

		return nil
	}
}

// statuses all have a series from the start, because an alert on a series that does
// not exist never fires.
var statuses = []string{"active", "superseded", "invalidated"}

// collect emits the statistics of a memory at one moment.
func collect(stats *admin.StatsResponse, out chan<- prometheus.Metric) {
	const counter, gauge = prometheus.CounterValue, prometheus.GaugeValue
	for _, status := range statuses {
		emit(out, gauge, "memories", "Memories of all collections.",
			stats.ByStatus[status], prometheus.Labels{"status": status})
	}

	emit(out, counter, "recalls_total", "Recalls.", stats.Recalls, nil)
	emit(out, counter, "zero_hits_total", "Recalls that found nothing.", stats.ZeroHits, nil)
	emit(out, gauge, "payload_bytes", "Bytes of the payloads of all perceptions, each payload once.",
		stats.PayloadBytes, nil)
	emit(out, gauge, "stored_bytes", "Bytes of the payloads as stored, after compression.", stats.StoredBytes, nil)
	emit(out, gauge, "db_bytes", "Bytes of the database file.", stats.DBBytes, nil)
	emit(out, counter, "commits_total", "Transactions that the node has written and synced.", stats.Commits, nil)
	emit(out, counter, "log_bytes_total", "Bytes that commits have written to the log of the file.",
		stats.LogBytes, nil)
	emit(out, counter, "written_bytes_total",
		"Bytes that the process has written to disks, 0 where the system does not count them.",
		stats.WrittenBytes, nil)
	emit(out, gauge, "embedding_backlog", "Memories that wait for a vector.", stats.Backlog, nil)
	emit(out, gauge, "likeness_backlog", "Perceptions that wait for a likeness signature.", stats.ToCompare, nil)
	emit(out, counter, "evictions_total", "Perceptions whose payload was removed by a budget.", stats.Evicted, nil)
	emit(out, counter, "evicted_bytes_total", "Bytes of the payloads that were removed by budgets.",
		stats.EvictedBytes, nil)
	if b := stats.Backup; b != nil {
		emit(out, gauge, "backup_last_success_timestamp_seconds", "Time of the newest backup, 0 if there is none.",
			max(0, b.LastSuccess.Unix()), nil)
		emit(out, gauge, "backup_duration_seconds", "Duration of the newest backup, with its verification.",
			b.Seconds, nil)
		emit(out, counter, "backup_failures_total", "Backups on schedule that failed.", b.Failures, nil)
	}

	for source, n := range bySource(stats.Streams) {
		for result, samples := range map[string]int64{"stored": n.Stored, "dropped": n.Dropped} {
			labels := prometheus.Labels{"source": source, "result": result}
			emit(out, counter, "stream_samples_total", "Samples that a recorder received, by result.", samples, labels)
		}

		// Lost samples are not a result of stream_samples_total, because the recorder never received them.
		emit(out, counter, "stream_missed_total",
			"Samples that a recorder did not receive: gaps in their sequence numbers.",
			n.Missed, prometheus.Labels{"source": source})
	}
}

// collectMore emits a figure of Options.Metrics.
func collectMore(m *admin.Metric, out chan<- prometheus.Metric) {
	kind := prometheus.GaugeValue
	if m.Counter {
		kind = prometheus.CounterValue
	}

	labels := prometheus.Labels{}
	for name, value := range m.Labels {
		labels[name] = strings.ToValidUTF8(value, "\uFFFD")
	}
	emit(out, kind, m.Name, m.Help, m.Value, labels)
}

func emit[N int64 | float64](
	out chan<- prometheus.Metric, kind prometheus.ValueType, name, help string, value N, labels prometheus.Labels,
) {
	desc := prometheus.NewDesc("robotmem_"+name, help, nil, labels)
	out <- prometheus.MustNewConstMetric(desc, kind, float64(value))
}

// bySource returns the counts of at most maxSources sources, and the sum of the
// others as otherSources. Stats orders sources by name and the first ones have their
// own label, so a label keeps its meaning until there are new sources.
func bySource(streams []admin.StreamCount) map[string]admin.StreamCount {
	sums := map[string]admin.StreamCount{}

	for _, n := range streams {
		label := strings.ToValidUTF8(n.Source, "\uFFFD") // a label must be UTF-8
		if _, known := sums[label]; !known && len(sums) >= maxSources {
			label = otherSources
		}
		sum := sums[label]
		sum.Stored += n.Stored
		sum.Dropped += n.Dropped
		sum.Missed += n.Missed
		sums[label] = sum
	}

	return sums
}
