import AsyncHTTPClient
public import Dispatch
import LinuxSupport
import NIOCore
import NIOHTTP1
public import ReachabilityHTTP
public import ReachabilityRetry

/// Makes requests that share a client, rules for retrying, and what is put into each of them.
///
/// ```swift
/// let user = try await session.request("https://example.org/users/1").validate().decodable(User.self)
/// ```
///
/// It can be used from any thread. A client that is passed stays the caller's, who shuts it down.
public final class Session: Sendable {
    /// Sends the requests. Its settings are those of the session. The `validate` of its options runs before the checks of a request.
    public let client: RetryingHTTPClient
    /// Asked before every attempt, and about failures that the policy does not retry, or no more; nil for nobody.
    public let interceptor: (any RequestInterceptor)?
    /// Fields that each request has, unless it has its own of that name.
    public let headers: HTTPHeaders
    /// How much of an answer is kept in memory.
    public let limits: ResponseLimits
    /// Whether a request is sent when it is made. If false, it is sent by `resume()` or when its answer is first awaited.
    public let startRequestsImmediately: Bool

    let monitors: MonitorList

    /// A session.
    ///
    /// - Parameters:
    ///   - client: Sends the requests. Its own settings are not used.
    ///   - settings: When and how requests are sent again.
    ///   - interceptor: Asked before every attempt, and about failures that the policy does not retry.
    ///   - headers: Fields that each request has, unless it has its own of that name.
    ///   - limits: How much of an answer is kept in memory.
    ///   - eventMonitors: Told what happens.
    ///   - startRequestsImmediately: Whether a request is sent when it is made.
    public init(
        client: RetryingHTTPClient = .shared,
        settings: RetrySettings,
        interceptor: (any RequestInterceptor)? = nil,
        headers: HTTPHeaders = .default,
        limits: ResponseLimits = ResponseLimits(),
        eventMonitors: [any EventMonitor] = [],
        startRequestsImmediately: Bool = true
    ) {
        self.client = client.overriding { $0 = settings }
        self.interceptor = interceptor
        self.headers = headers
        self.limits = limits
        self.startRequestsImmediately = startRequestsImmediately
        monitors = MonitorList(eventMonitors)
    }

    private init(_ other: Session, _ settings: RetrySettings) {
        client = other.client.overriding { $0 = settings }
        interceptor = other.interceptor
        headers = other.headers
        limits = other.limits
        startRequestsImmediately = other.startRequestsImmediately
        monitors = other.monitors
    }
}

extension Session {
    /// The serial queue on which handlers are called that name no other. All sessions share it, so handlers never run at the same time.
    public static let handlerQueue = DispatchQueue(label: "reachability.handlers")

    /// When and how requests are sent again.
    public var settings: RetrySettings { client.settings }

    /// When requests are sent again.
    public var policy: RetryPolicy { settings.policy }

    /// The other settings of retries.
    public var options: RequestRetryOptions { settings.options }

    /// The same session, client and monitors, with other settings: for one request, or for many.
    ///
    /// ```swift
    /// session.overriding { $0.options.priority = .high }.request("https://example.org/now")
    /// ```
    public func overriding(_ change: (inout RetrySettings) throws -> Void) rethrows -> Session {
        Session(self, try settings.overriding(change))
    }
}

extension Session {
    /// A request. It is sent at once, unless the session says otherwise.
    ///
    /// - Parameters:
    ///   - request: What is sent.
    ///   - interceptor: Asked before the session's own.
    @discardableResult
    public func request(_ request: OutgoingRequest, interceptor: (any RequestInterceptor)? = nil) -> DataRequest {
        DataRequest(.success(request), in: self, interceptor)
    }

    /// A request. It is sent at once, unless the session says otherwise.
    ///
    /// - Parameters:
    ///   - url: The URL as text.
    ///   - method: The method.
    ///   - headers: Its own header fields.
    ///   - interceptor: Asked before the session's own.
    @discardableResult
    public func request(
        _ url: String,
        method: HTTPMethod = .get,
        headers: HTTPHeaders = HTTPHeaders(),
        interceptor: (any RequestInterceptor)? = nil
    ) -> DataRequest {
        request(OutgoingRequest(url: url, method: method, headers: headers), interceptor: interceptor)
    }

