import AsyncHTTPClient
import LinuxSupport
import NIOHTTP1
import ReachabilityHTTP
import ReachabilityRetry

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
