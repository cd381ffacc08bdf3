import AsyncHTTPClient
import FoundationEssentials
import LinuxSupport
import NIOCore
import NIOHTTP1
import ReachabilityRetry

/// Reads the answers to one request, and keeps the latest.
final class AnswerReader: Sendable {
    private struct State {
        var received: ReceivedAnswer?
        /// The request as it was created last; nil for the first one.
        var current: URLRequest?
        var sent: URLRequest?
    }

    /// The request object.
    let owner: Request
    /// The request without changes of adapters.
    let request: URLRequest
    /// The body, in place of that of the request.
    let upload: UploadRequest.Uploadable?
    let download: PartialDownload?
    /// A Boolean value that indicates whether the body of an accepted answer is left to be read.
    let leavesBody: Bool
    let began = ContinuousClock.now
    private let state = Locked(State())

    init(
        owner: Request,
        request: URLRequest,
        upload: UploadRequest.Uploadable?,
        download: PartialDownload?,
        leavesBody: Bool
    ) {
        (self.owner, self.request, self.upload) = (owner, request, upload)
        (self.download, self.leavesBody) = (download, leavesBody)
    }

    private var session: Session { owner.session }

    /// The request without changes of adapters, as it was created for the latest attempt.
    var current: URLRequest { state.withLock { $0.current } ?? request }

    /// The request as it was sent last.
    private var sent: URLRequest { state.withLock { $0.sent } ?? request }

    /// The latest answer; nil while the attempt in progress has read nothing yet.
    var latest: ReceivedAnswer? { state.withLock { $0.received } }

    /// A Boolean value that indicates whether the latest answer is a challenge that the next attempt answers.
    var answersChallenge: Bool { state.withLock { $0.received?.isChallenge ?? false } }

    /// Throws the reason why the latest answer is not the result. Nothing was read of an answer that the policy retries.
    func check() throws {
        if answersChallenge { throw AuthenticationChallenge() }
        if let refusal = state.withLock({ $0.received?.refusal }) { throw refusal }
    }

    /// Forgets the answer of the last attempt.
    func forget() {
        state.withLock { $0.received = nil }
        download?.wait(false)
        owner.change(.upload) { progress in
            progress.completedUnitCount = 0
            progress.isWaitingForNetwork = false
        }
        if download == nil { owner.change(.download) { $0.completedUnitCount = 0 } }
    }

    /// Creates the request of an attempt, without changes of adapters. After a failed attempt it is created again, unless it was
    /// redirected.
    func request(for plain: RequestHead, afterFailure: Bool) throws -> URLRequest {
        guard afterFailure, plain.url == request.text, plain.method == request.sentMethod else {
            return current.replacing(by: plain, without: session.headers)
        }
        let created = owner.source.request().map { download?.requestingRest(in: $0) ?? $0 }
        owner.didCreateAgain(created)
        let next = try created.get()
        state.withLock { $0.current = next }
        return next
    }

    /// Records the request of an attempt.
    func begin(_ request: URLRequest) { state.withLock { $0.sent = request } }

    /// Records that the network was lost.
    func waitForNetwork() {
        download?.wait(true)
        owner.change(.upload) { $0.isWaitingForNetwork = true }
    }

    /// Returns the body of an attempt, or nil.
    func body() throws -> HTTPClientRequest.Body? {
        let sent = sent
        if case .data(let data)? = upload { return body(of: data) }
        guard let stream = try upload?.body() ?? sent.httpBodyStream else { return sent.httpBody.map(body(of:)) }
        if case .stream? = upload { (owner as? UploadRequest)?.didProvide(stream) }
        owner.change(.upload) { $0.totalUnitCount = stream.length }
        return .stream(BodyPieces(stream, owner), length: .known(stream.length))
    }

    private func body(of data: Data) -> HTTPClientRequest.Body {
        owner.change(.upload) { $0.totalUnitCount = Int64(data.count) }
        return .bytes(ByteBuffer(bytes: data))
    }