    /// A request with parameters. It is sent at once, unless the session says otherwise. If the parameters cannot be encoded, the result is
    /// that error, and nothing is sent.
    ///
    /// - Parameters:
    ///   - url: The URL as text.
    ///   - method: The method.
    ///   - parameters: What the encoder puts into the request.
    ///   - encoder: Where to, and how.
    ///   - headers: Its own header fields.
    ///   - interceptor: Asked before the session's own.
    @discardableResult
    public func request<Parameters: Encodable & Sendable>(
        _ url: String,
        method: HTTPMethod = .get,
        parameters: Parameters?,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default,
        headers: HTTPHeaders = HTTPHeaders(),
        interceptor: (any RequestInterceptor)? = nil
    ) -> DataRequest {
        let plain = OutgoingRequest(url: url, method: method, headers: headers)
        let encoded = Result { () throws(RequestError) in try encoder.encode(parameters, into: plain) }
        return DataRequest(encoded.mapError { UnmadeRequest(error: $0, request: plain) }, in: self, interceptor)
    }

    /// A request with a body: bytes, a file or a form, the latter two read piece by piece while they are sent.
    ///
    /// - Parameters:
    ///   - body: What is sent. A form brings its own Content-Type, unless `headers` has one.
    ///   - url: The URL as text.
    ///   - method: The method.
    ///   - headers: Its own header fields.
    ///   - interceptor: Asked before the session's own.
    @discardableResult
    public func upload(
        _ body: RequestBody,
        to url: String,
        method: HTTPMethod = .post,
        headers: HTTPHeaders = HTTPHeaders(),
        interceptor: (any RequestInterceptor)? = nil
    ) -> DataRequest {
        var outgoing = OutgoingRequest(url: url, method: method, headers: headers, body: body)
        if case .multipart(let form) = body, headers["Content-Type"] == nil {
            outgoing.headers.add(.contentType(form.contentType))
        }
        return request(outgoing, interceptor: interceptor)
    }
}

extension OutgoingRequest {
    /// With those of these fields that it has not.
    func adding(_ headers: HTTPHeaders) -> OutgoingRequest {
        var request = self
        for header in headers where self.headers[header.name] == nil { request.headers.add(header) }
        return request
    }
}

/// How much of an answer is kept in memory.
public struct ResponseLimits: Hashable, Sendable {
    /// The longest body, in bytes. A longer one is an error: where Content-Length says so, before a byte of it is read.
    public var body: Int
    /// How much is kept of a body whose head was refused, in bytes. The rest is not read.
    public var refusedBody: Int

    /// 16 MiB, and 64 KiB of what was refused.
    public init(body: Int = 16 << 20, refusedBody: Int = 64 << 10) {
        self.body = max(0, body)
        self.refusedBody = max(0, refusedBody)
    }
}

extension Session {
    /// A session that follows the kernel's verdicts. Without a policy a request waits at most 30 seconds while this machine has no path,
    /// and is sent once.
    public convenience init(
        client: RetryingHTTPClient = .shared,
        retry policy: RetryPolicy = .singleAttempt,
        interceptor: (any RequestInterceptor)? = nil,
        headers: HTTPHeaders = .default,
        limits: ResponseLimits = ResponseLimits(),
        eventMonitors: [any EventMonitor] = [],
        startRequestsImmediately: Bool = true
    ) {
        self.init(
            client: client,
            settings: RetrySettings(policy: policy),
            interceptor: interceptor,
            headers: headers,
            limits: limits,
            eventMonitors: eventMonitors,
            startRequestsImmediately: startRequestsImmediately
        )
    }
}

