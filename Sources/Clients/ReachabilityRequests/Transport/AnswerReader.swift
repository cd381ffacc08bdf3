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

/// What came of a request before it is read as something.
struct Answer: Sendable {
    var response: ResponseHead?
    var data: Data?
    /// The body, not read yet, of an answer that is read as it comes.
    var body: HTTPClientResponse.Body?
    var metrics = RequestMetrics()
    var error: RequestError?
    /// The number of checks that have judged it.
    var checkCount = 0
}

/// What was read of an answer.
struct ReceivedAnswer: Sendable {
    let head: ResponseHead
    /// Each redirect, and this answer; how many attempts each took is not known here.
    let visits: [(url: String, status: Int)]
    /// When its head was there, since the request was begun.
    let headTime: Duration
    var data = Data()
    /// The body, where it is read later.
    var body: HTTPClientResponse.Body?
    /// The number of checks that have judged it.
    let checkCount: Int
    /// Why it is not accepted.
    var refusal: RequestError?
}

extension Answer {
    /// - Parameter received: What was read last; nil where nothing was.
    init(_ received: ReceivedAnswer?, _ attempts: [RetryAttempt], error: RequestError?) {
        self.init(response: received?.head, data: received?.data, body: received?.body, error: error)
        metrics.attempts = attempts
        guard let received else { return }
        checkCount = received.checkCount
        metrics.receivedBytes = Int64(received.data.count)
        metrics.timeToHead = received.headTime
        // What has ended a hop is an attempt without an error.
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

extension OutgoingRequest {
    /// As the client wants it. Only bytes in memory are in it; other bodies are made for each attempt.
    var clientRequest: HTTPClientRequest {
        var request = HTTPClientRequest(url: url)
        request.method = .init(rawValue: method.rawValue)
        for header in headers { request.headers.add(name: header.name, value: header.value) }
        if case .bytes(let bytes) = body { request.body = .bytes(ByteBuffer(bytes: bytes)) }
        return request
    }
}

extension RequestBody {
    /// Makes the body for an attempt; nil where it is in memory.
    ///
    /// - Parameter watch: Told what is handed over.
    func maker(_ watch: UploadWatch?) -> (@Sendable () throws -> HTTPClientRequest.Body)? {
        switch self {
        case .bytes: nil
        case .file(let path):
            {
                let length = try FilePart.length(of: path)
                return .stream(BodyPieces([.file(path, length: length)], watch), length: .known(length))
            }
        case .multipart(let form):
            { .stream(BodyPieces(form.pieces, watch), length: .known(form.contentLength)) }
        }
    }
}

/// A body in pieces of 64 KiB at most, whose files are opened when it is their turn.
struct BodyPieces: AsyncSequence, Sendable {
    private let pieces: [MultipartFormData.Content]
    private let watch: UploadWatch?

    init(_ pieces: [MultipartFormData.Content], _ watch: UploadWatch?) { (self.pieces, self.watch) = (pieces, watch) }

    func makeAsyncIterator() -> Iterator { Iterator(rest: pieces[...], watch) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate var rest: ArraySlice<MultipartFormData.Content>
        private var file: FilePart?
        private let watch: UploadWatch?

        fileprivate init(rest: ArraySlice<MultipartFormData.Content>, _ watch: UploadWatch?) {
            (self.rest, self.watch) = (rest, watch)
        }

        mutating func next() async throws -> ByteBuffer? {
            guard let bytes = try nextBytes() else { return nil }
            watch?.count(bytes.count)
            return ByteBuffer(bytes: bytes)
        }

        private mutating func nextBytes() throws -> [UInt8]? {
            while true {
                if let bytes = try file?.next() { return bytes }
                file = nil
                switch rest.popFirst() {
                case nil: return nil
                case .bytes(let bytes): return bytes
                case .file(let path, let length): file = try FilePart(path, length: length)
                }
            }
        }
    }
}
