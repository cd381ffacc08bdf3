import LinuxSupport
import ServerTrust

/// What a reporter of pins has heard.
final class RecordedReports: Sendable {
    private let reports = Locked<[PinReport]>([])

    var all: [PinReport] { reports.withLock { $0 } }

    func add(_ report: PinReport) {
        reports.withLock { $0.append(report) }
    }
}