extension Session {
    /// Sends a request, and keeps its answer in memory, or in a file, or leaves its body to be read.
    func send(
        _ request: OutgoingRequest,
        _ checks: Locked<Validator>,
        _ interceptor: (any RequestInterceptor)?,
        into download: PartialDownload? = nil,
        watching upload: UploadWatch? = nil,
        leavesBody: Bool = false
    ) async -> Answer {
        let reader = AnswerReader(
            request: request,
            session: self,
            number: monitors.nextNumber(),
            checks: checks,
            download: download,
            upload: upload,
            leavesBody: leavesBody
        )
        reader.tell { .began($0, request) }
        let interceptors = [interceptor, self.interceptor].compactMap { $0 }
        var answer = await SessionContext.$current.withValue(SessionContext(session: self, reader: reader)) {
            await send(request, requestOptions(interceptors, reader), reader)
        }
        answer.metrics.sentRequest = reader.sent
        answer.metrics.duration = reader.began.duration(to: .now)
        reader.tell { [answer] in .finished($0, answer.metrics, answer.error) }
        return answer
    }

    /// The settings of a request: those of all, with what is asked and told about this one.
    private func requestOptions(
        _ interceptors: [any RequestInterceptor],
        _ reader: AnswerReader
    ) -> RequestRetryOptions {
        var options = options
        options.adapter = AttemptStart(reader: reader, adapters: interceptors + [options.adapter].compactMap { $0 })
        let retriers = interceptors + [options.retrier].compactMap { $0 }
        options.retrier = retriers.isEmpty ? nil : SessionErrorRetrier(base: Interceptor(retriers: retriers))
        options.validate = { [validate = options.validate] head in
            do { try await validate?(head) } catch let error as CancellationError { throw error } catch {
                let reason = RequestError.ResponseValidationFailureReason.customValidationFailed(error: error)
                throw error as? RequestError ?? .responseValidationFailed(reason: reason)
            }
            // Of an answer that the policy retries nothing was read.
            if let refusal = reader.latest?.refusal { throw refusal }
        }
        if let download = reader.download { options.resumes = { download.isResumable } }
        options.observer = { [observer = options.observer] event in
            observer?(event)
            if case .waiting(_, let attempt, _) = event, attempt.reason == .unreachable {
                reader.download?.wait(true)
                reader.upload?.wait()
            }
            reader.tell { .retry($0, event) }
        }
        return options
    }

    /// Sends it until there is an answer to keep.
    private func send(
        _ request: OutgoingRequest,
        _ options: RequestRetryOptions,
        _ reader: AnswerReader
    ) async -> Answer {
        guard let parsed = try? HTTPClient.Request(url: request.url, method: .init(rawValue: request.method.rawValue))
        else { return Answer(error: .invalidURL(url: request.url)) }
        // Before swift-nio is given a name it ends the process for.
        do throws(InvalidRequest) { try request.plain.check() } catch { return Answer(error: RequestError(error)) }
        do throws(RetryError) {
            let outcome = try await client.execute(
                request.clientRequest,
                parsed,
                RetrySettings(policy: policy, options: options),
                body: request.body?.maker(reader.upload)
            ) { try await reader.read($0) }
            return Answer(outcome.value, outcome.attempts, error: outcome.value.refusal)
        } catch {
            return Answer(reader.latest, error.attempts, error: RequestError(error))
        }
    }
}

/// Tells the reader that an attempt begins, and has the request adapted.
private struct AttemptStart: RequestAdapter {
    let reader: AnswerReader
    let adapters: [any RequestAdapter]

    func adapt(_ request: PlainRequest) async throws -> PlainRequest {
        reader.forget()
        var adapted = request
        for adapter in adapters { adapted = try await adapter.adapt(adapted) }
        reader.begin(adapted)
        return adapted
    }
}

/// Gives retriers every failure as a ``RequestError``. An error that a retrier puts in its place is kept together with it.
private struct SessionErrorRetrier: RequestRetrier {
    let base: any RequestRetrier

    func retry(_ request: FailedRequest, dueTo error: any Error) async -> RetryResult {
        let error = RequestError(attemptError: error)
        let result = await base.retry(request, dueTo: error)
        guard case .doNotRetryWithError(let own) = result else { return result }
        return .doNotRetryWithError(RequestError.requestRetryFailed(retryError: own, originalError: error))
    }
}
