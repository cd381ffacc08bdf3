import LinuxSupport
import X509

/// What is to be fetched.
public struct RevocationRequest: Hashable, Sendable {
    /// The methods of HTTP that are needed.
    public enum Method: String, Hashable, Sendable {
        /// Without a body.
        case get = "GET"
        /// With one.
        case post = "POST"
    }

    /// `http` or `https`, in printable ASCII without blanks.
    public let url: String

    /// How.
    public let method: Method

    /// `Content-Type`; nil without a body.
    public let contentType: String?

    /// `Accept`.
    public let accept: String

    /// Empty with ``Method/get``.
    public let body: [UInt8]

    /// From the call to the last byte.
    public let timeLimit: Duration

    /// The most bytes of an answer's body.
    public let sizeLimit: Int

    /// A list (RFC 2585).
    static func list(_ url: String, _ settings: RevocationSettings) -> RevocationRequest {
        RevocationRequest(
            url: url,
            method: .get,
            contentType: nil,
            accept: "application/pkix-crl",
            body: [],
            timeLimit: settings.timeLimit,
            sizeLimit: settings.maximumListBytes
        )
    }

    /// A question for a responder: by POST, or by GET where the answer may be cached and the URL stays short (RFC 6960, A.1;
    /// RFC 5019, 5).
    static func ocsp(_ url: String, _ body: [UInt8], _ settings: RevocationSettings) -> RevocationRequest {
        let place = url + (url.hasSuffix("/") ? "" : "/") + Base64.encode(body).percentEncoded
        let isShort = !settings.usesNonce && place.utf8.count <= 255
        return RevocationRequest(
            url: isShort ? place : url,
            method: isShort ? .get : .post,
            contentType: isShort ? nil : "application/ocsp-request",
            accept: "application/ocsp-response",
            body: isShort ? [] : body,
            timeLimit: settings.timeLimit,
            sizeLimit: settings.maximumResponseBytes
        )
    }
}

/// Fetches what responders and authorities say, over HTTP. Whoever has an HTTP client can be one. Redirects need not be followed. The
/// URLs are plain `http` nearly always, for the answers are signed; for `https` revocation must not be asked about again, or a
/// question may wait for itself.
public protocol RevocationFetching: Sendable {
    /// The body of the answer with status 200.
    ///
    /// Called on any thread, and by several tasks at once. The limits are checked by the caller too, but only here can they save
    /// anything: reading stops at `sizeLimit`, and waiting at `timeLimit` or when the task is cancelled.
    func fetch(_ request: RevocationRequest) async throws(RevocationFetchError) -> [UInt8]
}

/// Why there is no answer.
public enum RevocationFetchError: Error, Hashable, Sendable {
    /// Not within the time limit.
    case timedOut
    /// More bytes than the size limit.
    case tooLarge
    /// Another HTTP status than 200.
    case status(Int)
    /// Everything else. The text says what was tried and what the system said.
    case failed(String)

    func problem(_ request: RevocationRequest) -> RevocationProblem {
        switch self {
        case .timedOut: .timedOut(request.timeLimit)
        case .tooLarge: .tooLarge(limit: request.sizeLimit)
        case .status(let status): .httpStatus(status)
        case .failed(let cause): .unreachable(cause)
        }
    }
}

/// URLs in certificates.
enum RevocationURL {
    /// Those that can be fetched: `ldap` cannot, and with bytes that no URL has nobody knows what would be asked.
    static func all(in names: [GeneralName]) -> [String] {
        names.compactMap { name in
            guard case .uniformResourceIdentifier(let url) = name, isUsable(url) else { return nil }
            return url
        }
    }

    static func isUsable(_ url: String) -> Bool {
        let scheme = url.prefix { $0 != ":" }.lowercased()
        guard scheme == "http" || scheme == "https", url.dropFirst(scheme.count).hasPrefix("://") else { return false }
        return url.utf8.count <= 2048 && url.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f }
    }

    /// The responders a certificate names (authorityInfoAccess, RFC 5280, 4.2.2.1).
    static func responders(of certificate: TrustCertificate) -> [String] {
        let access = (try? certificate.x509.extensions.authorityInformationAccess) ?? AuthorityInformationAccess()
        return all(in: access.filter { $0.method == .ocspServer }.map(\.location))
    }
}