    /// Returns the next request of a redirect; nil if the redirect is the answer.
    func redirect(to next: RequestHead) async -> RequestHead? {
        guard let handler = owner.redirectHandler ?? session.redirectHandler, let head = latest?.head else {
            return next
        }
        let sent = sent
        let task = URLSessionTask(originalRequest: request, currentRequest: sent, response: head, state: .running)
        let decision: URLRequest?? = try? await completed { completion in
            let following = sent.replacing(by: next, without: session.headers)
            handler.task(task, willBeRedirectedTo: following, for: head) { completion($0) }
        }
        return (decision ?? nil)?.adding(session.headers, of: next).plain
    }

    /// Reads an answer as far as it is needed. A refusal is part of the result, because a redirect may yet be followed.
    func read(_ response: HTTPClientResponse) async throws {
        let (head, request) = (HTTPURLResponse(response, to: request), sent)
        let validator = owner.validator.withLock { $0 }
        var received = ReceivedAnswer(
            head: head,
            visits: response.history.map { ($0.request.url, Int($0.responseHead.status.code)) },
            headTime: began.duration(to: .now),
            checkCount: validator.count
        )
        await owner.didReceive(head)
        received.isChallenge = answerChallenge(of: head)
        var isWritten = false
        if !received.isChallenge { isWritten = try await write(response.body, head, validator) }
        if !isWritten {
            // A body in memory was sent as a whole.
            owner.change(.upload) { progress in
                if progress.completedUnitCount == 0 { progress.completedUnitCount = progress.totalUnitCount }
            }
            let isRedirect = (300..<400).contains(head.statusCode)
            if leavesBody, !isRedirect, !received.isChallenge, validator.refusal(request, head, nil) == nil {
                received.body = response.body
                accept(head, validator)
            } else {
                let isRefused =
                    download != nil || leavesBody || isRedirect || received.isChallenge
                    || validator.refusesHead(request, head)
                try await read(response.body, into: &received, isRefused: isRefused, validator)
            }
        }
        state.withLock { [received] in $0.received = received }
    }

    /// Returns whether the answer is a challenge that the next attempt answers.
    private func answerChallenge(of head: HTTPURLResponse) -> Bool {
        guard head.statusCode == 401, let credential = owner.credential,
            RequestURL(head.text)?.origin == RequestURL(request.text)?.origin,
            let field = head.headers["WWW-Authenticate"]
        else { return false }
        return owner.values.withLock { values in
            var responder = values.responder ?? ChallengeResponder(credential)
            guard responder.accept(field) else { return false }
            values.responder = responder
            values.challenges += 1
            return true
        }
    }

    /// Reports that every validation has accepted a head.
    private func accept(_ head: HTTPURLResponse, _ validator: Validator) {
        for _ in 0..<validator.count { owner.didValidate(sent, head, nil, .success(())) }
    }

    /// Reads a body into memory; of one that is rejected only the part that may be kept.
    private func read(
        _ body: HTTPClientResponse.Body,
        into received: inout ReceivedAnswer,
        isRefused: Bool,
        _ validator: Validator
    ) async throws {
        let (head, request) = (received.head, sent)
        let limit = isRefused ? session.limits.refusedBody : session.limits.body
        var tooLong: AFError {
            .responseSerializationFailed(reason: .customSerializationFailed(error: ResponseTooLong(limit: limit)))
        }
        let length = head.contentLength
        if !isRefused, request.sentMethod != .head, let length, length > limit { throw tooLong }
        let isShown = download == nil
        if isShown { owner.change(.download) { $0.totalUnitCount = length ?? -1 } }
        var isCut = false
        for try await part in body {
            await owner.gate.pass()
            let rest = limit - received.data.count
            isCut = part.readableBytes > rest
            if isCut, !isRefused { throw tooLong }
            received.data.append(contentsOf: part.readableBytesView.prefix(rest))
            if isShown { owner.change(.download) { $0.completedUnitCount = Int64(received.data.count) } }
            if isCut { break }
        }
        let isData = download == nil && !leavesBody
        let data = isData ? received.data : nil
        received.refusal = validator.refusal(request, head, data) { owner.didValidate(request, head, data, $0) }
        if download != nil, received.refusal == nil {
            received.refusal = .responseValidationFailed(reason: .unacceptableStatusCode(code: head.statusCode))
        }
        if isCut, received.refusal == nil { received.refusal = tooLong }
    }

