import LinuxSupport
package import ReachabilityService
import ServerTrust

/// What any server of ours tells of itself.
extension MetricsText {
    /// How it is used.
    package mutating func add(_ statistics: WebStatistics) {
        add("reachability_http_connections", .gauge, "Connections now.", String(statistics.connections))
        add(
            "reachability_http_refused_total",
            .counter,
            "Connections that were told to come later.",
            String(statistics.refused)
        )
        add(
            "reachability_http_expired_total",
            .counter,
            "Connections that were ended because a time was up.",
            String(statistics.expired)
        )
        add("reachability_http_streams", .gauge, "Streams that are open.", String(statistics.streams))
        add(
            "reachability_http_slow_streams_total",
            .counter,
            "Streams that were ended because the client read too slowly.",
            String(statistics.slowStreams)
        )
        begin("reachability_http_answers_total", .counter, "Answers, by the hundreds of their status.")
        for hundreds in 2...5 {
            let count = String(statistics.answers[hundreds] ?? 0)
            add("reachability_http_answers_total", [("code", "\(hundreds)xx")], count)
        }
    }

    /// How its configuration was read again.
    package mutating func add(_ reloads: Reloader.Status) {
        begin("reachability_reloads_total", .counter, "How often the configuration was read again, by result.")
        add("reachability_reloads_total", [("result", "applied")], String(reloads.succeeded))
        add("reachability_reloads_total", [("result", "refused")], String(reloads.failed))
        add(
            "reachability_configuration_stale",
            .gauge,
            "1 while the configuration on the disk is not the one in use.",
            reloads.isStale ? "1" : "0"
        )
    }

    /// When what it shows with TLS ends; nothing where it has none.
    package mutating func addCertificate(_ access: Access) {
        guard let end = access.certificateEnd else { return }
        add(
            "reachability_certificate_end_timestamp_seconds",
            .gauge,
            "When the service's own certificate ends.",
            String(end.secondsSinceEpoch)
        )
    }

    /// What it costs.
    package mutating func addProcess() {
        if let usage = ProcessUsage.current {
            add("process_cpu_seconds_total", .counter, "Time of processors used.", usage.processor.decimalSeconds)
            add("process_resident_memory_bytes", .gauge, "Memory that is resident.", String(usage.resident))
            add("process_open_fds", .gauge, "Descriptors that are open.", String(usage.descriptors))
        }
    }
}
