import LinuxSupport
import ServerTrust
import TestSupport

/// A fetcher that returns the responses of simulated responders and list servers.
final class FakeFetcher: RevocationFetching {
    enum Answer: Sendable {
        case bytes([UInt8])
        case fails(RevocationFetchError)
        /// No response until the caller cancels.
        case never
    }

    private let answers: Locked<[String: Answer]>
    private let log = Locked<[RevocationRequest]>([])
    private let gate: Gate?

    /// - Parameter gate: Delays all responses until it is opened.
    init(_ answers: [String: Answer], gate: Gate? = nil) {
        self.answers = Locked(answers)
        self.gate = gate
    }

    var requests: [RevocationRequest] { log.withLock { $0 } }

    func set(_ url: String, _ answer: Answer) {
        answers.withLock { $0[url] = answer }
    }

    func fetch(_ request: RevocationRequest) async throws(RevocationFetchError) -> [UInt8] {
        log.withLock { $0.append(request) }
        await gate?.wait()
        switch answers.withLock({ $0[request.url] }) {
        case .bytes(let bytes): return bytes
        case .fails(let error): throw error
        case .never:
            await Gate().wait()
            throw .timedOut
        case nil: throw .failed("no server is at \(request.url)")
        }
    }
}
