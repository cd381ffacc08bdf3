public import Dispatch
public import FoundationEssentials
import LinuxSupport
import ReachabilityRetry

/// A request whose answer is kept in memory. It is one exchange: sent when it is made (``Session/startRequestsImmediately``), and its result
/// is the same for all that wait for it. If the last task that waits is cancelled, so is the request.
///
/// A check that is added after the answer came is asked when the answer is next handed over.
public final class DataRequest: ValidatedRequest {
    /// The request, with the session's header fields; adapters are asked later.
    public let request: OutgoingRequest

    private let checks: Locked<Validator>
    private let exchange: Exchange<Answer>
    /// Nil where there is no body.
    private let upload: UploadWatch?
    /// Whether a handler sends the request.
    private let startsWithHandler: Bool
    /// The handler that was added last.
    private let lastHandler = Locked<Task<Void, Never>?>(nil)

    init(
        _ made: Result<OutgoingRequest, UnmadeRequest>,
        in session: Session,
        _ interceptor: (any RequestInterceptor)?
    ) {
        let failure: RequestError?
        switch made {
        case .success(let request):
            self.request = request.adding(session.headers)
            failure = nil
        case .failure(let unmade):
            request = unmade.request
            failure = unmade.error
        }
        let checks = Locked(Validator())
        let upload = request.body.map { UploadWatch(UploadProgress(completed: 0, total: try? $0.length())) }
        (self.checks, self.upload) = (checks, upload)
        exchange = Exchange(cancelled: Answer(error: failure ?? .explicitlyCancelled)) { [request] in
            if let failure { return Answer(error: failure) }
            defer { upload?.finish() }
            return await session.send(request, checks, interceptor, watching: upload)
        }
        startsWithHandler = session.startRequestsImmediately
        // In a task that is cancelled there is nobody to send it for.
        if session.startRequestsImmediately, !Task.isCancelled { exchange.start() }
    }

    /// Sends it, if that was not done.
    @discardableResult
    public func resume() -> DataRequest {
        exchange.start()
        return self
    }

    /// How far it is.
    public var state: RequestState {
        guard exchange.hasBegun else { return .initialized }
        guard let answer = exchange.result else { return .resumed }
        return answer.error?.isExplicitlyCancelledError == true ? .cancelled : .finished
    }

    /// The head of the answer; nil before the end, and if there was none.
    public var response: ResponseHead? { exchange.result?.response }

    /// How often it was sent again; 0 before the end.
    public var retryCount: Int { exchange.result?.metrics.retryCount ?? 0 }

    /// Ends it, whatever it does: a wait, an attempt, the body. Of what has ended nothing is changed.
    @discardableResult
    public func cancel() -> DataRequest {
        exchange.cancel()
        if exchange.result != nil { upload?.finish() }
        return self
    }

    /// How much of the body was handed to the connection, from now on, the newest alone for who reads slowly; nothing where there is no
    /// body. It ends with the request, and begins nothing.
    public var uploadProgress: AsyncStream<UploadProgress> {
        guard let upload else { return AsyncStream { $0.finish() } }
        defer { if exchange.result != nil { upload.finish() } }
        return upload.progress
    }

    /// As a command line of curl(1).
    public func cURLDescription(showingSecrets: Bool = false) -> String {
        request.cURLDescription(showingSecrets: showingSecrets)
    }

    /// Adds to the checks of its answer.
    @discardableResult
    public func checking(_ change: (inout Validator) -> Void) -> DataRequest {
        checks.withLock { change(&$0) }
        return self
    }

    /// The answer, judged by all checks that there are now.
    func answer(starts: Bool = true) async -> Answer {
        var answer = await exchange.value(starts: starts)
        if answer.error == nil, let head = answer.response {
            answer.error = checks.withLock { $0 }.refusal(request, head, answer.data, after: answer.checkCount)
        }
        return answer
    }

    /// Does something with the answer after everything that was given before.
    func enqueue(_ work: @escaping @Sendable (Answer) async -> Void) {
        if startsWithHandler { exchange.start() }
        lastHandler.withLock { last in
            let before = last
            last = Task { [self] in
                await before?.value
                await work(await answer(starts: false))
            }
        }
    }
}

/// Bytes, a file or a form are sent by the same kind of request.
public typealias UploadRequest = DataRequest

/// How far a request is.
public enum RequestState: String, Hashable, Sendable {
    /// It was not sent.
    case initialized
    /// It is under way.
    case resumed
    /// It was cancelled.
    case cancelled
    /// There is an answer, or an error.
    case finished
}

