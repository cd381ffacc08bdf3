import AsyncHTTPClient
import FoundationEssentials
import LinuxSupport
import ReachabilityHTTP
import ReachabilityRetry

extension Session {
    /// Sends a request, and keeps its answer in memory or in a file, or leaves its body to be read.
    ///
    /// - Parameters:
    ///   - request: The request without changes of adapters.
    ///   - owner: The request object, whose validations, interceptor and handlers apply.
    ///   - body: The body, in place of that of the request.
    ///   - download: The file.
    ///   - leavesBody: True if the body of an accepted answer is left to be read.
    func send(
        _ request: URLRequest,
        of owner: Request,
        with body: UploadRequest.Uploadable? = nil,
        into download: PartialDownload? = nil,
        leavesBody: Bool = false
    ) async -> Answer {
        let reader = AnswerReader(
            owner: owner,
            request: request,
            upload: body,
            download: download,
            leavesBody: leavesBody
        )
        var answer = await send(request, settings(of: reader), reader)
        var metrics = answer.metrics ?? RequestMetrics()
        metrics.end(after: reader.began.duration(to: .now))
        answer.metrics = metrics
        return answer
    }

    /// Sends the request until there is an answer to keep.
    private func send(_ request: URLRequest, _ settings: RetrySettings, _ reader: AnswerReader) async -> Answer {
        guard let url = RequestURL(request.text, allowsSockets: true) else {
            return Answer(error: await reader.owner.refusal(of: request))
        }
        let hasBody = reader.upload != nil || request.httpBody != nil || request.httpBodyStream != nil
        let makeBody: @Sendable () throws -> HTTPClientRequest.Body? = { try reader.body() }
        do throws(RetryError) {
            let outcome = try await client.execute(
                HTTPClientRequest(url: request.text),
                request.adding(headers).plain,
                to: url.targetHost,
                settings,
                hasBody || !reader.owner.adapters.isEmpty ? makeBody : nil
            ) { try await reader.read($0) }
            return Answer(reader.latest, outcome.attempts)
        } catch {
            return Answer(reader.latest, error.attempts, failure: AFError(error))
        }
    }

    /// Returns the settings of a request: those of the session, with its own adapters, retriers and validations.
    private func settings(of reader: AnswerReader) -> RetrySettings {
        var settings = settings
        settings.options.attemptTimeout = attemptTimeout(of: reader.request)
        settings.options.adapter = AttemptStart(reader: reader, last: settings.options.adapter)
        settings.options.retrier = FailureReport(reader: reader, last: settings.options.retrier)
        settings.options.validate = { [validate = settings.options.validate] head in
            do { try await validate?(head) } catch let error as CancellationError { throw error } catch {
                throw error.asAFError(or: .responseValidationFailed(reason: .customValidationFailed(error: error)))
            }
            try reader.check()
        }
        settings.options.redirecting = { next in await reader.redirect(to: next) }
        if reader.request.httpShouldHandleCookies { settings.options.cookies = cookieStorage }
        if let download = reader.download { settings.options.resumes = { download.isResumable } }
        settings.options.observer = { [observer = settings.options.observer] event in
            observer?(event)
            if case .waiting(_, let attempt, _) = event, attempt.reason == .unreachable { reader.waitForNetwork() }
            reader.owner.didObserve(event, answersChallenge: reader.answersChallenge)
        }
        return settings
    }
}

extension Session {
    /// Returns the maximum time of an attempt until the answer begins; nil if only those of the client apply.
    fileprivate func attemptTimeout(of request: URLRequest) -> Duration? {
        guard let timeout = request.timeout, timeout > 0 else { return options.attemptTimeout }
        return .seconds(min(timeout, 86_400))
    }
}

extension URLRequest {
    /// The path and the query, as the client sends them.
    fileprivate var target: String {
        let path = url?.path(percentEncoded: true) ?? ""
        return (path.isEmpty ? "/" : path) + (url?.query(percentEncoded: true).map { "?\($0)" } ?? "")
    }
}

/// Begins an attempt: has the request adapted, and adds the answer to a challenge.
private struct AttemptStart: ReachabilityRetry.RequestAdapter {
    let reader: AnswerReader
    /// The adapter of the session's options.
    let last: (any ReachabilityRetry.RequestAdapter)?

