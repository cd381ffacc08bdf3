public import FoundationEssentials
public import ReachabilityRequests

// Short names of encoders, serializers, interceptors and handlers of redirects.

extension ParameterEncoder where Self == JSONParameterEncoder {
    /// JSON on one line.
    public static var json: JSONParameterEncoder { .default }

    /// JSON.
    ///
    /// - Parameter encoder: The encoder. It must not be changed afterwards.
    public static func json(encoder: JSONEncoder = JSONEncoder()) -> JSONParameterEncoder {
        JSONParameterEncoder(encoder: encoder)
    }
}

extension ParameterEncoder where Self == URLEncodedFormParameterEncoder {
    /// Names and values, in the query or in the body.
    public static var urlEncodedForm: URLEncodedFormParameterEncoder { .default }

    /// Names and values.
    public static func urlEncodedForm(
        encoder: URLEncodedFormEncoder = URLEncodedFormEncoder(),
        destination: URLEncodedFormParameterEncoder.Destination = .methodDependent
    ) -> URLEncodedFormParameterEncoder {
        URLEncodedFormParameterEncoder(encoder: encoder, destination: destination)
    }
}

extension DataPreprocessor where Self == PassthroughPreprocessor {
    /// A preprocessor that changes nothing.
    public static var passthrough: PassthroughPreprocessor { PassthroughPreprocessor() }
}

extension DataPreprocessor where Self == GoogleXSSIPreprocessor {
    /// Removes the prefix that some servers put before JSON.
    public static var googleXSSI: GoogleXSSIPreprocessor { GoogleXSSIPreprocessor() }
}

/// Removes the `)]}',` and the line break that some servers put before JSON.
public struct GoogleXSSIPreprocessor: DataPreprocessor {
    /// Creates a preprocessor.
    public init() {}
    /// Returns the body without the prefix.
    public func preprocess(_ data: Data) throws -> Data {
        let prefix = Array(")]}',\n".utf8)
        return data.starts(with: prefix) ? Data(data.dropFirst(prefix.count)) : data
    }
}

extension DownloadResponseSerializerProtocol where Self == URLResponseSerializer {
    /// The URL of the file.
    public static var url: URLResponseSerializer { URLResponseSerializer() }
}

extension DataResponseSerializerProtocol where Self == DataResponseSerializer {
    /// A serializer that returns the bytes of the body.
    public static var data: DataResponseSerializer { DataResponseSerializer() }
}

extension DownloadResponseSerializerProtocol where Self == DataResponseSerializer {
    /// A serializer that returns the bytes of the body.
    public static var data: DataResponseSerializer { DataResponseSerializer() }
}

extension ResponseSerializer where Self == DataResponseSerializer {
    /// A serializer that returns the bytes of the body.
    public static var data: DataResponseSerializer { DataResponseSerializer() }

    /// Creates a serializer that returns the bytes of the body.
    public static func data(
        dataPreprocessor: any DataPreprocessor = DataResponseSerializer.defaultDataPreprocessor,
        emptyResponseCodes: Set<Int> = DataResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DataResponseSerializer.defaultEmptyRequestMethods
    ) -> DataResponseSerializer {
        DataResponseSerializer(
            dataPreprocessor: dataPreprocessor,
            emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods
        )
    }
}

extension ResponseSerializer where Self == StringResponseSerializer {
    /// A serializer that returns the body as text.
    public static var string: StringResponseSerializer { StringResponseSerializer() }

    /// Creates a serializer that returns the body as text.
    public static func string(
        dataPreprocessor: any DataPreprocessor = StringResponseSerializer.defaultDataPreprocessor,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = StringResponseSerializer.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = StringResponseSerializer.defaultEmptyRequestMethods
    ) -> StringResponseSerializer {
        StringResponseSerializer(
            dataPreprocessor: dataPreprocessor,
            encoding: encoding,
            emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods
        )
    }
}