/// A request that could not be made.
struct UnmadeRequest: Error {
    let error: RequestError
    let request: OutgoingRequest
}

extension DataRequest {
    /// Waits for the answer, and reads it as the serializer does.
    public func response<Serializer: DataResponseSerializerProtocol>(
        using serializer: Serializer
    ) async -> DataResponse<Serializer.SerializedObject> {
        response(await answer(), using: serializer)
    }

    func response<Serializer: DataResponseSerializerProtocol>(
        _ answer: Answer,
        using serializer: Serializer
    ) -> DataResponse<Serializer.SerializedObject> {
        let began = ContinuousClock.now
        let result = answer.read(by: serializer, request)
        return DataResponse(
            request: request,
            response: answer.response,
            data: answer.data,
            metrics: answer.metrics,
            serializationDuration: began.duration(to: .now) / .seconds(1),
            result: result
        )
    }

    /// The body as bytes; an empty one is an error but for HEAD, 204 and 205.
    public func data() async throws(RequestError) -> Data {
        try await response(using: DataResponseSerializer()).result.get()
    }

    /// The body as text.
    ///
    /// - Parameter encoding: The character set; nil for that of the answer.
    public func string(encoding: String.Encoding? = nil) async throws(RequestError) -> String {
        try await response(using: StringResponseSerializer(encoding: encoding)).result.get()
    }

    /// The body as a value.
    ///
    /// - Parameters:
    ///   - type: What kind of value.
    ///   - decoder: Reads it.
    public func decodable<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        decoder: any DataDecoder = JSONDecoder()
    ) async throws(RequestError) -> Value {
        try await response(using: DecodableResponseSerializer<Value>(decoder: decoder)).result.get()
    }
}

extension Answer {
    fileprivate func read<Serializer: DataResponseSerializerProtocol>(
        by serializer: Serializer,
        _ request: OutgoingRequest
    ) -> Result<Serializer.SerializedObject, RequestError> {
        if let error { return .failure(error) }
        guard let response, let data else { return .failure(.explicitlyCancelled) }
        do {
            return .success(try serializer.serialize(request: request, response: response, data: data))
        } catch let error as RequestError {
            return .failure(error)
        } catch {
            return .failure(.responseSerializationFailed(reason: .customSerializationFailed(error: error)))
        }
    }
}

/// Handlers, as in Alamofire. With a handler only `cancel()` ends the request before its answer. Handlers are called one after the other in the
/// order they were added, on the queue they name. By default that is ``Session/handlerQueue``, on which no two handlers run at the same time.
extension DataRequest {
    /// Tells the handler what came of it, read as the serializer does.
    @discardableResult
    public func response<Serializer: DataResponseSerializerProtocol>(
        queue: DispatchQueue = Session.handlerQueue,
        responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (DataResponse<Serializer.SerializedObject>) -> Void
    ) -> DataRequest {
        enqueue { [self] answer in
            let response = response(answer, using: responseSerializer)
            await queue.call { completionHandler(response) }
        }
        return self
    }

    /// Tells the handler the bytes.
    @discardableResult
    public func responseData(
        queue: DispatchQueue = Session.handlerQueue,
        completionHandler: @escaping @Sendable (DataResponse<Data>) -> Void
    ) -> DataRequest {
        response(queue: queue, responseSerializer: DataResponseSerializer(), completionHandler: completionHandler)
    }

    /// Tells the handler the text.
    @discardableResult
    public func responseString(
        queue: DispatchQueue = Session.handlerQueue,
        encoding: String.Encoding? = nil,
        completionHandler: @escaping @Sendable (DataResponse<String>) -> Void
    ) -> DataRequest {
        let serializer = StringResponseSerializer(encoding: encoding)
        return response(queue: queue, responseSerializer: serializer, completionHandler: completionHandler)
    }

    /// Tells the handler the value.
    @discardableResult
    public func responseDecodable<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        queue: DispatchQueue = Session.handlerQueue,
        decoder: any DataDecoder = JSONDecoder(),
        completionHandler: @escaping @Sendable (DataResponse<Value>) -> Void
    ) -> DataRequest {
        let serializer = DecodableResponseSerializer<Value>(decoder: decoder)
        return response(queue: queue, responseSerializer: serializer, completionHandler: completionHandler)
    }
}

extension DispatchQueue {
    /// Calls something, and waits for its end.
    func call(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            async {
                body()
                continuation.resume()
            }
        }
    }
}
