import LinuxSupport
import NIOHTTP1
package import ReachabilityService
import ServerTrust

/// Metrics as Prometheus reads them: the text format 0.0.4, or OpenMetrics 1.0.
package struct MetricsText {
    package enum Format {
        case plain, openMetrics

        /// OpenMetrics where a client names it.
        package init(_ request: WebRequest) {
            let types = request.headers[canonicalForm: "Accept"]
            self = types.contains { $0.lowercased().hasPrefix("application/openmetrics-text") } ? .openMetrics : .plain
        }

        var contentType: String {
            switch self {
            case .plain: "text/plain; version=0.0.4; charset=utf-8"
            case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
            }
        }
    }

    package enum Kind: String {
        case counter, gauge, histogram
    }

    private let format: Format
    private var text = ""

    package init(_ format: Format) {
        self.format = format
    }

    /// Begins a metric; its samples follow.
    ///
    /// - Parameter name: That of a counter ends with `_total`.
    package mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        // OpenMetrics names the family of a counter without the ending of its samples.
        let family = format == .openMetrics && name.hasSuffix("_total") ? String(name.dropLast("_total".count)) : name
        text += "# HELP \(family) \(help)\n# TYPE \(family) \(kind.rawValue)\n"
    }

    package mutating func add(_ name: String, _ labels: [(name: String, value: String)], _ value: String) {
        text += name
        if !labels.isEmpty {
            text += "{" + labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",") + "}"
        }
        text += " \(value)\n"
    }

    /// A metric of one sample.
    package mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: String) {
        begin(name, kind, help)
        add(name, [], value)
    }

    private var bytes: [UInt8] { Array((format == .openMetrics ? text + "# EOF\n" : text).utf8) }

    package var answer: WebAnswer {
        var answer = WebAnswer(type: format.contentType, bytes)
        answer.headers.append(("Vary", "Accept"))
        answer.headers.append(("Cache-Control", "no-store"))
        return answer
    }

    private static func escaped(_ value: String) -> String {
        value.replacing(scalars: "\\", with: "\\\\").replacing(scalars: "\"", with: "\\\"").replacing(
            scalars: "\n",
            with: "\\n"
        )
    }
}

extension MetricsText {
    /// How it goes with those who are told; nothing where nobody is.
    package mutating func add(_ all: [NotifierStatus]) {
        if all.isEmpty { return }
        let total = "reachability_notifications_total"
        begin(total, .counter, "Attempts to tell somebody, by result: taken, to be made again, given up.")
        for status in all {
            let results = [
                ("delivered", status.delivered), ("postponed", status.postponed), ("refused", status.refused),
            ]
            for (result, count) in results {
                add(total, [("name", status.name), ("result", result)], String(count))
            }
        }
        let pending = "reachability_notifications_pending"
        begin(pending, .gauge, "What is due and was not told yet.")
        for status in all { add(pending, [("name", status.name)], String(status.pending)) }
    }
}

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
