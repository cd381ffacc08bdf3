import AsyncHTTPClient
import LinuxSupport
import Logging
import NIOCore
import NIOHTTP1
import ReachabilityRetry

/// The attempts of one request.
final class HTTPAttempts: Sendable {
    private let transport: HTTPTransport
    private let request: HTTPClientRequest
    private let timeout: Duration?
    private let cookies: (any CookieStorage)?
    private let makeBody: (@Sendable () throws -> HTTPClientRequest.Body?)?
    private let logger: Logger?
    private let state = Locked(State())

    private struct State {
        /// A Boolean value that indicates whether an attempt has begun to send the body.
        var hasSentBody = false
        /// The responses of the hops.
        var history: [HTTPClientRequestResponse] = []
    }

    /// - Parameters:
    ///   - transport: The transport that sends the attempts.
    ///   - request: The caller's request.
    ///   - options: The maximum time from the start of an attempt to the start of the response, and the cookies.
    ///   - makeBody: Creates the body for each attempt.
    ///   - logger: The logger of async-http-client.
    init(
        _ transport: HTTPTransport,
        _ request: HTTPClientRequest,
        _ options: RequestRetryOptions,
        _ makeBody: (@Sendable () throws -> HTTPClientRequest.Body?)?,
        _ logger: Logger?
    ) {
        self.transport = transport
        self.request = request
        timeout = options.attemptTimeout
        cookies = options.cookies
        self.makeBody = makeBody
        self.logger = logger
    }

    /// The kind of the body: none, replayable, or a body that can be sent only once.
    var bodyKind: RequestBodyKind {
        if makeBody != nil { return .replayable }
        return request.body.map { $0.isReplayable ? .replayable : .once } ?? .none
    }

    /// A Boolean value that indicates whether a body that can be sent only once has been sent.
    var isBodyLost: Bool { state.withLock { $0.hasSentBody } && bodyKind == .once }

    /// Sends the adapted request of a hop, and returns when its response begins.
    func send(_ hop: RedirectHop, _ progress: AttemptProgress) async throws -> HTTPClientResponse {
        var adapted = request
        adapted.url = hop.request.url
        adapted.method = HTTPMethod(rawValue: hop.request.method.rawValue)
        adapted.headers = HTTPHeaders(hop.request.fields.map { ($0.name, $0.value) })
        // A field of the caller is sent as it is.
        if let field = cookies?.field(for: adapted.url), !adapted.headers.contains(name: "Cookie") {
            adapted.headers.add(name: "Cookie", value: field)
        }
        if !hop.hasBody { adapted.body = nil }
        if hop.hasBody, let makeBody { adapted.body = try AttemptError.preparing(makeBody) }
        let visited = adapted
        adapted.body = adapted.body?.paced(for: transport.client)
        let permit = SendPermit(progress)
        // No byte of an attempt is sent after its end.
        defer { if !permit.revoke(), hop.hasBody { state.withLock { $0.hasSentBody = true } } }
        var response = try await transport.send(
            adapted,
            with: permit,
            trace: hop.traceFields,
            cuts: progress.cuts,
            timeout: hop.request.attemptTimeout ?? timeout,
            logger: logger
        )
        if let cookies, response.headers.contains(name: "Set-Cookie") {
            cookies.keep(response.headers["Set-Cookie"], from: adapted.url)
        }
        let head = HTTPResponseHead(version: response.version, status: response.status, headers: response.headers)
        response.history = state.withLock { state in
            state.history.removeLast(max(0, state.history.count - hop.count))
            state.history.append(HTTPClientRequestResponse(request: visited, responseHead: head))
            return state.history
        }
        return response
    }
}

extension HTTPClientRequest {
    /// The request as adapters see it.
    var plain: RequestHead {
        RequestHead(
            method: RequestMethod(rawValue: method.rawValue),
            url: url,
            fields: headers.map { RequestHead.Field(name: $0.name, value: $0.value) }
        )
    }
}

/// The replayability and length of a body. async-http-client stores them without getters, so they are read by
/// reflection. A body that is not recognised counts as a stream of unknown length. With an unknown version of
/// async-http-client a body is at worst sent in chunks, and not repeated.
extension HTTPClientRequest.Body {
    /// A Boolean value that indicates whether the body can be sent repeatedly. Bytes in memory can, a sequence that
    /// can be read only once cannot.
    var isReplayable: Bool {
        switch mode?.label {
        case "byteBuffer": true
        case "sequence": detail("canBeConsumedMultipleTimes") as? Bool ?? false
        default: false
        }
    }

    /// The length of a stream in bytes; nil if it is not known.
    private var length: Int64? {
        guard let length = detail("length").map({ Mirror(reflecting: $0).children.first }) ?? nil else { return nil }
        return length.label == "known" ? length.value as? Int64 : nil
    }

    private var mode: Mirror.Child? {
        Mirror(reflecting: self).descendant("mode").flatMap { Mirror(reflecting: $0).children.first }
    }

    private func detail(_ name: String) -> Any? {
        mode.flatMap { Mirror(reflecting: $0.value).descendant(name) }
    }

    /// Returns the body. If it is a stream, it is read no faster than it is sent.
    fileprivate func paced(for client: HTTPClient) -> HTTPClientRequest.Body {
        if isReplayable { return self }
        return .stream(PacedStream(base: self, client: client), length: length.map { .known($0) } ?? .unknown)
    }
}

/// A stream that is read at most ``aheadBytes`` ahead of the sent bytes. async-http-client receives the backpressure
/// of the connection in one thread and reads the stream in another. While the first thread is busy, the second would
/// read the stream without a limit.
private struct PacedStream: AsyncSequence, Sendable {
    /// The maximum number of bytes that are read before the client's threads have taken them.
    fileprivate static let aheadBytes = 512 << 10

    let base: HTTPClientRequest.Body
    let client: HTTPClient

    func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator(), client: client) }

    struct Iterator: AsyncIteratorProtocol {
        var base: HTTPClientRequest.Body.AsyncIterator
        let client: HTTPClient
        var ahead = 0

        mutating func next() async throws -> ByteBuffer? {
            if ahead >= PacedStream.aheadBytes {
                // Returns when the threads have completed their pending work.
                for loop in client.eventLoopGroup.makeIterator() { try? await loop.submit {}.get() }
                ahead = 0
            }
            let part = try await base.next(isolation: #isolation)
            ahead += part?.readableBytes ?? 0
            return part
        }
    }
}

extension HTTPClientResponse {
    /// The maximum length of a body that is read to its end, so that the connection can be reused. The maximum time
    /// for this is ``discardTime``. Otherwise the connection is closed.
    private static let discardedBytes = 65536
    private static let discardTime = Duration.milliseconds(50)

    /// Discards the body of a response that is not returned to the caller.
    package func discard() async {
        let length = headers.first(name: "Content-Length").flatMap { Int($0) }
        if let length, length > Self.discardedBytes { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                var count = 0
                // An error ends the body, too.
                do {
                    for try await part in body {
                        count += part.readableBytes
                        if count > Self.discardedBytes { return }
                    }
                } catch {}
            }
            group.addTask { try? await ContinuousClock().sleep(for: Self.discardTime) }
            await group.next()
            group.cancelAll()
        }
    }
}
