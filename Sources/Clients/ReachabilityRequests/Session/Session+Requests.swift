public import FoundationEssentials

/// A request that is composed of its parts when it is needed.
package struct ComposedRequest: URLRequestConvertible {
    private let make: @Sendable () throws -> URLRequest

    package init(
        _ url: any URLConvertible,
        _ method: HTTPMethod,
        _ headers: HTTPHeaders?,
        _ modifier: Session.RequestModifier? = nil,
        encode: @escaping @Sendable (URLRequest) throws -> URLRequest = { $0 }
    ) {
        make = {
            var request = try URLRequest(url: url, method: method, headers: headers)
            try modifier?(&request)
            return try encode(request)
        }
    }

    package func asURLRequest() throws -> URLRequest { try make() }
}

/// A request and its body.
private struct Upload: UploadConvertible {
    let request: any URLRequestConvertible
    let body: any UploadableConvertible

    func asURLRequest() throws -> URLRequest { try request.asURLRequest() }
    func createUploadable() throws -> UploadRequest.Uploadable { try body.createUploadable() }
}

/// A request whose body is a form.
struct FormUpload: UploadConvertible {
    fileprivate let request: any URLRequestConvertible
    fileprivate let form: Result<MultipartFormData, any Error>
    fileprivate let threshold: UInt64

    /// A Boolean value that indicates whether the form is written to a file.
    var isLong: Bool { (try? form.get().isWritten(usingThreshold: threshold)) ?? false }

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
///
/// | Parameter | Meaning |
/// |---|---|
/// | `convertible` | The URL, the request or a router. |
/// | `parameters`, `encoder` | The parameters, and their place and form. |
/// | `interceptor` | An interceptor that is called before that of the session. |
/// | `shouldAutomaticallyResume` | The setting of the request, in place of ``startRequestsImmediately``. |
/// | `requestModifier` | A closure that changes the request before the parameters are encoded. |
extension Session {
    /// Changes a request before its parameters are encoded.
    public typealias RequestModifier = @Sendable (inout URLRequest) throws -> Void

    /// Creates a request.
    @discardableResult
    public func request(
        _ convertible: any URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil
    ) -> DataRequest {
        DataRequest(convertible, in: self, interceptor).start(shouldAutomaticallyResume)
    }

    /// Creates a request without parameters.
    @_disfavoredOverload
    @discardableResult
    public func request(
        _ convertible: any URLConvertible,
        method: HTTPMethod = .get,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataRequest {
        let composed = ComposedRequest(convertible, method, headers, requestModifier)
        return DataRequest(composed, in: self, interceptor).start(shouldAutomaticallyResume)
    }

    /// Creates a request with an encodable value as its parameters.
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
        let composed = ComposedRequest(convertible, method, headers, requestModifier) {
            try encoder.encode(parameters, into: $0)
        }
        return DataRequest(composed, in: self, interceptor).start(shouldAutomaticallyResume)
    }

    /// A request whose answer is read in pieces, see ``DataStreamRequest``. With `automaticallyCancelOnStreamError`, a value that cannot be read
    /// ends the request.
    public func streamRequest(
        _ convertible: any URLRequestConvertible,
        automaticallyCancelOnStreamError: Bool = false,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil
    ) -> DataStreamRequest {
        DataStreamRequest(convertible, in: self, interceptor, cancelsOnError: automaticallyCancelOnStreamError)
            .start(shouldAutomaticallyResume)
    }

    /// Creates a request with an encodable value as its parameters, whose answer is read in pieces.
    public func streamRequest<Parameters: Encodable & Sendable>(
        _ convertible: any URLConvertible,
        method: HTTPMethod = .get,
        parameters: Parameters? = Empty?.none,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default,
        headers: HTTPHeaders? = nil,
        automaticallyCancelOnStreamError: Bool = false,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataStreamRequest {
        let composed = ComposedRequest(convertible, method, headers, requestModifier) {
            try encoder.encode(parameters, into: $0)
        }
        return DataStreamRequest(composed, in: self, interceptor, cancelsOnError: automaticallyCancelOnStreamError)
            .start(shouldAutomaticallyResume)
    }
}

/// Uploads of bytes, a file, a stream or a form. Files and streams are read while they are sent, in pieces of at most 64 KiB. The
/// Content-Type of a form replaces that of the request. A form of the threshold's length or longer is written to a temporary file.
/// `fileManager` has no effect.
extension Session {
    /// Creates an upload of bytes, a file or a stream.
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
        let composed = ComposedRequest(convertible, method, headers, requestModifier)
        return start(Upload(request: composed, body: body), interceptor, shouldAutomaticallyResume)
    }