extension ResponseSerializer {
    /// Creates a serializer that decodes a value from the body.
    public static func decodable<T: Decodable & Sendable>(
        of type: T.Type,
        dataPreprocessor: any DataPreprocessor = DecodableResponseSerializer<T>.defaultDataPreprocessor,
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = DecodableResponseSerializer<T>.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = DecodableResponseSerializer<T>.defaultEmptyRequestMethods
    ) -> DecodableResponseSerializer<T> where Self == DecodableResponseSerializer<T> {
        DecodableResponseSerializer<T>(
            dataPreprocessor: dataPreprocessor,
            decoder: decoder,
            emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods
        )
    }
}

extension DataStreamSerializer where Self == PassthroughStreamSerializer {
    /// The pieces themselves.
    public static var passthrough: PassthroughStreamSerializer { PassthroughStreamSerializer() }
}

extension DataStreamSerializer where Self == StringStreamSerializer {
    /// UTF-8 text in whole characters.
    public static var string: StringStreamSerializer { StringStreamSerializer() }
}

extension DataStreamSerializer {
    /// Values, one per line.
    public static func decodable<T: Decodable & Sendable>(
        of type: T.Type,
        decoder: any DataDecoder = JSONDecoder(),
        dataPreprocessor: any DataPreprocessor = PassthroughPreprocessor()
    ) -> Self where Self == DecodableStreamSerializer<T> {
        DecodableStreamSerializer<T>(decoder: decoder, dataPreprocessor: dataPreprocessor)
    }
}

extension RequestAdapter where Self == Adapter {
    /// Returns an adapter that calls a closure.
    public static func adapter(using closure: @escaping AdaptHandler) -> Adapter { Adapter(closure) }
}

extension RequestRetrier where Self == Retrier {
    /// Returns a retrier that calls a closure.
    public static func retrier(using closure: @escaping RetryHandler) -> Retrier { Retrier(closure) }
}

extension Interceptor {
    /// Creates an interceptor from an adapter, a retrier and further interceptors.
    public init(adapter: any RequestAdapter, retrier: any RequestRetrier, interceptors: [any RequestInterceptor] = []) {
        self.init(adapters: [adapter], retriers: [retrier], interceptors: interceptors)
    }

    /// Creates an interceptor from closures.
    public init(adaptHandler: @escaping AdaptHandler, retryHandler: @escaping RetryHandler) {
        self.init(adapters: [Adapter(adaptHandler)], retriers: [Retrier(retryHandler)])
    }
}

extension RequestInterceptor where Self == Interceptor {
    /// Returns an interceptor from closures.
    public static func interceptor(adapter: @escaping AdaptHandler, retrier: @escaping RetryHandler) -> Interceptor {
        Interceptor(adaptHandler: adapter, retryHandler: retrier)
    }

    /// Returns an interceptor from an adapter, a retrier and further interceptors.
    public static func interceptor(
        adapter: any RequestAdapter,
        retrier: any RequestRetrier,
        interceptors: [any RequestInterceptor] = []
    ) -> Interceptor {
        Interceptor(adapter: adapter, retrier: retrier, interceptors: interceptors)
    }

    /// Returns an interceptor that combines several.
    public static func interceptor(
        adapters: [any RequestAdapter] = [],
        retriers: [any RequestRetrier] = [],
        interceptors: [any RequestInterceptor] = []
    ) -> Interceptor {
        Interceptor(adapters: adapters, retriers: retriers, interceptors: interceptors)
    }
}

extension RequestInterceptor where Self == OfflineRetrier {
    /// Returns a retrier that waits for the network, see `OfflineRetrier`. A negative wait counts as zero.
    public static func offlineRetrier(maximumWait: Duration = OfflineRetrier.defaultWait) -> OfflineRetrier {
        do { return try OfflineRetrier(maximumWait: max(.zero, maximumWait)) } catch { preconditionFailure("\(error)") }
    }
}

extension RedirectHandler where Self == Redirector {
    /// A redirector that follows redirects.
    public static var follow: Redirector { Redirector(behavior: .follow) }
    /// Does not follow redirects.
    public static var doNotFollow: Redirector { Redirector(behavior: .doNotFollow) }

    /// Changes the next request.
    public static func modify(
        using closure: @escaping @Sendable (URLSessionTask, URLRequest, HTTPURLResponse) -> URLRequest?
    ) -> Redirector {
        Redirector(behavior: .modify(closure))
    }
}
