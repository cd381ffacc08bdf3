import Netlink
import ReachabilityRetry

/// Tells the server what to do with each attempt, or leads an attempt where nobody listens.
struct FaultAdapter: RequestAdapter {
    private let faults: [Fault]
    private let id: String
    private let count = Locked(0)

    init(_ faults: [Fault], id: String) {
        self.faults = faults
        self.id = id
    }

    /// How often it was asked.
    var attempts: Int { count.withLock { $0 } }

    func adapt(_ request: PlainRequest) async throws -> PlainRequest {
        let number = count.withLock { count in
            count += 1
            return count
        }
        var request = request
        request["X-ID"] = id
        request["X-Attempt"] = String(number)
        request["X-Fault"] = faults.isEmpty ? nil : faults[min(number, faults.count) - 1].text
        return request
    }
}
