import LinuxSupport
import Logging

/// Keeps what is logged.
final class RecordingLog: Sendable {
    private let content = Locked<[String]>([])

    var lines: [String] { content.withLock { $0 } }

    var logger: Logger {
        Logger(label: "test") { _ in Handler(log: self) }
    }

    func append(_ line: String) {
        content.withLock { $0.append(line) }
    }

    private struct Handler: LogHandler {
        let log: RecordingLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            log.append("\(event.level): \(event.message)")
        }
    }
}
