public import FoundationEssentials

/// A request that is composed of its parts when it is needed.
private struct ComposedRequest: URLRequestConvertible {
    let make: @Sendable () throws -> URLRequest

    init(
        _ url: any URLConvertible,
        _ method: HTTPMethod,
        _ headers: HTTPHeaders?,
        _ modifier: Session.RequestModifier?,
        encode: @escaping @Sendable (URLRequest) throws -> URLRequest = { $0 }
    ) {
        make = {
            var request = try URLRequest(url: url, method: method, headers: headers)
            try modifier?(&request)
            return try encode(request)
        }
    }

    init<Parameters: Encodable & Sendable>(
        _ url: any URLConvertible,
        _ method: HTTPMethod,
        _ parameters: Parameters?,
        _ encoder: any ParameterEncoder,
        _ headers: HTTPHeaders?,
        _ modifier: Session.RequestModifier?
    ) {
        self.init(url, method, headers, modifier) { try encoder.encode(parameters, into: $0) }
    }

    func asURLRequest() throws -> URLRequest { try make() }
}

/// A request and its body.
private struct Upload: UploadConvertible {
    let request: any URLRequestConvertible
    let body: any UploadableConvertible

    func asURLRequest() throws -> URLRequest { try request.asURLRequest() }
    func createUploadable() throws -> UploadRequest.Uploadable { try body.createUploadable() }
}

/// A request whose body is a form.
private struct FormUpload: UploadConvertible {
    let request: any URLRequestConvertible
    let form: Result<MultipartFormData, any Error>
    let threshold: UInt64

    func asURLRequest() throws -> URLRequest {
        var request = try request.asURLRequest()
        // Another value would not have the boundary.
        request.headers.add(.contentType(try form.get().contentType))
        return request
    }

    func createUploadable() throws -> UploadRequest.Uploadable { try form.get().uploadable(usingThreshold: threshold) }
}

/// Requests. They are sent by their first handler, or soon after their creation, unless ``startRequestsImmediately`` is false. If a request
/// cannot be created, its result is the error, and nothing is sent.
extension Session {
    /// Changes a request before its parameters are encoded.
    public typealias RequestModifier = @Sendable (inout URLRequest) throws -> Void

    /// A request.
    ///
    /// - Parameters:
    ///   - convertible: The request, or a router.
    ///   - interceptor: Asked before the session's own.
    ///   - shouldAutomaticallyResume: The setting of the request, in place of ``startRequestsImmediately``.
    @discardableResult
    public func request(
        _ convertible: any URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil
    ) -> DataRequest {
        DataRequest(convertible, in: self, interceptor).start(shouldAutomaticallyResume)
    }

    /// A request with parameters of no particular type.
    ///
    /// - Parameters:
    ///   - convertible: The URL.
    ///   - method: The method.
    ///   - parameters: The parameters; nil for none.
    ///   - encoding: How and where the parameters are encoded.
    ///   - headers: The header fields.
    ///   - interceptor: Asked before the session's own.
    ///   - shouldAutomaticallyResume: The setting of the request, in place of ``startRequestsImmediately``.
    ///   - requestModifier: Changes the request before the parameters are encoded.
    @discardableResult
    public func request(
        _ convertible: any URLConvertible,
        method: HTTPMethod = .get,
        parameters: Parameters? = nil,
        encoding: any ParameterEncoding = URLEncoding.default,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        let composed = ComposedRequest(convertible, method, headers, requestModifier) {
            try encoding.encode($0, with: parameters)
        }
        return request(composed, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume)
    }

    /// A request with an encodable value as its parameters.
    @discardableResult
    public func request<Parameters: Encodable & Sendable>(
        _ convertible: any URLConvertible,
        method: HTTPMethod = .get,
        parameters: Parameters? = nil,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        let composed = ComposedRequest(convertible, method, parameters, encoder, headers, requestModifier)
        return request(composed, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume)
    }