    /// Writes an answer into the file. Returns false if the answer is not the file, or is rejected.
    private func write(
        _ body: HTTPClientResponse.Body,
        _ head: HTTPURLResponse,
        _ validator: Validator
    ) async throws -> Bool {
        guard let download else { return false }
        switch download.decision(on: head) {
        case .refuse: return false
        case .complete: return true
        case .startOver(let reason): throw AFError.sessionTaskFailed(error: DownloadFailure.startOver(reason))
        case .unexpectedPart: throw AFError.sessionTaskFailed(error: DownloadFailure.unexpectedPart)
        case .write(let start, let total):
            if validator.refusal(sent, head, nil) != nil { return false }
            accept(head, validator)
            do {
                try await download.take(body, head, at: start, total: total, through: owner.gate)
            } catch let error as DownloadFailure {
                throw AFError.sessionTaskFailed(error: error)
            }
            return true
        }
    }
}

extension HTTPURLResponse {
    init(_ response: HTTPClientResponse, to request: URLRequest) {
        var headers = HTTPHeaders()
        for (name, value) in response.headers {
            headers[name] = headers[name].map { "\($0), \(value)" } ?? value
        }
        let url = response.history.last?.request.url ?? request.text
        self.init(text: url, statusCode: Int(response.status.code), headers: headers)
    }
}

/// The result of a request before it is serialized.
struct Answer: Sendable {
    var response: HTTPURLResponse?
    /// The body in memory; nil if no byte came.
    var data: Data?
    /// The unread body of an answer that is read in pieces.
    var body: HTTPClientResponse.Body?
    /// The complete file of a download.
    var file: URL?
    /// The data with which a download can be continued.
    var resumeData: Data?
    var metrics: RequestMetrics?
    var error: AFError?
    /// The number of validations that were applied to the answer.
    var checkCount = 0
    /// The responses of handlers, by the numbers of their serializers, if retriers were called about them.
    var responses: [Int: any Sendable] = [:]
}

/// The read part of an answer.
struct ReceivedAnswer: Sendable {
    let head: HTTPURLResponse
    /// Each redirect, and this answer. The number of attempts of each is not known here.
    let visits: [(url: String, status: Int)]
    /// The time from the beginning of the request until the head.
    let headTime: Duration
    var data = Data()
    /// The body, if it is read later.
    var body: HTTPClientResponse.Body?
    /// The number of validations that were applied to the answer.
    let checkCount: Int
    /// A Boolean value that indicates whether the next attempt answers its challenge.
    var isChallenge = false
    /// The reason why it is rejected.
    var refusal: AFError?
}

extension Answer {
    /// Creates the result of attempts.
    ///
    /// - Parameters:
    ///   - received: The read part of the latest answer; nil if there was none.
    ///   - failure: The error of the request; nil if the answer decides.
    init(_ received: ReceivedAnswer?, _ attempts: [RetryAttempt], failure: AFError? = nil) {
        let data = received.flatMap { $0.data.isEmpty ? nil : $0.data }
        self.init(response: received?.head, data: data, body: received?.body, error: failure ?? received?.refusal)
        var metrics = RequestMetrics()
        metrics.attempts = attempts
        defer { self.metrics = metrics }
        guard let received else { return }
        checkCount = received.checkCount
        metrics.receivedBytes = Int64(received.data.count)
        metrics.timeToHead = received.headTime
        metrics.requestDuration = attempts.last?.sent.map { received.headTime - $0 }
        // An attempt without an error has ended a hop.
        var counts = Array(repeating: 0, count: received.visits.count)
        var place = 0
        for attempt in attempts where place < counts.count {
            counts[place] += 1
            if attempt.error == nil { place += 1 }
        }
        metrics.hops = zip(received.visits, counts).map { visit, count in
            RequestMetrics.Hop(url: visit.url, statusCode: visit.status, attempts: count)
        }
    }
}
