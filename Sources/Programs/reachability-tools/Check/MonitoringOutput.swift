import ArgumentParser
import CommandLineSupport
import LinuxSupport
import ReachabilityChecks

/// The results of a round in the format of a monitoring system.
struct MonitoringOutput {
    /// The result of one target.
    struct Result: Hashable {
        /// The target; `internet` for the internet.
        let target: String
        let place: CheckPlace
        /// The sentence of the verdict.
        let text: String
        /// The duration of the check.
        let duration: Duration
        /// The round-trip time of the probe that decides the verdict; nil without one.
        let roundTrip: Duration?
    }

    let results: [Result]

    /// - Parameter results: The results. Of several with the same target, the first is kept.
    init(results: [Result]) {
        var targets: Set<String> = []
        self.results = results.filter { targets.insert($0.target).inserted }
    }

    /// Returns the lines of a format.
    ///
    /// - Parameter now: The time since 1970.
    func lines(_ format: CheckFormat, now: Duration) -> [String] {
        switch format {
        case .nagios: nagios
        case .checkmk: results.map(checkmk)
        case .textfile: textfile(now)
        }
    }

    /// Returns the exit status that a monitoring system expects; nil for the usual one.
    func exitStatus(_ format: CheckFormat) -> Int32? {
        switch format {
        case .nagios: worst.rawValue
        case .checkmk: 0
        case .textfile: nil
        }
    }

    /// The state of a service. The raw values are the exit statuses of a plugin.
    ///
    /// Source: Monitoring Plugins Development Guidelines, "Plugin Return Codes".
    private enum State: Int32 {
        case ok, warning, critical, unknown

        init(_ place: CheckPlace) {
            self =
                switch place {
                case .works: .ok
                case .degraded: .warning
                case .inconclusive: .unknown
                default: .critical
                }
        }

        /// The rank for several results.
        var rank: Int {
            switch self {
            case .ok: 0
            case .warning: 1
            case .unknown: 2
            case .critical: 3
            }
        }
    }

    private var worst: State { results.map { State($0.place) }.max { $0.rank < $1.rank } ?? .unknown }

    // MARK: Nagios

    /// One line with performance data, then one line for each target if there are several.
    ///
    /// Source: Monitoring Plugins Development Guidelines, "Plugin Output" and "Performance data".
    private var nagios: [String] {
        let count = results.count { $0.place == .works }
        let single = results.count == 1 ? results.first.map { "\($0.target): \($0.text)" } : nil
        let summary = single ?? "\(count) of \(results.count) targets work"
        let data = results.flatMap { result in
            [("", result.roundTrip), (" check", result.duration)].compactMap { suffix, time in
                time.map { "'\(Self.label(result.target + suffix))'=\($0.decimalSeconds)s;;;0" }
            }
        }
        let first = "REACHABILITY \("\(worst)".uppercased()) - \(Self.plain(summary)) | \(data.joined(separator: " "))"
        return [first] + (results.count == 1 ? [] : results.map { Self.plain("\($0.target): \($0.text)") })
    }

    /// Returns the line of a plugin that could not check.
    static func unknown(_ text: String) -> String { "REACHABILITY UNKNOWN - \(plain(text))" }

    /// A pipe separates text and data.
    private static func plain(_ text: String) -> String { text.printable.replacing(scalars: "|", with: "/") }

    /// A label is quoted, and contains no equals sign.
    private static func label(_ name: String) -> String {
        plain(name).replacing(scalars: "=", with: "_").replacing(scalars: "'", with: "''")
    }

    // MARK: Checkmk

    /// Returns a line of a local check: the state, the quoted name of the service, metrics, and the text.
    ///
    /// Source: Checkmk manual, "Local checks".
    private func checkmk(_ result: Result) -> String {
        let name = Self.plain("Reachability \(result.target)").replacing(scalars: "\"", with: "'")
        let times = [("rtt", result.roundTrip), ("time", result.duration)].compactMap { name, time in
            time.map { "\(name)=\($0.decimalSeconds)" }
        }
        return
            "\(State(result.place).rawValue) \"\(name)\" \(times.joined(separator: "|")) \(Self.plain(result.text))"
    }

    // MARK: Prometheus

    /// Metrics for the textfile collector of node_exporter.
    ///
    /// Source: Prometheus, "Exposition formats".
    private func textfile(_ now: Duration) -> [String] {
        func metric(_ name: String, _ help: String, _ value: (Result) -> (labels: String, value: String)?) -> [String] {
            let samples = results.compactMap { result in
                value(result).map { "\(name){target=\"\(Self.escaped(result.target))\"\($0.labels)} \($0.value)" }
            }
            return samples.isEmpty ? [] : ["# HELP \(name) \(help)", "# TYPE \(name) gauge"] + samples
        }
        return metric("reachability_check_up", "Whether the target works or is degraded.") {
            ("", $0.place == .works || $0.place == .degraded ? "1" : "0")
        }
            + metric("reachability_check_place", "The place of the fault, or works, degraded or inconclusive.") {
                (",place=\"\($0.place.rawValue)\"", "1")
            }
            + metric("reachability_check_round_trip_seconds", "The round-trip time of the deciding probe.") {
                $0.roundTrip.map { ("", $0.decimalSeconds) }
            }
            + metric("reachability_check_duration_seconds", "The duration of the check.") {
                ("", $0.duration.decimalSeconds)
            } + [
                "# HELP reachability_check_timestamp_seconds The time of the check since 1970.",
                "# TYPE reachability_check_timestamp_seconds gauge",
                "reachability_check_timestamp_seconds \(now.components.seconds)",
            ]
    }

    private static func escaped(_ label: String) -> String {
        label.printable.replacing(scalars: "\\", with: "\\\\").replacing(scalars: "\"", with: "\\\"")
    }
}

extension MonitoringOutput.Result {
    init(_ report: CheckReport) {
        target = report.target ?? "internet"
        place = report.verdict.failurePoint
        text = "\(report.verdict.failurePoint.rawValue): \(report.verdict.text)"
        duration = report.duration
        roundTrip = report.verdict.decidingProbes.compactMap(\.roundTrip).min()
    }
}
