import LinuxSupport
public import Logging

/// Records log messages as texts, by default as `LEVEL: MESSAGE`.
public final class RecordingLog: Sendable {
    private let content = Locked<[String]>([])
    private let level: Logger.Level
    private let text: @Sendable (LogEvent) -> String

    /// The messages so far.
    public var lines: [String] { content.withLock { $0 } }

    /// An empty log.
    public init(
        level: Logger.Level = .trace,
        _ text: @escaping @Sendable (LogEvent) -> String = { "\($0.level): \($0.message)" }
    ) {
        (self.level, self.text) = (level, text)
    }

    /// A logger that writes to this log.
    public var logger: Logger { Logger(label: "test") { _ in Handler(log: self, logLevel: self.level) } }

    /// Adds a line that the test provides.
    public func append(_ line: String) {
        content.withLock { $0.append(line) }
    }

    private struct Handler: LogHandler {
        let log: RecordingLog
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { log.append(log.text(event)) }
    }
}
