import CommandLineSupport
import ReachabilityOutbox

extension OutboxEvent {
    /// For example `12: delivered`.
    var line: String {
        switch self {
        case .delivered(let entry): "\(entry.id): delivered"
        case .postponed(let entry):
            "\(entry.id): not delivered, attempt \(entry.attempts)\(entry.lastError.map { ": \($0)" } ?? "")"
        case .held(let entry): "\(entry.id): waits, \(entry.lastError ?? "")"
        case .rejected(let entry, let reason): "\(entry.id): dead letter, \(reason)"
        case .expired(let entry): "\(entry.id): expired, deleted unsent: \(entry.method) \(entry.origin)"
        case .dropped(let entry): "\(entry.id): deleted unsent to make room: \(entry.method) \(entry.origin)"
        case .skipped(let origin, let count, .notReachable(let reason)):
            "\(origin): \(count) left, not reachable\(reason.map { ": \($0)" } ?? "")"
        case .skipped(let origin, let count, .until(let time)):
            "\(origin): \(count) left, not before \(Timestamp(real: time).text), as the server said"
        case .skipped(let origin, let count, .behind(let id)): "\(origin): \(count) left behind \(id)"
        }
    }
}
