import LinuxSupport
import Netlink
import ReachabilityRetry

/// Tells the server what to do with each attempt, or leads an attempt where nobody listens.
struct FaultAdapter: RequestAdapter {
    private let faults: [Fault]
    private let id: String
    private let asked = Locked<[ContinuousClock.Instant]>([])

    init(_ faults: [Fault], id: String) {
        self.faults = faults
        self.id = id
    }

    /// When it was asked.
    var times: [ContinuousClock.Instant] { asked.withLock { $0 } }

    func adapt(_ request: PlainRequest) async throws -> PlainRequest {
        let number = asked.withLock { asked in
            asked.append(.now)
            return asked.count
        }
        var request = request
        request["X-ID"] = id
        request["X-Attempt"] = String(number)
        guard !faults.isEmpty else { return request }
        let fault = faults[min(number, faults.count) - 1]
        switch fault {
        // Port 1 is nobody's.
        case .refuse: request.url = "http://127.0.0.1:1/"
        case .noName: request.url = Fault.nameless
        default: request["X-Fault"] = fault.text
        }
        return request
    }
}
