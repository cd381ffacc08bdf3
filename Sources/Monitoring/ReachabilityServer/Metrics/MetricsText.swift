import LinuxSupport
import NIOHTTP1
package import ReachabilityService
import ServerTrust

/// A text with metrics in the Prometheus text format 0.0.4 or in OpenMetrics 1.0.
package struct MetricsText {
    package enum Format {
        case plain, openMetrics

        /// Selects OpenMetrics if `Accept` names it, otherwise the Prometheus format.
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

    /// Begins a metric. Its samples have to follow.
    ///
    /// - Parameter name: The name of a counter ends with `_total`.
    package mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        // In OpenMetrics, the name of a counter's family does not include `_total`.
        let family = format == .openMetrics && name.hasSuffix("_total") ? String(name.dropLast("_total".count)) : name
        text += "# HELP \(family) \(help)\n# TYPE \(family) \(kind.rawValue)\n"
    }

    /// Adds a sample.
    package mutating func add(
        _ name: String,
        _ labels: [(name: String, value: String)],
        _ value: some CustomStringConvertible
    ) {
        text += name
        if !labels.isEmpty {
            text += "{" + labels.map { "\($0.name)=\"\(Self.escaped($0.value))\"" }.joined(separator: ",") + "}"
        }
        text += " \(value)\n"
    }

    /// Adds a sample that is 1 for true and 0 for false.
    package mutating func add(_ name: String, _ labels: [(name: String, value: String)], _ value: Bool) {
        add(name, labels, value ? 1 : 0)
    }

    /// Adds a metric with one sample and no labels.
    package mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: some CustomStringConvertible) {
        begin(name, kind, help)
        add(name, [], value)
    }

    package mutating func add(_ name: String, _ kind: Kind, _ help: String, _ value: Bool) {
        add(name, kind, help, value ? 1 : 0)
    }

    package var answer: WebAnswer {
        let bytes = Array((format == .openMetrics ? text + "# EOF\n" : text).utf8)
        var answer = WebAnswer(type: format.contentType, bytes).unstored
        answer.headers.append(("Vary", "Accept"))
        return answer
    }

    private static func escaped(_ value: String) -> String {
        value.replacing(scalars: "\\", with: "\\\\").replacing(scalars: "\"", with: "\\\"")
            .replacing(scalars: "\n", with: "\\n")
    }
}

// The metrics that a service and a hub have in common.

extension MetricsText {
    package mutating func add(version: String, of owner: String, start: Duration) {
        begin("reachability_build_info", .gauge, "1, with the version of the \(owner).")
        add("reachability_build_info", [("version", version)], 1)
        let help = "Start of the \(owner), in seconds since 1970."
        add("reachability_start_time_seconds", .gauge, help, start.decimalSeconds)
    }

    /// Adds the metrics of the notifiers. Without notifiers there are none.
    package mutating func add(_ all: [NotifierStatus]) {
        if all.isEmpty { return }
        let total = "reachability_notifications_total"
        begin(total, .counter, "Notification attempts by result: delivered, to be repeated, given up.")
        for status in all {
            add(total, [("name", status.name), ("result", "delivered")], status.delivered)
            add(total, [("name", status.name), ("result", "postponed")], status.postponed)
            add(total, [("name", status.name), ("result", "refused")], status.refused)
        }
        let pending = "reachability_notifications_pending"
        begin(pending, .gauge, "Notifications that are due and not delivered yet.")
        for status in all { add(pending, [("name", status.name)], status.pending) }
    }

    package mutating func add(_ statistics: WebStatistics) {
        add("reachability_http_connections", .gauge, "Current connections.", statistics.connections)
        let refused = "Connections that were refused because of a limit."
        add("reachability_http_refused_total", .counter, refused, statistics.refused)
        let expired = "Connections that ended by a timeout."
        add("reachability_http_expired_total", .counter, expired, statistics.expired)
        add("reachability_http_streams", .gauge, "Open streams.", statistics.streams)
        let slow = "Streams that ended because the client read too slowly."
        add("reachability_http_slow_streams_total", .counter, slow, statistics.slowStreams)
        let answers = "reachability_http_answers_total"
        begin(answers, .counter, "Answers by class of the status code.")
        for hundreds in 2...5 { add(answers, [("code", "\(hundreds)xx")], statistics.answers[hundreds] ?? 0) }
    }

    package mutating func add(_ reloads: Reloader.Status) {
        let total = "reachability_reloads_total"
        begin(total, .counter, "Reloads of the configuration by result.")
        add(total, [("result", "applied")], reloads.succeeded)
        add(total, [("result", "refused")], reloads.failed)
        let help = "1 if the last reload of the configuration failed."
        add("reachability_configuration_stale", .gauge, help, reloads.isStale)
    }

    /// Adds the end of the TLS certificate. Without a certificate there is no metric.
    package mutating func addCertificate(_ access: Access) {
        guard let end = access.certificateEnd else { return }
        let help = "End of the TLS certificate, in seconds since 1970."
        add("reachability_certificate_end_timestamp_seconds", .gauge, help, end.secondsSinceEpoch)
    }

    package mutating func addProcess() {
        guard let usage = ProcessUsage.current else { return }
        add("process_cpu_seconds_total", .counter, "CPU time, in seconds.", usage.processor.decimalSeconds)
        add("process_resident_memory_bytes", .gauge, "Resident memory, in bytes.", usage.resident)
        add("process_open_fds", .gauge, "Open file descriptors.", usage.descriptors)
    }
}
