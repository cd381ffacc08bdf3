import LinuxSupport

/// A request of any HTTP client, with retries and redirects. The client keeps its responses. The engine receives only their heads.
package final class RetriedRequest: Sendable {
    /// The original request, with its idempotency key.
    package let request: RequestHead
    /// The host of the URL, without brackets. Empty or nil if the URL has no host.
    package let host: String?
    package let policy: RetryPolicy
    package let options: RequestRetryOptions
    /// A Boolean value that indicates whether the request has a body, and whether the body can be sent again.
    package let body: RequestBodyKind
    /// Returns whether the body was used up by an attempt that failed with this error.
    package let isBodyLost: @Sendable (any Error) -> Bool
    /// Releases the response of the latest attempt, which is not returned, and whose body is not read.
    package let release: @Sendable () async -> Void
    /// Makes one attempt with the adapted request of a hop. Returns when the response has begun.
    package let send: @Sendable (RedirectHop, AttemptProgress) async throws -> ResponseHead
    /// A Boolean value that indicates whether the request needs a path to its host. A request over a Unix domain socket
    /// does not.
    package let needsPath: Bool
    /// A Boolean value that indicates whether the client reports the status of a response.
    private let tellsStatus: Bool

    package init(
        _ request: RequestHead,
        host: String?,
        policy: RetryPolicy,
        options: RequestRetryOptions,
        needsPath: Bool = true,
        tellsStatus: Bool = true,
        body: RequestBodyKind,
        isBodyLost: @escaping @Sendable (any Error) -> Bool = { _ in false },
        release: @escaping @Sendable () async -> Void = {},
        send: @escaping @Sendable (RedirectHop, AttemptProgress) async throws -> ResponseHead
    ) {
        self.request = options.idempotency.adding(to: request)
        self.host = host
        self.policy = policy
        self.options = options
        self.needsPath = needsPath
        self.tellsStatus = tellsStatus
        self.body = body
        self.isBodyLost = isBodyLost
        self.release = release
        self.send = send
    }

    /// Sends the request until there is a response to return: one that is not retried, or the last one if no further
    /// retry is permitted.
    ///
    /// - Throws: ``RetryError`` if the last attempt had no response, if its response was refused, or if its response
    ///   was discarded for a retry that was not made.
    package func run() async throws(RetryError) -> RetryOutcome<ResponseHead> {
        try await run(on: Timeline(options.clock))
    }

    func run(on clock: Timeline) async throws(RetryError) -> RetryOutcome<ResponseHead> {
        let trace = options.tracer?.begin(request)
        do throws(RetryError) {
            let outcome = try await follow(on: clock, trace)
            trace?.end(status: status(of: outcome.value), error: nil)
            return outcome
        } catch {
            trace?.end(status: nil, error: error)
            throw error
        }
    }

    /// Follows redirects hop by hop.
    private func follow(
        on clock: Timeline,
        _ trace: (any RequestTrace)?
    ) async throws(RetryError) -> RetryOutcome<ResponseHead> {
        var (hop, target) = try first()
        var attempts: [RetryAttempt] = []
        while true {
            let latest = LatestAttempt()
            let work = work(hop, target, latest, trace, on: clock)
            let run = RetryRun.make(work, at: target, options.coordinator, on: clock, after: attempts.count)
            let ending = await run.end()
            attempts += run.attempts
            guard let head = latest.head, run.result?.hasAnswer == true else {
                throw RetryError(ending: ending ?? .cancelled, target: target, attempts: attempts)
            }
            if case .held? = run.result {
                if ending?.leavesAnswer == true {
                    return RetryOutcome(value: head, attempts: attempts, ending: ending)
                }
                await release()
                throw RetryError(ending: ending ?? .cancelled, target: target, attempts: attempts)
            }
            switch step(hop, head, latest) {
            case .keep: return RetryOutcome(value: head, attempts: attempts)
            case .fail(let failure):
                await release()
                attempts[attempts.count - 1].error = failure
                throw RetryError(ending: .notRetryable, target: target, attempts: attempts)
            case .follow(var next):
                if let redirecting = options.redirecting {
                    guard let request = await redirecting(next.request) else {
                        return RetryOutcome(value: head, attempts: attempts)
                    }
                    if RequestURL(request.url)?.origin != RequestURL(next.request.url)?.origin {
                        next.isFirstOrigin = false
                    }
                    next.request = request
                }
                await release()
                work.publish(.redirected(target, to: next.request.url), options.coordinator)
                hop = next
                do throws(RetryError) {
                    target = try self.target(of: next, at: RequestURL(next.request.url)?.host ?? host ?? "")
                } catch {
                    throw RetryError(ending: error.ending, target: target, attempts: attempts + error.attempts)
                }
            }
        }
    }

    private func step(_ hop: RedirectHop, _ head: ResponseHead, _ latest: LatestAttempt) -> RedirectStep {
        guard (300..<400).contains(head.status) else { return .keep }
        var rule = options.redirects ?? .follow()
        // A server may set a cookie and redirect to the same URL.
        if options.cookies != nil, head["Set-Cookie"] != nil { rule = .follow(rule.limit, allowsCycles: true) }
        return hop.step(
            after: head.status,
            location: head["Location"],
            sentTo: latest.request?.url ?? hop.request.url,
            isReplayable: body.isReplayable,
            idempotency: options.idempotency,
            by: rule
        )
    }

    func work(
        _ hop: RedirectHop,
        _ target: RetryTarget,
        _ latest: LatestAttempt,
        _ trace: (any RequestTrace)?,
        on clock: Timeline
    ) -> RetryWork {
        let progress = AttemptProgress(now: { clock.now }, resumes: options.resumes)
        var work = RetryWork(
            policy: policy,
            waitsFirst: needsPath || policy.waitsFirst,
            observer: options.observer
        ) { _ in
            await self.attempt(hop, progress, latest, trace)
        }
        if let trace {
            work.observer = { [observer = options.observer] event in
                trace.record(event)
                observer?(event)
            }
        }
        work.release = release
        if needsPath {
            work.progress = progress
            work.connectTimeout = options.connectTimeout
        }
        if let retrier = options.retrier, hop.isFirstOrigin {
            work.retrier = { [idempotency = options.idempotency] retries, stage, error in
                var error = error
                switch error as? AttemptError {
                // A request that cannot be sent is not an error of the adapter.
                case .adapterFailed(is InvalidRequest), .bodyNotReplayable: return .doNotRetry
                case .refused(_, let cause): error = cause
                default: break
                }
                let failed = FailedRequest(
                    request: latest.request ?? hop.request,
                    retryCount: retries,
                    stage: stage,
                    idempotency: idempotency
                )
                return await retrier.retry(failed, dueTo: error)
            }
        }
        return work
    }

    private func attempt(
        _ hop: RedirectHop,
        _ progress: AttemptProgress,
        _ latest: LatestAttempt,
        _ trace: (any RequestTrace)?
    ) async -> AttemptResult {
        guard let attempt = trace?.beginAttempt(hop.request) else { return await self.attempt(hop, progress, latest) }
        var hop = hop
        hop.traceFields = attempt.fields
        let result = await attempt.run { [hop] in await self.attempt(hop, progress, latest) }
        switch result {
        case .kept: attempt.end(latest.request, status: status(of: latest.head), error: nil)
        case .held(let error): attempt.end(latest.request, status: status(of: latest.head), error: error)
        case .failed(let error):
            attempt.end(latest.request, status: (error as? any RetryableError)?.failureStage?.status, error: error)
        }
        return result
    }

    private func status(of head: ResponseHead?) -> Int? { tellsStatus ? head?.status : nil }

    private func attempt(
        _ hop: RedirectHop,
        _ progress: AttemptProgress,
        _ latest: LatestAttempt
    ) async -> AttemptResult {
        do {
            var adapted = hop
            if hop.isFirstOrigin, let adapter = options.adapter {
                adapted.request = try await AttemptError.preparing { try await adapter.adapt(hop.request) }
            }
            // The request of the hop was checked before.
            if adapted.request != hop.request || !hop.traceFields.isEmpty {
                try AttemptError.preparing { [adapted] in try adapted.traced.check() }
            }
            latest.request = adapted.request
            let head = try await send(adapted, progress)
            latest.head = head
            return try await judge(head, hop, latest)
        } catch let error as CancellationError {
            return .failed(error)
        } catch  where hop.hasBody && isBodyLost(error) {
            return .failed(AttemptError.bodyNotReplayable(error))

        } catch {
            return .failed(error)
        }
    }

    private func judge(
        _ head: ResponseHead,
        _ hop: RedirectHop,
        _ latest: LatestAttempt
    ) async throws -> AttemptResult {
        let isRetried = policy.statuses.contains(head.status)
        if !isRetried, step(hop, head, latest) != .keep { return .kept(isGood: true) }
        do {
            try await options.validate?(head)
        } catch {
            await release()
            if error is CancellationError { throw error }
            return .failed(isRetried ? StatusFailure(head) : AttemptError.refused(status: head.status, error))
        }
        guard isRetried else { return .kept(isGood: (200..<300).contains(head.status)) }
        let failure: any RetryableError = StatusFailure(head)
        if hop.hasBody, isBodyLost(failure) { return .held(AttemptError.bodyNotReplayable(failure)) }
        return .held(failure)
    }

    /// Returns the first hop and its target.
    func first() throws(RetryError) -> (hop: RedirectHop, target: RetryTarget) {
        do throws(InvalidRequest) {
            try request.check()
        } catch {
            throw RetryError(refused: error, priority: options.priority)
        }
        return (RedirectHop(request: request, hasBody: body != .none), try target())
    }

    /// Returns the target of the first hop.
    func target() throws(RetryError) -> RetryTarget {
        try target(of: RedirectHop(request: request, hasBody: body != .none), at: host ?? "")
    }

    private func target(of hop: RedirectHop, at host: String) throws(RetryError) -> RetryTarget {
        let method = hop.request.method
        let isRepeatable = policy.methods?.contains(method) ?? method.isIdempotent
        do throws(RetryTargetError) {
            return try RetryTarget(
                host: options.host ?? host,
                isRepeatable: isRepeatable || options.idempotency.hasKey(hop.request),
                priority: options.priority
            )
        } catch {
            throw RetryError(refused: error, priority: options.priority)
        }
    }
}