    /// Creates an upload of bytes, a file or a stream.
    @discardableResult
    public func upload(
        _ body: some UploadableConvertible,
        with convertible: any URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest {
        start(Upload(request: convertible, body: body), interceptor, shouldAutomaticallyResume)
    }

    /// Creates an upload of a form.
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
        let composed = ComposedRequest(convertible, method, headers, requestModifier)
        let form = FormUpload(request: composed, form: .success(multipartFormData), threshold: encodingMemoryThreshold)
        return start(form, interceptor, shouldAutomaticallyResume)
    }

    /// Creates an upload of a form.
    @discardableResult
    public func upload(
        multipartFormData: MultipartFormData,
        with convertible: any URLRequestConvertible,
        usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest {
        let threshold = encodingMemoryThreshold
        let form = FormUpload(request: convertible, form: .success(multipartFormData), threshold: threshold)
        return start(form, interceptor, shouldAutomaticallyResume)
    }

    /// Creates an upload of a form that a closure fills. An error of the closure is the result.
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
        let composed = ComposedRequest(convertible, method, headers, requestModifier)
        let form = Self.form(filledBy: multipartFormData)
        let upload = FormUpload(request: composed, form: form, threshold: encodingMemoryThreshold)
        return start(upload, interceptor, shouldAutomaticallyResume)
    }

    /// Creates an upload of a form that a closure fills. An error of the closure is the result.
    @discardableResult
    public func upload(
        multipartFormData: (MultipartFormData) throws -> Void,
        with convertible: any URLRequestConvertible,
        usingThreshold encodingMemoryThreshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        fileManager: FileManager = .default
    ) -> UploadRequest {
        let form = Self.form(filledBy: multipartFormData)
        let upload = FormUpload(request: convertible, form: form, threshold: encodingMemoryThreshold)
        return start(upload, interceptor, shouldAutomaticallyResume)
    }

    private static func form(filledBy fill: (MultipartFormData) throws -> Void) -> Result<MultipartFormData, any Error>
    {
        Result {
            let form = MultipartFormData()
            try fill(form)
            return form
        }
    }

    private func start(
        _ upload: any UploadConvertible,
        _ interceptor: (any RequestInterceptor)?,
        _ shouldAutomaticallyResume: Bool?
    ) -> UploadRequest {
        UploadRequest(upload, in: self, interceptor).start(shouldAutomaticallyResume)
    }
}

/// Downloads, see ``DownloadRequest``. The closure `destination` chooses the place of the complete file. If it is nil, the file is in the
/// temporary directory.
extension Session {
    /// Creates a download.
    @discardableResult
    public func download(
        _ convertible: any URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        start(.request(convertible), .chosen(destination), interceptor, shouldAutomaticallyResume)
    }

    /// Creates a download without parameters.
    @_disfavoredOverload
    @discardableResult
    public func download(
        _ convertible: any URLConvertible,
        method: HTTPMethod = .get,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        let composed = ComposedRequest(convertible, method, headers, requestModifier)
        return start(.request(composed), .chosen(destination), interceptor, shouldAutomaticallyResume)
    }

    /// Creates a download with an encodable value as its parameters.
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
        let composed = ComposedRequest(convertible, method, headers, requestModifier) {
            try encoder.encode(parameters, into: $0)
        }
        return start(.request(composed), .chosen(destination), interceptor, shouldAutomaticallyResume)
    }

    /// Continues a download that was cancelled or has failed, with its ``DownloadRequest/resumeData``.
    @discardableResult
    public func download(
        resumingWith data: Data,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        start(.resumeData(data), .chosen(destination), interceptor, shouldAutomaticallyResume)
    }

    /// A download to a path. Until the file is complete it is `NAME.part` beside its place. With `resuming`, the next download to the same path
    /// continues it, also in another process. Without `replacing`, an existing file is an error.
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
        let composed = ComposedRequest(convertible, .get, headers)
        return start(.request(composed), target, interceptor, shouldAutomaticallyResume)
    }

    private func start(
        _ source: DownloadRequest.Downloadable,
        _ target: DownloadRequest.Target,
        _ interceptor: (any RequestInterceptor)?,
        _ shouldAutomaticallyResume: Bool?
    ) -> DownloadRequest {
        DownloadRequest(source, to: target, in: self, interceptor).start(shouldAutomaticallyResume)
    }
}
