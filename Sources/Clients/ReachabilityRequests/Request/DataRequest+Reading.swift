public import FoundationEssentials
import ReachabilityRetry

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
