public import Dispatch
public import FoundationEssentials
import LinuxSupport
public import ReachabilityRetry

/// A request whose result can be serialized: ``DataRequest`` and ``DownloadRequest``.
///
/// Handlers of a request are called in the order in which they were added.
public protocol SerializedRequest: Request {}

extension DataRequest: SerializedRequest {}
extension DownloadRequest: SerializedRequest {}

/// Makes the value of a handler.
typealias Reading<Value> = @Sendable (URLRequest?, Answer) throws -> Value

/// Makes the response of a handler. Returns the error of the serializer. If an error is given, it is the result.
typealias HandlerSerializer =
    @Sendable (Request, Answer, _ failure: AFError?) -> (response: any Sendable, error: AFError?)

extension Request {
    /// Makes the response of an answer.
    private func response<Value: Sendable>(
        _ answer: Answer,
        failure: AFError? = nil,
        _ read: Reading<Value>
    ) -> AFDataResponse<Value> {
        let (request, began) = (lastRequest, ContinuousClock.now)
        let result: AFResult<Value> =
            if let failure {
                .failure(failure)
            } else {
                Result { try read(request, answer) }.mapError { error in
                    error.asAFError(or: .responseSerializationFailed(reason: .customSerializationFailed(error: error)))
                }
            }
        let response = AFDataResponse(
            request: request,
            answer: answer,
            serializationDuration: began.duration(to: .now) / .seconds(1),
            result: result
        )
        if failure == nil { didParse(response) }
        return response
    }

    /// Adds the serializer of a handler. Returns its number.
    private func add<Value: Sendable>(_ read: @escaping Reading<Value>) -> Int {
        values.withLock { values in
            values.serializers.append { request, answer, failure in
                let response = request.response(answer, failure: failure, read)
                return (response, response.error)
            }
            return values.serializers.count - 1
        }
    }

    /// Returns the response for a handler, which was made before if retriers were called about it.
    private func response<Value: Sendable>(
        _ answer: Answer,
        _ number: Int?,
        _ read: Reading<Value>
    ) -> AFDataResponse<Value> {
        number.flatMap { answer.responses[$0] as? AFDataResponse<Value> } ?? response(answer, read)
    }

    /// Calls the handler with the response, after the handlers that were added before.
    ///
    /// - Parameter isSerialized: True if retriers are called if the value cannot be made.
    func respond<Value: Sendable>(
        on queue: DispatchQueue,
        isSerialized: Bool = true,
        _ read: @escaping Reading<Value>,
        _ handler: @escaping @Sendable (AFDataResponse<Value>) -> Void
    ) -> Self {
        let number = isSerialized ? add(read) : nil
        enqueue { [self] answer in
            let response = response(answer, number, read)
            await queue.call { handler(response) }
        }
        return self
    }

    /// Returns the response for tasks.
    ///
    /// - Parameter cancels: True if the request is cancelled if the last waiting task is.
    func makeTask<Value: Sendable>(_ cancels: Bool, _ read: @escaping Reading<Value>) -> DataTask<Value> {
        let number = add(read)
        return DataTask(request: self) { [self] in
            let wait: @Sendable () async -> AFDataResponse<Value> = { [self] in
                response(await answer(), number, read)
            }
            return cancels ? await wait() : await Task { await wait() }.value
        }
    }
}

extension DataResponseSerializerProtocol {
    @Sendable func read(_ request: URLRequest?, _ answer: Answer) throws -> SerializedObject {
        try serialize(request: request, response: answer.response, data: answer.data, error: answer.error)
    }
}

extension DownloadResponseSerializerProtocol {
    @Sendable func readFile(_ request: URLRequest?, _ answer: Answer) throws -> SerializedObject {
        try serializeDownload(request: request, response: answer.response, fileURL: answer.file, error: answer.error)
    }
}

/// The result of a request, for tasks.
public struct DataTask<Value: Sendable>: Sendable {
    fileprivate let request: Request
    fileprivate let wait: @Sendable () async -> AFDataResponse<Value>

    /// The response. Reading it sends the request, unless the request was sent already.
    public var response: AFDataResponse<Value> { get async { await wait() } }
    /// The value or the error.
    public var result: AFResult<Value> { get async { await wait().result } }
    /// The value of the answer.
    public var value: Value { get async throws(AFError) { try await wait().result.get() } }

    /// Cancels the request.
    public func cancel() { request.cancel() }
    /// Sends the request, or continues it.
    public func resume() { request.resume() }
    /// Suspends the request.
    public func suspend() { request.suspend() }
}

/// The result of a download, for tasks.
public typealias DownloadTask<Value: Sendable> = DataTask<Value>

extension DataRequest {
    /// Calls the handler with the body as it is, nil if it is empty.
    @discardableResult
    public func response(
        queue: DispatchQueue = .main,
        completionHandler: @escaping @Sendable (AFDataResponse<Data?>) -> Void
    ) -> Self {
        let read: Reading<Data?> = { _, answer in
            if let error = answer.error { throw error }
            return answer.data?.isEmpty == true ? nil : answer.data
        }
        return respond(on: queue, isSerialized: false, read, completionHandler)
    }

