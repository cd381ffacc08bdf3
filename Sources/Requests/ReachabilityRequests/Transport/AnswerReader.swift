import AsyncHTTPClient
import FoundationEssentials
import LinuxPrimitives
import NIOCore
import NIOHTTP1
import ReachabilityRetry

/// Reads the answers to one request, and remembers the latest.
final class AnswerReader: Sendable {
    private let request: OutgoingRequest
    private let limits: ResponseLimits
    private let validator: Validator
    private let monitors: MonitorList
    private let download: PartialDownload?
    private let upload: UploadWatch?
    /// Whether an answer that is accepted is left to be read as it comes.
    private let leavesBody: Bool
    private let number: UInt64
    private let began: ContinuousClock.Instant
    private let state = Locked<ReceivedAnswer?>(nil)
    private let adapted = Locked<PlainRequest?>(nil)

    init(
        _ request: OutgoingRequest,
        _ limits: ResponseLimits,
        _ validator: Validator,
        _ monitors: MonitorList,
        _ download: PartialDownload?,
        _ upload: UploadWatch?,
        leavesBody: Bool,
        number: UInt64,
        began: ContinuousClock.Instant
    ) {
        self.request = request
        self.limits = limits
        self.validator = validator
        self.monitors = monitors
        self.download = download
        self.upload = upload
        self.leavesBody = leavesBody
        self.number = number
        self.began = began
    }

    /// What was read last; nil where the attempt under way has read nothing yet.
    var latest: ReceivedAnswer? { state.withLock { $0 } }

    /// An attempt begins.
    func forget() {
        state.withLock { $0 = nil }
        download?.wait(false)
        upload?.begin()
    }

    /// The request as it was sent last; nil where none was.
    var sent: PlainRequest? { adapted.withLock { $0 } }

    /// The attempt is sent as this.
    func begin(_ request: PlainRequest) {
        adapted.withLock { $0 = request }
    }

    /// Reads an answer as far as it is wanted. That it is refused is said in what is returned: a redirect may yet be followed.
    func read(_ response: HTTPClientResponse) async throws -> ReceivedAnswer {
        let head = ResponseHead(url: request.url, response)
        let time = began.duration(to: .now)
        monitors.tell(.answered(number, head))
        if let download, let received = try await write(response, head, to: download, time) {
            state.withLock { $0 = received }
            return received
        }
        upload?.end()
        if leavesBody, !(300..<400).contains(head.statusCode), validator.refusal(request, head, nil) == nil {
            let received = ReceivedAnswer(head, response, Data(), nil, headTime: time, body: response.body)
            state.withLock { $0 = received }
            return received
        }
        let isRefused =
            download != nil || leavesBody || validator.refusesHead(request, head)
            || (300..<400).contains(head.statusCode)
        let limit = isRefused ? limits.refusedBody : limits.body
        if !isRefused, request.method != .head, let length = head.expectedContentLength, length > limit {
            throw RequestError.responseSerializationFailed(reason: .inputDataTooLong(limit: limit))
        }
        var data = Data()
        var isCut = false
        for try await part in response.body {
            let rest = limit - data.count
            if part.readableBytes > rest, !isRefused {
                throw RequestError.responseSerializationFailed(reason: .inputDataTooLong(limit: limit))
            }
            data.append(contentsOf: part.readableBytesView.prefix(rest))
            if part.readableBytes > rest {
                isCut = true
                break
            }
        }
        var refusal = validator.refusal(request, head, download == nil && !leavesBody ? data : nil)
        if download != nil, refusal == nil {
            let reason = RequestError.ResponseValidationFailureReason.unacceptableStatusCode(code: head.statusCode)
            refusal = .responseValidationFailed(reason: reason)
        }
        if isCut, refusal == nil { refusal = .responseSerializationFailed(reason: .inputDataTooLong(limit: limit)) }
        let received = ReceivedAnswer(head, response, data, refusal, headTime: time)
        state.withLock { $0 = received }
        return received
    }

    /// Writes an answer into the file; nil for one that is none, or is refused.
    private func write(
        _ response: HTTPClientResponse,
        _ head: ResponseHead,
        to download: PartialDownload,
        _ time: Duration
    ) async throws -> ReceivedAnswer? {
        switch download.decision(on: head) {
        case .refuse: return nil
        case .complete: break
        case .startOver(let reason): throw RequestError.downloadInterrupted(error: DownloadFailure.startOver(reason))
        case .unexpectedPart: throw RequestError.downloadInterrupted(error: DownloadFailure.unexpectedPart)
        case .write(let start, let total):
            if validator.refusal(request, head, nil) != nil { return nil }
            do {
                try await download.take(response.body, head, at: start, total: total)
            } catch let error as DownloadFailure {
                throw RequestError.downloadInterrupted(error: error)
            }
        }
        return ReceivedAnswer(head, response, Data(), nil, headTime: time)
    }
}

extension ReceivedAnswer {
    fileprivate init(
        _ head: ResponseHead,
        _ response: HTTPClientResponse,
        _ data: Data,
        _ refusal: RequestError?,
        headTime: Duration,
        body: HTTPClientResponse.Body? = nil
    ) {
        self.init(
            head: head,
            data: data,
            body: body,
            visits: response.history.map { ($0.request.url, Int($0.responseHead.status.code)) },
            headTime: headTime,
            refusal: refusal
        )
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
