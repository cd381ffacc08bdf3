public import Dispatch
public import FoundationEssentials
public import NetworkReachability
public import ReachabilityRequests

/// The module of Alamofire as a namespace: `Alamofire.request("https://example.org/")` of version 4, and qualified names such as
/// `Alamofire.Session` of all versions. The functions use `Session.default`.
public enum Alamofire {
    /// Creates a request with parameters of no particular type.
    @discardableResult
    public static func request(
        _ url: any URLConvertible,
        method: HTTPMethod = .get,
        parameters: [String: Any]? = nil,
        encoding: any ParameterEncoding = URLEncoding.default,
        headers: (any HTTPHeadersConvertible)? = nil
    ) -> DataRequest {
        AF.request(url, method: method, parameters: parameters, encoding: encoding, headers: headers)
    }

    /// Creates a request from a `URLRequest` or a router.
    @discardableResult
    public static func request(_ urlRequest: any URLRequestConvertible) -> DataRequest { AF.request(urlRequest) }

    /// Creates a download with parameters of no particular type.
    @discardableResult
    public static func download(
        _ url: any URLConvertible,
        method: HTTPMethod = .get,
        parameters: [String: Any]? = nil,
        encoding: any ParameterEncoding = URLEncoding.default,
        headers: (any HTTPHeadersConvertible)? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        AF.download(url, method: method, parameters: parameters, encoding: encoding, headers: headers, to: destination)
    }

    /// Creates a download from a `URLRequest` or a router.
    @discardableResult
    public static func download(
        _ urlRequest: any URLRequestConvertible,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        AF.download(urlRequest, to: destination)
    }

    /// Continues a download.
    @discardableResult
    public static func download(
        resumingWith resumeData: Data,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        AF.download(resumingWith: resumeData, to: destination)
    }

    /// Creates an upload of bytes, a file or a stream.
    @discardableResult
    public static func upload(
        _ body: some UploadableConvertible,
        to url: any URLConvertible,
        method: HTTPMethod = .post,
        headers: (any HTTPHeadersConvertible)? = nil
    ) -> UploadRequest {
        AF.upload(body, to: url, method: method, headers: headers)
    }

    /// Creates an upload of bytes, a file or a stream.
    @discardableResult
    public static func upload(
        _ body: some UploadableConvertible,
        with urlRequest: any URLRequestConvertible
    ) -> UploadRequest {
        AF.upload(body, with: urlRequest)
    }

    /// Creates an upload of a form that a closure fills, see `Session`.
    public static func upload(
        multipartFormData: (MultipartFormData) throws -> Void,
        usingThreshold encodingMemoryThreshold: UInt64 = Session.multipartFormDataEncodingMemoryThreshold,
        to url: any URLConvertible,
        method: HTTPMethod = .post,
        headers: (any HTTPHeadersConvertible)? = nil,
        queue: DispatchQueue? = nil,
        encodingCompletion: (@Sendable (Session.MultipartFormDataEncodingResult) -> Void)?
    ) {
        AF.upload(
            multipartFormData: multipartFormData,
            usingThreshold: encodingMemoryThreshold,
            to: url,
            method: method,
            headers: headers,
            queue: queue,
            encodingCompletion: encodingCompletion
        )
    }

    /// Creates an upload of a form that a closure fills, see `Session`.
    public static func upload(
        multipartFormData: (MultipartFormData) throws -> Void,
        usingThreshold encodingMemoryThreshold: UInt64 = Session.multipartFormDataEncodingMemoryThreshold,
        with urlRequest: any URLRequestConvertible,
        queue: DispatchQueue? = nil,
        encodingCompletion: (@Sendable (Session.MultipartFormDataEncodingResult) -> Void)?
    ) {
        AF.upload(
            multipartFormData: multipartFormData,
            usingThreshold: encodingMemoryThreshold,
            with: urlRequest,
            queue: queue,
            encodingCompletion: encodingCompletion
        )
    }
}

