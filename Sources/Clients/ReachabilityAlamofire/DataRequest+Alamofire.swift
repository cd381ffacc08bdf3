public import Dispatch
public import FoundationEssentials
public import ReachabilityRequests

/// What came of a request, with its value.
public typealias AFDataResponse<Success: Sendable> = DataResponse<Success>
/// A value, or why there is none.
public typealias AFResult<Success> = Result<Success, AFError>

extension DataRequest {
    /// Tells the handler the body, and nothing where it is empty.
    @discardableResult
    public func response(
        queue: DispatchQueue = Session.handlerQueue,
        completionHandler: @escaping @Sendable (DataResponse<Data?>) -> Void
    ) -> DataRequest {
        response(queue: queue, responseSerializer: BodySerializer(), completionHandler: completionHandler)
    }

    /// Its body, to be waited for.
    public func serializingData() -> DataTask<Data> { DataTask(self, DataResponseSerializer()) }

    /// Its text, to be waited for.
    public func serializingString(encoding: String.Encoding? = nil) -> DataTask<String> {
        DataTask(self, StringResponseSerializer(encoding: encoding))
    }

    /// Its value, to be waited for.
    public func serializingDecodable<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        decoder: any DataDecoder = JSONDecoder()
    ) -> DataTask<Value> {
        DataTask(self, DecodableResponseSerializer<Value>(decoder: decoder))
    }
}

/// What comes of a request, to be waited for. It is sent when that is done first.
public struct DataTask<Value: Sendable>: Sendable {
    private let request: DataRequest
    private let wait: @Sendable () async -> DataResponse<Value>

    init<Serializer: DataResponseSerializerProtocol>(_ request: DataRequest, _ serializer: Serializer)
    where Serializer.SerializedObject == Value {
        self.request = request
        wait = { await request.response(using: serializer) }
    }

    /// The answer, its value and its metrics.
    public var response: DataResponse<Value> { get async { await wait() } }
    /// The value, or why there is none.
    public var result: Result<Value, AFError> { get async { await wait().result } }
    /// The value.
    public var value: Value { get async throws { try await wait().result.get() } }

    /// Ends the request.
    public func cancel() { request.cancel() }
}

/// The body as it is.
private struct BodySerializer: DataResponseSerializerProtocol {
    func serialize(request: OutgoingRequest, response: ResponseHead, data: Data) throws -> Data? {
        data.isEmpty ? nil : data
    }
}
