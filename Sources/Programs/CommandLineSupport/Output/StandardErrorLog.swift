package import Logging

/// Writes log messages as lines of standard error, in the form of the command's other messages.
package struct StandardErrorLog: LogHandler {
    package var metadata: Logger.Metadata = [:]
    package var logLevel = Logger.Level.notice

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    package func log(event: LogEvent) { StandardError.write("reachability: \(event.message)") }
}

extension Logger {
    /// The log of a program that runs until a signal ends it.
    package static var standardError: Logger { Logger(label: "reachability") { _ in StandardErrorLog() } }
}
