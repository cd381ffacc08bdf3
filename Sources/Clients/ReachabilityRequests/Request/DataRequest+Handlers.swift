public import Dispatch
public import FoundationEssentials

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