extension Alamofire {
    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The session of the process.
    public static var AF: Session { .default }
    /// The type `Session` of ReachabilityRequests.
    public typealias Session = ReachabilityRequests.Session
    /// The type `AFError` of ReachabilityRequests.
    public typealias AFError = ReachabilityRequests.AFError
    /// The type `Request` of ReachabilityRequests.
    public typealias Request = ReachabilityRequests.Request
    /// The type `DataRequest` of ReachabilityRequests.
    public typealias DataRequest = ReachabilityRequests.DataRequest
    /// The type `UploadRequest` of ReachabilityRequests.
    public typealias UploadRequest = ReachabilityRequests.UploadRequest
    /// The type `DownloadRequest` of ReachabilityRequests.
    public typealias DownloadRequest = ReachabilityRequests.DownloadRequest
    /// The type `DataStreamRequest` of ReachabilityRequests.
    public typealias DataStreamRequest = ReachabilityRequests.DataStreamRequest
    /// The type `URLConvertible` of ReachabilityRequests.
    public typealias URLConvertible = ReachabilityRequests.URLConvertible
    /// The type `URLRequestConvertible` of ReachabilityRequests.
    public typealias URLRequestConvertible = ReachabilityRequests.URLRequestConvertible
    /// The type `HTTPMethod` of ReachabilityRequests.
    public typealias HTTPMethod = ReachabilityRequests.HTTPMethod
    /// The type `HTTPHeader` of ReachabilityRequests.
    public typealias HTTPHeader = ReachabilityRequests.HTTPHeader
    /// The type `HTTPHeaders` of ReachabilityRequests.
    public typealias HTTPHeaders = ReachabilityRequests.HTTPHeaders
    /// The type `Parameters` of ReachabilityAlamofire.
    public typealias Parameters = ReachabilityAlamofire.Parameters
    /// The type `ParameterEncoding` of ReachabilityAlamofire.
    public typealias ParameterEncoding = ReachabilityAlamofire.ParameterEncoding
    /// The type `URLEncoding` of ReachabilityAlamofire.
    public typealias URLEncoding = ReachabilityAlamofire.URLEncoding
    /// The type `JSONEncoding` of ReachabilityAlamofire.
    public typealias JSONEncoding = ReachabilityAlamofire.JSONEncoding
    /// The type `ParameterEncoder` of ReachabilityRequests.
    public typealias ParameterEncoder = ReachabilityRequests.ParameterEncoder
    /// The type `JSONParameterEncoder` of ReachabilityRequests.
    public typealias JSONParameterEncoder = ReachabilityRequests.JSONParameterEncoder
    /// The type `URLEncodedFormParameterEncoder` of ReachabilityRequests.
    public typealias URLEncodedFormParameterEncoder = ReachabilityRequests.URLEncodedFormParameterEncoder
    /// The type `MultipartFormData` of ReachabilityRequests.
    public typealias MultipartFormData = ReachabilityRequests.MultipartFormData
    /// The type `RequestAdapter` of ReachabilityRequests.
    public typealias RequestAdapter = ReachabilityRequests.RequestAdapter
    /// The type `RequestRetrier` of ReachabilityRequests.
    public typealias RequestRetrier = ReachabilityRequests.RequestRetrier
    /// The type `RequestInterceptor` of ReachabilityRequests.
    public typealias RequestInterceptor = ReachabilityRequests.RequestInterceptor
    /// The type `RetryResult` of ReachabilityRequests.
    public typealias RetryResult = ReachabilityRequests.RetryResult
    /// The type `Adapter` of ReachabilityRequests.
    public typealias Adapter = ReachabilityRequests.Adapter
    /// The type `Retrier` of ReachabilityRequests.
    public typealias Retrier = ReachabilityRequests.Retrier
    /// The type `Interceptor` of ReachabilityRequests.
    public typealias Interceptor = ReachabilityRequests.Interceptor
    /// The type `RequestRetryCompletion` of ReachabilityRequests.
    public typealias RequestRetryCompletion = ReachabilityRequests.RequestRetryCompletion
    /// The type `Redirector` of ReachabilityRequests.
    public typealias Redirector = ReachabilityRequests.Redirector
    /// The type `RedirectHandler` of ReachabilityRequests.
    public typealias RedirectHandler = ReachabilityRequests.RedirectHandler
    /// The type `EventMonitor` of ReachabilityRequests.
    public typealias EventMonitor = ReachabilityRequests.EventMonitor
    /// The type `Empty` of ReachabilityRequests.
    public typealias Empty = ReachabilityRequests.Empty
    /// The type `ResponseSerializer` of ReachabilityRequests.
    public typealias ResponseSerializer = ReachabilityRequests.ResponseSerializer
    /// The session of version 4.
    public typealias SessionManager = ReachabilityRequests.Session
    /// The retry policy of version 5.
    public typealias RetryPolicy = ReachabilityAlamofire.RetryPolicy
    /// A value, or an error.
    public typealias AFResult<Success> = ReachabilityRequests.AFResult<Success>
    /// The response of a request.
    public typealias AFDataResponse<Success> = ReachabilityRequests.AFDataResponse<Success>
    /// The response of a download.
    public typealias AFDownloadResponse<Success> = ReachabilityRequests.AFDownloadResponse<Success>
    /// The type `NetworkReachabilityManager` of NetworkReachability.
    public typealias NetworkReachabilityManager = NetworkReachability.NetworkReachabilityManager
    /// Not available.
    @available(
        *,
        unavailable,
        message: "there is no URLSession: use redirect(using:), authenticate(with:) or an EventMonitor"
    )
    public typealias SessionDelegate = Never
}