    /// Calls the handler with the value of the serializer.
    @discardableResult
    public func response<Serializer: DataResponseSerializerProtocol>(
        queue: DispatchQueue = .main,
        responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (AFDataResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        respond(on: queue, responseSerializer.read, completionHandler)
    }

    /// Returns the value of a serializer, for tasks.
    ///
    /// - Parameters:
    ///   - serializer: The serializer.
    ///   - shouldAutomaticallyCancel: Whether the request is cancelled when the last task that waits for it is cancelled.
    public func serializingResponse<Serializer: DataResponseSerializerProtocol>(
        using serializer: Serializer,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DataTask<Serializer.SerializedObject> {
        makeTask(shouldAutomaticallyCancel, serializer.read)
    }
}

extension DownloadRequest {
    /// Calls the handler with the URL of the file.
    @discardableResult
    public func response(
        queue: DispatchQueue = .main,
        completionHandler: @escaping @Sendable (AFDownloadResponse<URL?>) -> Void
    ) -> Self {
        let read: Reading<URL?> = { _, answer in
            if let error = answer.error { throw error }
            return answer.file
        }
        return respond(on: queue, isSerialized: false, read, completionHandler)
    }

    /// Calls the handler with the value of the serializer.
    @discardableResult
    public func response<Serializer: DownloadResponseSerializerProtocol>(
        queue: DispatchQueue = .main,
        responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (AFDownloadResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        respond(on: queue, responseSerializer.readFile, completionHandler)
    }

    /// Calls the handler with the URL of the file.
    @discardableResult
    public func responseURL(
        queue: DispatchQueue = .main,
        completionHandler: @escaping @Sendable (AFDownloadResponse<URL>) -> Void
    ) -> Self {
        response(queue: queue, responseSerializer: URLResponseSerializer(), completionHandler: completionHandler)
    }

    /// Returns the value of a serializer, for tasks, see ``DataRequest/serializingResponse(using:automaticallyCancelling:)``.
    public func serializingDownload<Serializer: DownloadResponseSerializerProtocol>(
        using serializer: Serializer,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DownloadTask<Serializer.SerializedObject> {
        makeTask(shouldAutomaticallyCancel, serializer.readFile)
    }

    /// Returns the URL of the file, for tasks.
    public func serializingDownloadedFileURL(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DownloadTask<URL> {
        makeTask(shouldAutomaticallyCancel, URLResponseSerializer().readFile)
    }
}

extension SerializedRequest {
    /// Returns the value of a serializer, of the body in memory or of the file.
    private func reader<Serializer: ResponseSerializer>(
        _ serializer: Serializer
    ) -> Reading<Serializer.SerializedObject> {
        self is DownloadRequest ? serializer.readFile : serializer.read
    }

    /// Calls the handler with the value of a serializer.
    package func response<Serializer: ResponseSerializer>(
        to serializer: Serializer,
        _ queue: DispatchQueue,
        _ handler: @escaping @Sendable (AFDataResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        respond(on: queue, reader(serializer), handler)
    }

    /// Calls the handler with the bytes.
    @discardableResult
    public func responseData(
        queue: DispatchQueue = .main,
        dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (AFDataResponse<Data>) -> Void
    ) -> Self {
        let serializer = DataResponseSerializer(dataPreprocessor, emptyResponseCodes, emptyRequestMethods)
        return response(to: serializer, queue, completionHandler)
    }

    /// Calls the handler with the text.
    @discardableResult
    public func responseString(
        queue: DispatchQueue = .main,
        dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (AFDataResponse<String>) -> Void
    ) -> Self {
        let serializer = StringResponseSerializer(dataPreprocessor, encoding, emptyResponseCodes, emptyRequestMethods)
        return response(to: serializer, queue, completionHandler)
    }

    /// Calls the handler with the value.
    @discardableResult
    public func responseDecodable<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        queue: DispatchQueue = .main,
        dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<Value>.defaultDataPreprocessor,
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = DecodableResponseSerializer<Value>.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer<Value>.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (AFDataResponse<Value>) -> Void
    ) -> Self {
        let serializer = DecodableResponseSerializer<Value>(
            dataPreprocessor,
            decoder,
            emptyResponseCodes,
            emptyRequestMethods
        )
        return response(to: serializer, queue, completionHandler)
    }

    /// Returns the bytes, for tasks.
    public func serializingData(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
    ) -> DataTask<Data> {
        let serializer = DataResponseSerializer(dataPreprocessor, emptyResponseCodes, emptyRequestMethods)
        return makeTask(shouldAutomaticallyCancel, reader(serializer))
    }

    /// Returns the text, for tasks.
    public func serializingString(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods
    ) -> DataTask<String> {
        let serializer = StringResponseSerializer(dataPreprocessor, encoding, emptyResponseCodes, emptyRequestMethods)
        return makeTask(shouldAutomaticallyCancel, reader(serializer))
    }

    /// Returns the value, for tasks.
    public func serializingDecodable<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<Value>.defaultDataPreprocessor,
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = DecodableResponseSerializer<Value>.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer<Value>.defaultEmptyRequestMethods
    ) -> DataTask<Value> {
        let serializer = DecodableResponseSerializer<Value>(
            dataPreprocessor,
            decoder,
            emptyResponseCodes,
            emptyRequestMethods
        )
        return makeTask(shouldAutomaticallyCancel, reader(serializer))
    }
}
