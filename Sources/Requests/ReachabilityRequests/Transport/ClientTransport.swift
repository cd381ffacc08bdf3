import AsyncHTTPClient
import FoundationEssentials
import ReachabilityHTTP
import ReachabilityRetry

/// Sends a request with async-http-client, until there is an answer to keep.
struct ClientTransport: Sendable {
    let client: HTTPClient
    let settings: ClientSettings
    let policy: RetryPolicy
    let options: RequestRetryOptions

    /// Sends it. What the answer is refused for is known to the reader; the retrier is asked about it.
    func send(
        _ request: OutgoingRequest,
        reading reader: AnswerReader,
        watching upload: UploadWatch?
    ) async -> Answer {
        guard (try? HTTPClient.Request(url: request.url)) != nil else {
            return Answer(error: .invalidURL(url: request.url))
        }
        // The client would send any text, line breaks included.
        guard FieldReader.isToken(request.method.rawValue) else {
            return Answer(error: .invalidMethod(request.method.rawValue))
        }
        do throws(RequestError) { try request.plain.checkFields() } catch { return Answer(error: error) }
        var options = options
        options.validate = { [validate = options.validate] head in
            try await validate?(head)
            // Of an answer that the policy retries nothing was read.
            if let refusal = reader.latest?.refusal { throw refusal }
        }
        options.adapter = AttemptStart(reader: reader, next: options.adapter)
        do throws(RetryError) {
            let outcome = try await client.execute(
                request.clientRequest,
                settings,
                retry: policy,
                options: options,
                body: request.body?.maker(upload)
            ) { try await reader.read($0) }
            return Answer(outcome.value, outcome.attempts, error: outcome.value.refusal)
        } catch {
            let reason = RequestError(error)
            guard let received = reader.latest else {
                var answer = Answer(error: reason)
                answer.metrics.attempts = error.attempts
                return answer
            }
            return Answer(received, error.attempts, error: reason)
        }
    }
}

/// Tells the reader that an attempt begins.
private struct AttemptStart: RequestAdapter {
    let reader: AnswerReader
    let next: (any RequestAdapter)?

    func adapt(_ request: PlainRequest) async throws -> PlainRequest {
        reader.forget()
        guard let next else { return request }
        let adapted = try await next.adapt(request)
        try adapted.checkFields()
        return adapted
    }
}

extension PlainRequest {
    /// A name that is no ASCII would end the process in swift-nio, and a line break would add a field.
    fileprivate func checkFields() throws(RequestError) {
        for field in fields {
            let isSafe = field.value.utf8.allSatisfy { $0 != 0x0a && $0 != 0x0d && $0 != 0 }
            if !isSafe || !FieldReader.isToken(field.name) { throw .invalidHeader(name: field.name) }
        }
    }
}

extension Answer {
    fileprivate init(_ received: ReceivedAnswer, _ attempts: [RetryAttempt], error: RequestError?) {
        var metrics = RequestMetrics()
        metrics.attempts = attempts
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
        self.init(response: received.head, data: received.data, body: received.body, metrics: metrics, error: error)
    }
}

extension RequestError {
    /// Why the engine has no answer to give.
    fileprivate init(_ error: RetryError) {
        switch error.lastError {
        case _ where error.ending == .cancelled: self = .explicitlyCancelled
        case let failure as AdapterFailure:
            self = failure.cause as? RequestError ?? .requestAdaptationFailed(error: failure.cause)
        case let failure as ValidationFailure:
            let reason = ResponseValidationFailureReason.customValidationFailed(error: failure.cause)
            self = failure.cause as? RequestError ?? .responseValidationFailed(reason: reason)
        case let failure as RequestError: self = failure
        default: self = .sessionTaskFailed(error: error)
        }
    }
}