/// The body of a request, with regard to repetition.
package enum RequestBodyKind: Sendable {
    case none
    /// A body that can be sent any number of times.
    case replayable
    /// A body that can be read only once.
    case once

    var isReplayable: Bool { self != .once }
}

extension RetryError.Ending {
    /// A Boolean value that indicates whether the caller receives the response of the last attempt.
    fileprivate var leavesAnswer: Bool { self != .cancelled && self != .shutDown }
}

/// The adapted request of the latest attempt, and the head of its response. Thread-safe.
final class LatestAttempt: Sendable {
    private let state = Locked<(request: RequestHead?, head: ResponseHead?)>((nil, nil))

    var request: RequestHead? {
        get { state.withLock { $0.request } }
        set { state.withLock { $0 = (newValue, nil) } }
    }

    var head: ResponseHead? {
        get { state.withLock { $0.head } }
        set { state.withLock { $0.head = newValue } }
    }
}

extension StatusFailure {
    fileprivate init(_ head: ResponseHead) {
        self.init(status: head.status, retryAfter: head["Retry-After"], date: head["Date"])
    }
}

extension RetriedRequest {
    /// Sends the request until there is a response to return, and reads that response to its end. The deadline of the
    /// policy limits both.
    ///
    /// - Parameters:
    ///   - isRead: Returns whether the attempt has already read the response.
    ///   - finish: Reads the last response, if the attempt has left it unread because it might have been retried. It
    ///     must end when it is cancelled.
    /// - Throws: ``RetryError``, also if the last response could not be read before the deadline.
    package func run(
        isRead: () -> Bool,
        finishing finish: @escaping @Sendable () async throws -> Void
    ) async throws(RetryError) -> RetryOutcome<ResponseHead> {
        let clock = Timeline(options.clock)
        let outcome = try await run(on: clock)
        if isRead() { return outcome }
        do {
            try await withDeadline(on: clock, finish)
            return outcome
        } catch {
            var attempts = outcome.attempts
            // A response that would have been retried remains the failure.
            if outcome.ending == nil { attempts[attempts.count - 1].error = error }
            var ending = outcome.ending ?? .notRetryable
            if let deadline = policy.deadline, clock.now >= deadline { ending = .deadlineExpired }
            if Task.isCancelled { ending = .cancelled }
            let target = (try? target()) ?? .network(isRepeatable: false, priority: options.priority)
            throw RetryError(ending: ending, target: target, attempts: attempts)
        }
    }

