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
        // Before swift-nio is given a name it ends the process for.
        do throws(InvalidRequest) { try request.plain.check() } catch { return Answer(error: RequestError(error)) }
        var options = options
        options.validate = { [validate = options.validate] head in
            try await validate?(head)
            // Of an answer that the policy retries nothing was read.
            if let refusal = reader.latest?.refusal { throw refusal }
        }
        options.adapter = AttemptStart(reader: reader, next: options.adapter)
        options.retrier = options.retrier.map { NamingRetrier(base: $0) }
        do throws(RetryError) {
            let outcome = try await client.execute(
                request.clientRequest,
                settings,
                retry: policy,
                options: options,
                body: request.body?.maker(upload)
            ) { try await reader.read($0) }
            return Answer(outcome.value, outcome.attempts, reader.sent, error: outcome.value.refusal)
        } catch {
            let reason = RequestError(error)
            guard let received = reader.latest else {
                var answer = Answer(error: reason)
                (answer.metrics.attempts, answer.metrics.sentRequest) = (error.attempts, reader.sent)
                return answer
            }
            return Answer(received, error.attempts, reader.sent, error: reason)
        }
    }
}

/// Tells the reader that an attempt begins.
private struct AttemptStart: RequestAdapter {
    let reader: AnswerReader
    let next: (any RequestAdapter)?

    func adapt(_ request: PlainRequest) async throws -> PlainRequest {
        reader.forget()
        let adapted = try await next?.adapt(request) ?? request
        reader.begin(adapted)
        return adapted
    }
}

/// Says that an error is a retrier's, and keeps the one it takes the place of.
private struct NamingRetrier: RequestRetrier {
    let base: any RequestRetrier

    func retry(_ request: FailedRequest, dueTo error: any Error) async -> RetryResult {
        let result = await base.retry(request, dueTo: error)
        guard case .doNotRetryWithError(let own) = result else { return result }
        return .doNotRetryWithError(RequestError.requestRetryFailed(retryError: own, originalError: error))
    }
}

extension Answer {
    fileprivate init(
        _ received: ReceivedAnswer,
        _ attempts: [RetryAttempt],
        _ sent: PlainRequest?,
        error: RequestError?
    ) {
        var metrics = RequestMetrics()
        metrics.sentRequest = sent
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
        case let failure as InvalidRequest: self.init(failure)
        case let failure as AdapterFailure:
            self =
                switch failure.cause {
                case let cause as InvalidRequest: RequestError(cause)
                case let cause as RequestError: cause
                default: .requestAdaptationFailed(error: failure.cause)
                }
        case let failure as ValidationFailure:
            let reason = ResponseValidationFailureReason.customValidationFailed(error: failure.cause)
            self = failure.cause as? RequestError ?? .responseValidationFailed(reason: reason)
        case let failure as RequestError: self = failure
        default: self = .sessionTaskFailed(error: error)
        }
    }

    fileprivate init(_ failure: InvalidRequest) {
        self =
            switch failure {
            case .method(let text): .invalidMethod(text)
            case .header(let name): .invalidHeader(name: name)
            }
    }
}