    func adapt(_ plain: RequestHead) async throws -> RequestHead {
        let owner = reader.owner
        let (hasFailed, prepared, isChallenged) = owner.values.withLock { values in
            defer { values.prepared = nil }
            return (values.hasFailed, values.prepared, values.responder != nil)
        }
        reader.forget()
        if case .failure(let error)? = prepared { throw error }
        await owner.gate.pass()
        var request: URLRequest
        var isAdapted = true
        if let prepared = try prepared?.get() {
            request = reader.download?.requestingRest(in: prepared) ?? prepared
        } else {
            request = try reader.request(for: plain, afterFailure: hasFailed)
            isAdapted = last != nil || !owner.adapters.isEmpty
            if isAdapted { request = try await owner.adapt(request, by: last) }
            if isChallenged {
                let (method, target) = (request.sentMethod.rawValue, request.target)
                let answer = owner.values.withLock { $0.responder?.authorization(method: method, target: target) }
                if let answer { request.headers.update(name: "Authorization", value: answer) }
            }
            owner.willSend(request, isAdapted: isAdapted)
        }
        reader.begin(request)
        let isChanged = hasFailed || isAdapted || isChallenged
        var sent = isChanged ? request.adding(owner.session.headers, of: plain).plain : plain
        if request.timeout != reader.request.timeout {
            sent.attemptTimeout = owner.session.attemptTimeout(of: request) ?? .seconds(86_400)
        }
        return sent
    }
}

extension Request {
    private var interceptors: [any RequestInterceptor] {
        [interceptor, session.interceptor, session.laterInterceptor.withLock { $0 }].compactMap { $0 }
    }

    /// The adapters in the order in which they are called.
    var adapters: [any RequestAdapter] { interceptors + values.withLock { $0.adapters } }

    /// The retriers in the order in which they are called.
    var retriers: [any RequestRetrier] { interceptors + values.withLock { $0.retriers } }

    /// Adapts the request at its creation. Returns false if an adapter has failed.
    func prepare(_ request: URLRequest) async -> Bool {
        guard values.withLock({ $0.isHeld }) else { return true }
        let last = session.options.adapter
        let isAdapted = last != nil || !adapters.isEmpty
        do {
            let request = isAdapted ? try await adapt(request, by: last) : request
            willSend(request, isAdapted: isAdapted)
            values.withLock { $0.prepared = .success(request) }
            return true
        } catch {
            values.withLock { $0.prepared = .failure(error) }
            return false
        }
    }

    /// Adapts a request whose URL cannot be sent. Returns its error, or that of an adapter.
    fileprivate func refusal(of request: URLRequest) async -> AFError {
        do {
            let request = try await adapt(request, by: nil)
            willSend(request, isAdapted: !adapters.isEmpty)
            return .sessionTaskFailed(error: URLError(.unsupportedURL, cause: AFError.invalidURL(url: request.text)))
        } catch {
            return error.asAFError(or: .explicitlyCancelled)
        }
    }

    /// Returns the request that all adapters have changed.
    ///
    /// - Parameters:
    ///   - initial: The request as it was created.
    ///   - last: The adapter of the session's options.
    fileprivate func adapt(
        _ initial: URLRequest,
        by last: (any ReachabilityRetry.RequestAdapter)?
    ) async throws -> URLRequest {
        let state = RequestAdapterState(requestID: id, session: session)
        var request = initial
        do {
            for adapter in adapters {
                request = try await completed { [request] in adapter.adapt(request, using: state, completion: $0) }
                    .get()
            }
            if let last { request = request.replacingHead(by: try await last.adapt(request.plain)) }
            if !adapters.isEmpty { try request.validate() }
            return request
        } catch let error as CancellationError { throw error } catch {
            let error = AFError.requestAdaptationFailed(error: error)
            didFailToAdapt(initial, error)
            throw error
        }
    }
}

/// Calls the retriers for failures. They receive an ``AFError``. An error of a retrier is kept together with it.
private struct FailureReport: ReachabilityRetry.RequestRetrier {
    let reader: AnswerReader
    /// The retrier of the session's options.
    let last: (any ReachabilityRetry.RequestRetrier)?

    func retry(_ failed: FailedRequest, dueTo cause: any Error) async -> ReachabilityRetry.RetryResult {
        let owner = reader.owner
        if cause is AuthenticationChallenge { return .retry }
        let error = AFError(attemptError: cause)
        owner.didFail(failed)
        let result = await owner.judgement(of: error)
        owner.values.withLock { $0.isGivenUp = !result.retryRequired }
        switch result {
        case .retry, .retryWithDelay: return result.boundedDelay.map { .retryWithDelay($0) } ?? .retry
        case .doNotRetryWithError(let own):
            return .doNotRetryWithError(AFError.requestRetryFailed(retryError: own, originalError: error))
        case .doNotRetry:
            guard let last else { return .doNotRetry }
            let result = await last.retry(failed, dueTo: error)
            guard case .doNotRetryWithError(let own) = result else { return result }
            return .doNotRetryWithError(AFError.requestRetryFailed(retryError: own, originalError: error))
        }
    }
}