/// Asks each question once at a time, however many wait for the answer, and lets nobody wait longer than the limit.
///
/// The first who joins starts the work and the clock; whichever is through first lets all go on. Who is cancelled goes at once, and
/// with the last of them the work is cancelled. Work that does not heed that goes on alone, and is not heard.
final class FetchFlights: Sendable {
    private struct Flight {
        let number: UInt64
        var waiters: [UInt64: CheckedContinuation<FetchOutcome, Never>] = [:]
        var tasks: [Task<Void, Never>] = []
    }

    private struct State {
        var flights: [FetchKey: Flight] = [:]
        var numbers: UInt64 = 0

        mutating func next() -> UInt64 {
            numbers += 1
            return numbers
        }
    }

    private let state = Locked(State())
    let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameter sleep: Throws when its task is cancelled.
    init(sleep: @escaping @Sendable (Duration) async throws -> Void) {
        self.sleep = sleep
    }

    /// How many wait for an answer.
    var waiting: Int { state.withLock { $0.flights.values.reduce(0) { $0 + $1.waiters.count } } }

    func outcome(
        _ key: FetchKey,
        limit: Duration,
        _ work: @escaping @Sendable () async -> FetchOutcome
    ) async -> FetchOutcome {
        let waiter = state.withLock { $0.next() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                join(key, waiter, continuation, limit, work)
                // Who was cancelled before joining has not been found by the handler.
                if Task.isCancelled { leave(key, waiter) }
            }
        } onCancel: {
            leave(key, waiter)
        }
    }

    private func join(
        _ key: FetchKey,
        _ waiter: UInt64,
        _ continuation: CheckedContinuation<FetchOutcome, Never>,
        _ limit: Duration,
        _ work: @escaping @Sendable () async -> FetchOutcome
    ) {
        let started: UInt64? = state.withLock { state in
            let isFirst = state.flights[key] == nil
            if isFirst { state.flights[key] = Flight(number: state.next()) }
            state.flights[key]?.waiters[waiter] = continuation
            return isFirst ? state.flights[key]?.number : nil
        }
        guard let number = started else { return }
        let tasks = [
            Task { finish(key, number, await work()) },
            Task {
                guard (try? await sleep(limit)) != nil else { return }
                finish(key, number, .failed(.timedOut(limit)))
            },
        ]
        let isOver = state.withLock { state in
            guard state.flights[key]?.number == number else { return true }
            state.flights[key]?.tasks = tasks
            return false
        }
        if isOver { tasks.forEach { $0.cancel() } }
    }

    private func finish(_ key: FetchKey, _ number: UInt64, _ outcome: FetchOutcome) {
        let flight: Flight? = state.withLock { state in
            guard state.flights[key]?.number == number else { return nil }
            return state.flights.removeValue(forKey: key)
        }
        flight?.tasks.forEach { $0.cancel() }
        flight?.waiters.values.forEach { $0.resume(returning: outcome) }
    }

    private func leave(_ key: FetchKey, _ waiter: UInt64) {
        typealias Left = (CheckedContinuation<FetchOutcome, Never>?, [Task<Void, Never>])
        let (continuation, tasks): Left = state.withLock { state in
            let continuation = state.flights[key]?.waiters.removeValue(forKey: waiter)
            guard let flight = state.flights[key], flight.waiters.isEmpty else { return (continuation, []) }
            state.flights[key] = nil
            return (continuation, flight.tasks)
        }
        tasks.forEach { $0.cancel() }
        continuation?.resume(returning: .failed(.cancelled))
    }
}

/// Questions with the same key have the same answer.
struct FetchKey: Hashable, Sendable {
    let url: String
    /// Nil for a list, which is about many.
    let certificate: TrustCertificate?
    let issuer: ServerPublicKey?
}

/// What came of one question over the network, for all who wait for it.
enum FetchOutcome: Sendable {
    /// An OCSP response with the nonce that was sent.
    case response([UInt8], nonce: [UInt8]?)
    case list(RevocationList)
    case failed(RevocationProblem)
}
