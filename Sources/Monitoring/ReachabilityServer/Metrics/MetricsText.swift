import LinuxSupport
import NIOHTTP1

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