    /// A request whose answer is read as it comes, see ``DataStreamRequest``.
    ///
    /// - Parameters:
    ///   - convertible: The request, or a router.
    ///   - automaticallyCancelOnStreamError: True if a value that cannot be read ends the request.
    ///   - interceptor: Asked before the session's own.
    ///   - shouldAutomaticallyResume: The setting of the request, in place of ``startRequestsImmediately``.
    public func streamRequest(
        _ convertible: any URLRequestConvertible,
        automaticallyCancelOnStreamError: Bool = false,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil
    ) -> DataStreamRequest {
        let request = DataStreamRequest(
            convertible,
            in: self,
            interceptor,
            cancelsOnError: automaticallyCancelOnStreamError
        )
        return request.start(shouldAutomaticallyResume)
    }

    /// A request whose answer is read as it comes.
    public func streamRequest(
        _ convertible: any URLConvertible,
        method: HTTPMethod = .get,
        headers: HTTPHeaders? = nil,
        automaticallyCancelOnStreamError: Bool = false,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataStreamRequest {
        streamRequest(
            ComposedRequest(convertible, method, headers, requestModifier),
            automaticallyCancelOnStreamError: automaticallyCancelOnStreamError,
            interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume
        )
    }

    /// A request with an encodable value as its parameters, whose answer is read as it comes.
    public func streamRequest<Parameters: Encodable & Sendable>(
        _ convertible: any URLConvertible,
        method: HTTPMethod = .get,
        parameters: Parameters? = nil,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default,
        headers: HTTPHeaders? = nil,
        automaticallyCancelOnStreamError: Bool = false,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataStreamRequest {
        streamRequest(
            ComposedRequest(convertible, method, parameters, encoder, headers, requestModifier),
            automaticallyCancelOnStreamError: automaticallyCancelOnStreamError,
            interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume
        )
    }
}

/// Uploads. Files, streams and forms are read while they are sent, in pieces of at most 64 KiB. `fileManager` is not used.
extension Session {
    /// An upload of bytes, a file or a stream.
    ///
    /// - Parameters:
    ///   - body: The bytes, the URL of the file, or the stream.
    ///   - convertible: The URL.
    ///   - method: The method.
    ///   - headers: The header fields.
    ///   - interceptor: Asked before the session's own.
    ///   - shouldAutomaticallyResume: The setting of the request, in place of ``startRequestsImmediately``.
    ///   - requestModifier: Changes the request.
    @discardableResult
    public func upload(
        _ body: some UploadableConvertible,
        to convertible: any URLConvertible,
        method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default,
        requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            body,
            with: ComposedRequest(convertible, method, headers, requestModifier),
            interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume
        )
    }

    /// An upload of bytes, a file or a stream.
    @discardableResult
    public func upload(
        _ body: some UploadableConvertible,
        with convertible: any URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest {
        UploadRequest(Upload(request: convertible, body: body), in: self, interceptor).start(shouldAutomaticallyResume)
    }

    /// An upload of a form. Its Content-Type is that of the form. A form without files that is shorter than the threshold is encoded in memory.
    @discardableResult
    public func upload(
        multipartFormData: MultipartFormData,
        to convertible: any URLConvertible,
        usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default,
        requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            multipartFormData: multipartFormData,
            with: ComposedRequest(convertible, method, headers, requestModifier),
            usingThreshold: encodingMemoryThreshold,
            interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume
        )
    }

    /// An upload of a form.
    @discardableResult
    public func upload(
        multipartFormData: MultipartFormData,
        with convertible: any URLRequestConvertible,
        usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest {
        upload(
            .success(multipartFormData),
            convertible,
            encodingMemoryThreshold,
            interceptor,
            shouldAutomaticallyResume
        )
    }

    /// An upload of a form that a closure fills. An error of the closure is the result.
    @discardableResult
    public func upload(
        multipartFormData: (MultipartFormData) throws -> Void,
        to convertible: any URLConvertible,
        usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default,
        requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            multipartFormData: multipartFormData,
            with: ComposedRequest(convertible, method, headers, requestModifier),
            usingThreshold: encodingMemoryThreshold,
            interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume
        )
    }

    /// An upload of a form that a closure fills. An error of the closure is the result.
    @discardableResult
    public func upload(
        multipartFormData: (MultipartFormData) throws -> Void,
        with convertible: any URLRequestConvertible,
        usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest {
        let form = Result {
            let form = MultipartFormData(fileManager: fileManager)
            try multipartFormData(form)
            return form
        }
        return upload(form, convertible, encodingMemoryThreshold, interceptor, shouldAutomaticallyResume)
    }

    private func upload(
        _ form: Result<MultipartFormData, any Error>,
        _ convertible: any URLRequestConvertible,
        _ threshold: UInt64,
        _ interceptor: (any RequestInterceptor)?,
        _ shouldAutomaticallyResume: Bool?
    ) -> UploadRequest {
        let upload = FormUpload(request: convertible, form: form, threshold: threshold)
        return UploadRequest(upload, in: self, interceptor).start(shouldAutomaticallyResume)
    }
}

/// Downloads, see ``DownloadRequest``.
extension Session {
    /// A download to a place that a closure chooses.
    ///
    /// - Parameters:
    ///   - convertible: The request, or a router.
    ///   - interceptor: Asked before the session's own.
    ///   - shouldAutomaticallyResume: The setting of the request, in place of ``startRequestsImmediately``.
    ///   - destination: Chooses the place of the complete file; nil for one in the temporary directory.
    @discardableResult
    public func download(
        _ convertible: any URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        DownloadRequest(.request(convertible), to: .chosen(destination), in: self, interceptor).start(
            shouldAutomaticallyResume
        )
    }

    /// A download with parameters of no particular type, to a place that a closure chooses.
    @discardableResult
    public func download(
        _ convertible: any URLConvertible,
        method: HTTPMethod = .get,
        parameters: Parameters? = nil,
        encoding: any ParameterEncoding = URLEncoding.default,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        let composed = ComposedRequest(convertible, method, headers, requestModifier) {
            try encoding.encode($0, with: parameters)
        }
        return download(
            composed,
            interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume,
            to: destination
        )
    }

    /// A download with an encodable value as its parameters, to a place that a closure chooses.
    @discardableResult
    public func download<Parameters: Encodable & Sendable>(
        _ convertible: any URLConvertible,
        method: HTTPMethod = .get,
        parameters: Parameters? = nil,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        let composed = ComposedRequest(convertible, method, parameters, encoder, headers, requestModifier)
        return download(
            composed,
            interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume,
            to: destination
        )
    }

    /// The continuation of a download that was cancelled or has failed.
    ///
    /// - Parameters:
    ///   - data: ``DownloadRequest/resumeData`` of that download.
    ///   - interceptor: Asked before the session's own.
    ///   - shouldAutomaticallyResume: The setting of the request, in place of ``startRequestsImmediately``.
    ///   - destination: Chooses the place of the complete file; nil for one in the temporary directory.
    @discardableResult
    public func download(
        resumingWith data: Data,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        DownloadRequest(.resumeData(data), to: .chosen(destination), in: self, interceptor).start(
            shouldAutomaticallyResume
        )
    }

    /// A download to a path. Until the file is complete it is `NAME.part` beside its place, from which the next download to the same path
    /// continues, also in another process.
    ///
    /// - Parameters:
    ///   - convertible: The URL.
    ///   - path: The path of the file.
    ///   - replacing: True if an existing file is replaced. Otherwise it is an error.
    ///   - isResuming: True if an existing part is continued.
    ///   - headers: The header fields.
    ///   - interceptor: Asked before the session's own.
    ///   - shouldAutomaticallyResume: The setting of the request, in place of ``startRequestsImmediately``.
    @discardableResult
    public func download(
        _ convertible: any URLConvertible,
        to path: String,
        replacing: Bool = false,
        resuming isResuming: Bool = true,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil
    ) -> DownloadRequest {
        let target = DownloadRequest.Target.file(path, replacing: replacing, isResuming: isResuming)
        let composed = ComposedRequest(convertible, .get, headers, nil)
        return DownloadRequest(.request(composed), to: target, in: self, interceptor).start(shouldAutomaticallyResume)
    }
}
