public import Dispatch
public import FoundationEssentials

/// Handlers, as code of Alamofire's readers has them. Adding one sends the request, and only `cancel()` ends it then. They are called one
/// after the other in the order they were added, on the queue they name.
extension DataRequest {
    /// Tells the handler what came of it, read as the serializer does.
    @discardableResult
    public func response<Serializer: DataResponseSerializerProtocol>(
        queue: DispatchQueue = .global(),
        responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (DataResponse<Serializer.SerializedObject>) -> Void
    ) -> DataRequest {
        enqueue { [self] in
            let response = await response(using: responseSerializer)
            await queue.call { completionHandler(response) }
        }
        return self
    }

    /// Tells the handler the bytes.
    @discardableResult
    public func responseData(
        queue: DispatchQueue = .global(),
        completionHandler: @escaping @Sendable (DataResponse<Data>) -> Void
    ) -> DataRequest {
        response(queue: queue, responseSerializer: DataResponseSerializer(), completionHandler: completionHandler)
    }

    /// Tells the handler the text.
    @discardableResult
    public func responseString(
        queue: DispatchQueue = .global(),
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
        queue: DispatchQueue = .global(),
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
