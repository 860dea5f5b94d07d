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

// metrics answers the current metrics of the node in the format of Prometheus. If the
// memory does not answer, the scrape fails with the problem, and Prometheus marks the
// target as down.
func (s *server) metrics() echo.HandlerFunc {
	process := prometheus.NewRegistry()
	process.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return func(c echo.Context) error {
		stats, err := s.svc.Stats(c.Request().Context(), &admin.StatsRequest{})
		if err != nil {
			return err
		}
		memory := prometheus.NewRegistry()
		memory.MustRegister(figures{stats})
		promhttp.HandlerFor(prometheus.Gatherers{process, memory}, promhttp.HandlerOpts{}).ServeHTTP(c.Response(), c.Request())
		return nil
	}
}

var (
	descMemories       = desc("memories", "Memories of all collections.", "status")
	descStreamSamples  = desc("stream_samples_total", "Samples that a recorder received, by result.", "source", "result")
	descBackupLast     = desc("backup_last_success_timestamp_seconds", "Time of the newest backup, 0 if there is none.")
	descBackupSeconds  = desc("backup_duration_seconds", "Duration of the newest backup, with its verification.")
	descBackupFailures = desc("backup_failures_total", "Backups on schedule that failed.")
	descStreamMissed   = desc("stream_missed_total", "Samples that a recorder did not receive: gaps in their sequence numbers.", "source")
)

// numbers are the metrics without labels.
var numbers = []struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(*admin.StatsResponse) int64
}{
	{desc("recalls_total", "Recalls."), prometheus.CounterValue, func(s *admin.StatsResponse) int64 { return s.Recalls }},
	{desc("zero_hits_total", "Recalls that found nothing."), prometheus.CounterValue, func(s *admin.StatsResponse) int64 { return s.ZeroHits }},
	{desc("payload_bytes", "Bytes of the payloads of all perceptions, each payload once."), prometheus.GaugeValue, func(s *admin.StatsResponse) int64 { return s.PayloadBytes }},
	{desc("stored_bytes", "Bytes of the payloads as stored, after compression."), prometheus.GaugeValue, func(s *admin.StatsResponse) int64 { return s.StoredBytes }},
	{desc("db_bytes", "Bytes of the database file."), prometheus.GaugeValue, func(s *admin.StatsResponse) int64 { return s.DBBytes }},
	{desc("commits_total", "Transactions that the node has written and synced."), prometheus.CounterValue, func(s *admin.StatsResponse) int64 { return s.Commits }},
	{desc("log_bytes_total", "Bytes that commits have written to the log of the file."), prometheus.CounterValue, func(s *admin.StatsResponse) int64 { return s.LogBytes }},
	{desc("written_bytes_total", "Bytes that the process has written to disks, 0 where the system does not count them."), prometheus.CounterValue, func(s *admin.StatsResponse) int64 { return s.WrittenBytes }},
	{desc("embedding_backlog", "Memories that wait for a vector."), prometheus.GaugeValue, func(s *admin.StatsResponse) int64 { return s.Backlog }},
	{desc("likeness_backlog", "Perceptions that wait for a likeness signature."), prometheus.GaugeValue, func(s *admin.StatsResponse) int64 { return s.ToCompare }},
	{desc("evictions_total", "Perceptions whose payload was removed by a budget."), prometheus.CounterValue, func(s *admin.StatsResponse) int64 { return s.Evicted }},
	{desc("evicted_bytes_total", "Bytes of the payloads that were removed by budgets."), prometheus.CounterValue, func(s *admin.StatsResponse) int64 { return s.EvictedBytes }},
}

// statuses all have a series from the start, because an alert on a series that does
// not exist never fires.
var statuses = []string{"active", "superseded", "invalidated"}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("robotmem_"+name, help, labels, nil)
}

// figures collects the statistics of a memory at one moment.
type figures struct{ stats *admin.StatsResponse }

// Describe implements prometheus.Collector.
func (f figures) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(f, out) }

// Collect implements prometheus.Collector.
func (f figures) Collect(out chan<- prometheus.Metric) {
	emit := func(d *prometheus.Desc, kind prometheus.ValueType, value int64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, kind, float64(value), labels...)
	}
	for _, status := range statuses {
		emit(descMemories, prometheus.GaugeValue, f.stats.ByStatus[status], status)
	}
	for _, n := range numbers {
		emit(n.desc, n.kind, n.value(f.stats))
	}
	if b := f.stats.Backup; b != nil {
		emit(descBackupLast, prometheus.GaugeValue, max(0, b.LastSuccess.Unix()))
		out <- prometheus.MustNewConstMetric(descBackupSeconds, prometheus.GaugeValue, b.Seconds)
		emit(descBackupFailures, prometheus.CounterValue, b.Failures)
	}
	for source, n := range bySource(f.stats.Streams) {
		emit(descStreamSamples, prometheus.CounterValue, n.Stored, source, "stored")
		emit(descStreamSamples, prometheus.CounterValue, n.Dropped, source, "dropped")
		emit(descStreamMissed, prometheus.CounterValue, n.Missed, source)
	}
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
