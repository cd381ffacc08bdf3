import Logging
import NetworkReachabilityTesting

/// Writes warnings down.
struct WarningRecorder: LogHandler {
    let log: RecordingListener<String>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.warning

    init(_ log: RecordingListener<String>) {
        self.log = log
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let groups = event.metadata?["groups"].map { ": \($0)" } ?? ""
        log.record("\(event.message)\(groups)")
    }
}
