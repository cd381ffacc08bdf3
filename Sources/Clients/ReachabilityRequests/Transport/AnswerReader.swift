import AsyncHTTPClient
import FoundationEssentials
import LinuxSupport
import NIOCore
import NIOHTTP1
import ReachabilityRetry

/// Reads the answers to one request, and remembers the latest. Copies are the same reader.
struct AnswerReader: Sendable {
    let request: OutgoingRequest
    let session: Session
    /// Tells the request from others of the session.
    let number: UInt64
    /// The checks of the request, to which some may be added until an answer comes.
    let checks: Locked<Validator>
    let download: PartialDownload?
    let upload: UploadWatch?
    /// Whether an answer that is accepted is left to be read as it comes.
    let leavesBody: Bool
    let began = ContinuousClock.now
    private let state = Locked<(received: ReceivedAnswer?, sent: PlainRequest?)>((nil, nil))

    /// What was read last; nil where the attempt under way has read nothing yet.
    var latest: ReceivedAnswer? { state.withLock { $0.received } }

    /// The request as it was sent last; nil where none was.
    var sent: PlainRequest? { state.withLock { $0.sent } }

    /// An attempt begins.
    func forget() {
        state.withLock { $0.received = nil }
        download?.wait(false)
        upload?.begin()
    }

    /// The attempt is sent as this.
    func begin(_ request: PlainRequest) {
        state.withLock { $0.sent = request }
    }

    /// Tells the session's monitors, if it has any.
    func tell(_ event: (UInt64) -> RequestEvent) {
        if !session.monitors.isEmpty { session.monitors.tell(event(number)) }
    }

    /// Reads an answer as far as it is wanted. That it is refused is said in what is returned: a redirect may yet be followed.
    func read(_ response: HTTPClientResponse) async throws -> ReceivedAnswer {
        let head = ResponseHead(url: request.url, response)
        let validator = checks.withLock { $0 }
        var received = ReceivedAnswer(
            head: head,
            visits: response.history.map { ($0.request.url, Int($0.responseHead.status.code)) },
            headTime: began.duration(to: .now),
            checkCount: validator.count
        )
        tell { .answered($0, head) }
        if try await !write(response.body, head, validator) {
            upload?.end()
            let isRedirect = (300..<400).contains(head.statusCode)
            if leavesBody, !isRedirect, validator.refusal(request, head, nil) == nil {
                received.body = response.body
            } else {
                let isRefused = download != nil || leavesBody || isRedirect || validator.refusesHead(request, head)
                try await read(response.body, into: &received, isRefused: isRefused, validator)
            }
        }
        state.withLock { [received] in $0.received = received }
        return received
    }

    /// Reads a body into memory; of one that is refused only what may be kept.
    private func read(
        _ body: HTTPClientResponse.Body,
        into received: inout ReceivedAnswer,
        isRefused: Bool,
        _ validator: Validator
    ) async throws {
        let (head, limit) = (received.head, isRefused ? session.limits.refusedBody : session.limits.body)
        let tooLong = RequestError.responseSerializationFailed(reason: .inputDataTooLong(limit: limit))
        if !isRefused, request.method != .head, let length = head.expectedContentLength, length > limit {
            throw tooLong
        }
        var isCut = false
        for try await part in body {
            let rest = limit - received.data.count
            isCut = part.readableBytes > rest
            if isCut, !isRefused { throw tooLong }
            received.data.append(contentsOf: part.readableBytesView.prefix(rest))
            if isCut { break }
        }
        let isData = download == nil && !leavesBody
        received.refusal = validator.refusal(request, head, isData ? received.data : nil)
        if download != nil, received.refusal == nil {
            let reason = RequestError.ResponseValidationFailureReason.unacceptableStatusCode(code: head.statusCode)
            received.refusal = .responseValidationFailed(reason: reason)
        }
        if isCut, received.refusal == nil { received.refusal = tooLong }
    }

    /// Writes an answer into the file; false for one that is none, or is refused.
    private func write(
        _ body: HTTPClientResponse.Body,
        _ head: ResponseHead,
        _ validator: Validator
    ) async throws -> Bool {
        guard let download else { return false }
        switch download.decision(on: head) {
        case .refuse: return false
        case .complete: return true
        case .startOver(let reason): throw RequestError.downloadInterrupted(error: DownloadFailure.startOver(reason))
        case .unexpectedPart: throw RequestError.downloadInterrupted(error: DownloadFailure.unexpectedPart)
        case .write(let start, let total):
            if validator.refusal(request, head, nil) != nil { return false }
            do {
                try await download.take(body, head, at: start, total: total)
            } catch let error as DownloadFailure {
                throw RequestError.downloadInterrupted(error: error)
            }
            return true
        }
    }
}

extension ResponseHead {
    init(url: String, _ response: HTTPClientResponse) {
        var headers = HTTPHeaders()
        for (name, value) in response.headers {
            headers[name] = headers[name].map { "\($0), \(value)" } ?? value
        }
        self.init(
            url: response.history.last?.request.url ?? url,
            statusCode: Int(response.status.code),
            headers: headers
        )
    }
}
