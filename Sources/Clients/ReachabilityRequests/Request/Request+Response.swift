public import Dispatch
public import FoundationEssentials
public import ReachabilityRetry

/// A request whose result can be serialized: ``DataRequest`` and ``DownloadRequest``.
///
/// Handlers of a request are called in the order in which they were added.
public protocol SerializedRequest: Request {}

extension DataRequest: SerializedRequest {}
extension DownloadRequest: SerializedRequest {}

extension Request {
    /// The response of an answer, with the value of a closure.
    func response<Value: Sendable>(_ answer: Answer, _ read: (URLRequest?) throws -> Value) -> AFDataResponse<Value> {
        let (request, began) = (lastRequest, ContinuousClock.now)
        let result = Result { try read(request) }.mapError { error in
            error.asAFError(or: .responseSerializationFailed(reason: .customSerializationFailed(error: error)))
        }
        let duration = began.duration(to: .now) / .seconds(1)
        let response =
            if self is DownloadRequest {
                AFDataResponse(
                    request: request,
                    response: answer.response,
                    fileURL: answer.file,
                    resumeData: answer.resumeData,
                    metrics: answer.metrics,
                    serializationDuration: duration,
                    result: result
                )
            } else {
                AFDataResponse(
                    request: request,
                    response: answer.response,
                    data: answer.data,
                    metrics: answer.metrics,
                    serializationDuration: duration,
                    result: result
                )
            }
        didParse(response)
        return response
    }

    /// Calls the handler with the response, after the handlers that were added before.
    func respond<Value: Sendable>(
        on queue: DispatchQueue,
        _ read: @escaping @Sendable (URLRequest?, Answer) throws -> Value,
        _ handler: @escaping @Sendable (AFDataResponse<Value>) -> Void
    ) -> Self {
        enqueue { [self] answer in
            let response = response(answer) { try read($0, answer) }
            await queue.call { handler(response) }
        }
        return self
    }

    /// The response for tasks.
    ///
    /// - Parameter cancels: True if the request is cancelled if the last waiting task is.
    func makeTask<Value: Sendable>(
        _ cancels: Bool,
        _ read: @escaping @Sendable (URLRequest?, Answer) throws -> Value
    ) -> DataTask<Value> {
        DataTask(request: self) { [self] in
            let wait: @Sendable () async -> AFDataResponse<Value> = { [self] in
                let answer = await answer()
                return response(answer) { try read($0, answer) }
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

    /// The response. It sends the request, unless it was sent.
    public var response: AFDataResponse<Value> { get async { await wait() } }
    /// The value or the error.
    public var result: AFResult<Value> { get async { await wait().result } }
    /// The value.
    public var value: Value { get async throws(AFError) { try await wait().result.get() } }

    /// Cancels the request.
    public func cancel() { request.cancel() }
    /// Sends the request, or continues it.
    public func resume() { request.resume() }
    /// Holds the request back.
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
        let read: @Sendable (URLRequest?, Answer) throws -> Data? = { _, answer in
            if let error = answer.error { throw error }
            return answer.data?.isEmpty == true ? nil : answer.data
        }
        return respond(on: queue, read, completionHandler)
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

    /// The value of a serializer, for tasks.
    ///
    /// - Parameters:
    ///   - serializer: The serializer.
    ///   - shouldAutomaticallyCancel: True if the request is cancelled if the last task that waits for it is.
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
        let read: @Sendable (URLRequest?, Answer) throws -> URL? = { _, answer in
            if let error = answer.error { throw error }
            return answer.file
        }
        return respond(on: queue, read, completionHandler)
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

    /// The value of a serializer, for tasks, see ``DataRequest/serializingResponse(using:automaticallyCancelling:)``.
    public func serializingDownload<Serializer: DownloadResponseSerializerProtocol>(
        using serializer: Serializer,
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DownloadTask<Serializer.SerializedObject> {
        makeTask(shouldAutomaticallyCancel, serializer.readFile)
    }

    /// The URL of the file, for tasks.
    public func serializingDownloadedFileURL(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true
    ) -> DownloadTask<URL> {
        makeTask(shouldAutomaticallyCancel, URLResponseSerializer().readFile)
    }
}

extension SerializedRequest {
    /// The value of a serializer, of the body in memory or of the file.
    private func reader<Serializer: ResponseSerializer>(
        _ serializer: Serializer
    ) -> @Sendable (URLRequest?, Answer) throws -> Serializer.SerializedObject {
        self is DownloadRequest ? serializer.readFile : serializer.read
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
        return respond(on: queue, reader(serializer), completionHandler)
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
        return respond(on: queue, reader(serializer), completionHandler)
    }

    /// Calls the handler with dictionaries, arrays, text, numbers and Boolean values.
    @discardableResult
    public func responseJSON(
        queue: DispatchQueue = .main,
        dataPreprocessor: any DataPreprocessor = JSONResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = JSONResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = JSONResponseSerializer.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (AFDataResponse<any Sendable>) -> Void
    ) -> Self {
        let serializer = JSONResponseSerializer(dataPreprocessor, emptyResponseCodes, emptyRequestMethods)
        return respond(on: queue, reader(serializer), completionHandler)
    }

    /// Calls the handler with dictionaries, arrays, text, numbers, Boolean values, dates and bytes of a property list.
    @discardableResult
    public func responsePropertyList(
        queue: DispatchQueue = .main,
        completionHandler: @escaping @Sendable (AFDataResponse<any Sendable>) -> Void
    ) -> Self {
        respond(on: queue, reader(PropertyListResponseSerializer()), completionHandler)
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
        return respond(on: queue, reader(serializer), completionHandler)
    }

    /// The bytes, for tasks.
    public func serializingData(
        automaticallyCancelling shouldAutomaticallyCancel: Bool = true,
        dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
    ) -> DataTask<Data> {
        let serializer = DataResponseSerializer(dataPreprocessor, emptyResponseCodes, emptyRequestMethods)
        return makeTask(shouldAutomaticallyCancel, reader(serializer))
    }

    /// The text, for tasks.
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

    /// The value, for tasks.
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