    /// Reads a response to its end. Cancels that at the deadline.
    private func withDeadline(on clock: Timeline, _ finish: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await finish()
                return true
            }
            if let deadline = policy.deadline {
                group.addTask {
                    try? await clock.sleep(until: deadline)
                    return false
                }
            }
            while try await group.next() == false { group.cancelAll() }
            group.cancelAll()
        }
    }

    /// Sends the request once, to its first host, on behalf of a run that has decided to send it now and evaluates the
    /// result. It neither waits nor counts. The attempt is ended at the deadline of the policy, and if it cannot be
    /// connected.
    ///
    /// - Parameter isProbe: True if the attempt tests the monitor. A missing path does not end it then.
    /// - Throws: ``RetryError``, with the attempt, if there is no response. Its status has no influence.
    package func once(isProbe: Bool) async throws(RetryError) -> RetryOutcome<Void> {
        let (hop, target) = try first()
        let clock = Timeline(options.clock)
        let work = work(hop, target, LatestAttempt(), nil, on: clock)
        let run = RetryRun.make(work, at: target, options.coordinator, on: clock)
        let ending = await run.once(isProbe: isProbe)
        let failure: any Error
        switch run.result {
        case .kept?, .held?: return RetryOutcome(value: (), attempts: [])
        case .failed(let error)?: failure = error
        case nil: failure = CancellationError()
        }
        let attempt = RetryAttempt(1, .zero, clock.now, failure)
        let end = ending ?? (Task.isCancelled ? .cancelled : .notRetryable)
        throw RetryError(ending: end, target: target, attempts: [attempt])
    }
}
