public import Dispatch
public import FoundationEssentials
public import ReachabilityRequests

extension DataRequest {
    /// Calls the handler with the value of the serializer.
    @preconcurrency
    @discardableResult
    public func response<Serializer: DataResponseSerializerProtocol>(
        queue: DispatchQueue? = nil,
        responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (DataResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        response(queue: queue ?? DispatchQueue.main) { answer in
            completionHandler(
                answer.serialized {
                    responseSerializer.serializeResponse(answer.request, answer.response, answer.data, answer.error)
                }
            )
        }
    }

    /// Calls the handler with the bytes.
    @discardableResult
    public func responseData(
        queue: DispatchQueue? = nil,
        completionHandler: @escaping @Sendable (DataResponse<Data>) -> Void
    ) -> Self {
        let serializer = DataRequest.dataResponseSerializer()
        return response(queue: queue, responseSerializer: serializer, completionHandler: completionHandler)
    }

    /// Calls the handler with the text.
    @discardableResult
    public func responseString(
        queue: DispatchQueue? = nil,
        encoding: String.Encoding? = nil,
        completionHandler: @escaping @Sendable (DataResponse<String>) -> Void
    ) -> Self {
        let serializer = DataRequest.stringResponseSerializer(encoding: encoding)
        return response(queue: queue, responseSerializer: serializer, completionHandler: completionHandler)
    }

    /// Calls the handler with dictionaries, arrays, text, numbers and Boolean values.
    @discardableResult
    public func responseJSON(
        queue: DispatchQueue? = nil,
        options: JSONReadingOptions = .allowFragments,
        completionHandler: @escaping @Sendable (DataResponse<Any>) -> Void
    ) -> Self {
        let serializer = DataRequest.jsonResponseSerializer(options: options)
        return response(queue: queue, responseSerializer: serializer, completionHandler: completionHandler)
    }

    /// Calls the handler with the values of a property list.
    @discardableResult
    public func responsePropertyList(
        queue: DispatchQueue? = nil,
        completionHandler: @escaping @Sendable (DataResponse<Any>) -> Void
    ) -> Self {
        let serializer = DataRequest.propertyListResponseSerializer()
        return response(queue: queue, responseSerializer: serializer, completionHandler: completionHandler)
    }
}

extension DownloadRequest {
    /// Calls the handler with the value of the serializer.
    @preconcurrency
    @discardableResult
    public func response<Serializer: DownloadResponseSerializerProtocol>(
        queue: DispatchQueue? = nil,
        responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (DownloadResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        response(queue: queue ?? DispatchQueue.main) { answer in
            completionHandler(
                answer.serialized {
                    responseSerializer.serializeResponse(answer.request, answer.response, answer.fileURL, answer.error)
                }
            )
        }
    }

    /// Calls the handler with the bytes of the file.
    @discardableResult
    public func responseData(
        queue: DispatchQueue? = nil,
        completionHandler: @escaping @Sendable (DownloadResponse<Data>) -> Void
    ) -> Self {
        let serializer = DownloadRequest.dataResponseSerializer()
        return response(queue: queue, responseSerializer: serializer, completionHandler: completionHandler)
    }

    /// Calls the handler with the text of the file.
    @discardableResult
    public func responseString(
        queue: DispatchQueue? = nil,
        encoding: String.Encoding? = nil,
        completionHandler: @escaping @Sendable (DownloadResponse<String>) -> Void
    ) -> Self {
        let serializer = DownloadRequest.stringResponseSerializer(encoding: encoding)
        return response(queue: queue, responseSerializer: serializer, completionHandler: completionHandler)
    }

    /// Calls the handler with dictionaries, arrays, text, numbers and Boolean values.
    @discardableResult
    public func responseJSON(
        queue: DispatchQueue? = nil,
        options: JSONReadingOptions = .allowFragments,
        completionHandler: @escaping @Sendable (DownloadResponse<Any>) -> Void
    ) -> Self {
        let serializer = DownloadRequest.jsonResponseSerializer(options: options)
        return response(queue: queue, responseSerializer: serializer, completionHandler: completionHandler)
    }

    /// Calls the handler with the values of a property list.
    @discardableResult
    public func responsePropertyList(
        queue: DispatchQueue? = nil,
        completionHandler: @escaping @Sendable (DownloadResponse<Any>) -> Void
    ) -> Self {
        let serializer = DownloadRequest.propertyListResponseSerializer()
        return response(queue: queue, responseSerializer: serializer, completionHandler: completionHandler)
    }
}
