public import AsyncHTTPClient
public import Logging
import NIOHTTP1
public import ReachabilityRetry

extension HTTPClient {
    /// As ``execute(_:retry:options:body:logger:isolation:)``, with the answer read as a part of the attempt: where its body
    /// breaks off the request is retried, if it may be repeated.
    ///
    /// ```swift
    /// let request = HTTPClientRequest(url: "https://example.org/")
    /// let outcome = try await client.execute(request, retry: .standard) { response in
    ///     try await response.body.collect(upTo: 1 << 20)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - request: What to send; method, idempotency key and host decide how it is retried.
    ///   - policy: When to try again.
    ///   - options: Adapter, timeout of an attempt, priority, coordinator, clock. The timeout ends where the answer begins.
    ///   - body: Makes the body for each attempt, in the place of the request's own. What it throws ends the request.
    ///   - logger: The client's logger for the attempts.
    ///   - isolation: Where this runs; the caller's own unless told otherwise.
    ///   - read: Reads an answer that is not retried; it is cancelled at the deadline. What it throws is classified as an error of the client is; one that is not
    ///     known ends the request.
    /// - Returns: What `read` returned, and every attempt.
    /// - Throws: `RetryError`, with every attempt.
    public func execute<Value: Sendable>(
        _ request: HTTPClientRequest,
        retry policy: RetryPolicy,
        options: RequestRetryOptions,
        body: (@Sendable () throws -> HTTPClientRequest.Body)? = nil,
        logger: Logger? = nil,
        isolation: isolated (any Actor)? = #isolation,
        reading read: @escaping @Sendable (HTTPClientResponse) async throws -> Value
    ) async throws(RetryError) -> RetryOutcome<Value> {
        let parsed = try Request.checked(request, options)
        return try await execute(
            request,
            parsed,
            ClientSettings(self),
            retry: policy,
            options: options,
            body: body,
            logger: logger,
            reading: read
        )
    }

    /// The same, with what the client makes of the URL, and the client's settings.
    package func execute<Value: Sendable>(
        _ request: HTTPClientRequest,
        _ parsed: Request,
        _ settings: ClientSettings,
        retry policy: RetryPolicy,
        options: RequestRetryOptions,
        body: (@Sendable () throws -> HTTPClientRequest.Body)? = nil,
        logger: Logger? = nil,
        isolation: isolated (any Actor)? = #isolation,
        reading read: @escaping @Sendable (HTTPClientResponse) async throws -> Value
    ) async throws(RetryError) -> RetryOutcome<Value> {
        let retried = retried(request, parsed, settings, policy, options, body, logger, letGo: ReadAnswer.discard) {
            response in
            let isKept = !policy.statuses.contains(Int(response.status.code))
            return isKept ? ReadAnswer.read(try await response.read(with: read)) : .unread(response)
        }
        return try await retried.run(finished: \.value) { answer in
            switch answer {
            case .read(let value): value
            case .unread(let response): try await read(response)
            }
        }
    }
}

/// An answer that was read, or that is not to be read yet for it may be retried.
private enum ReadAnswer<Value: Sendable>: Sendable {
    case read(Value)
    case unread(HTTPClientResponse)

    /// Nil where it was not read.
    var value: Value? { if case .read(let value) = self { value } else { nil } }

    static func discard(_ answer: ReadAnswer) async {
        if case .unread(let response) = answer { await response.discard() }
    }
}

extension HTTPClientResponse {
    /// Reads it; there is an answer, so no error of the reading means that the request was never sent.
    fileprivate func read<Value: Sendable>(
        with read: @Sendable (HTTPClientResponse) async throws -> Value
    ) async throws -> Value {
        do {
            return try await read(self)
        } catch let error as any RetryableError where error.failureStage == .neverSent {
            throw BrokenAnswer(cause: error)
        }
    }
}

/// The answer had begun, and what reads it failed in a way that says of some other request that it was never sent.
public struct BrokenAnswer: RetryableError, CustomStringConvertible {
    /// What reading it failed with.
    public let cause: any Error

    /// May have been processed: there was an answer.
    public var failureStage: FailureStage? { .mayHaveBeenProcessed }

    /// What its cause says.
    public var isConnectionLost: Bool { (cause as? any RetryableError)?.isConnectionLost ?? false }

    /// One sentence.
    public var description: String { "the answer could not be read to its end: \(cause)" }
}
