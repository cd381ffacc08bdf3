// For code that was written for Alamofire, and imports this in its place. The names that Alamofire and the modules below use for different
// things are Alamofire's here; import this module alone, or they are ambiguous.
@_exported public import ReachabilityRequests
@_exported public import ReachabilityRetry

@_exported public import typealias AlamofireFoundationNames.HTTPURLResponse
@_exported public import typealias AlamofireFoundationNames.URLRequest

/// An adapter: `adapt(_:for:completion:)`.
public typealias RequestAdapter = SessionAdapter
/// A retrier: `retry(_:for:dueTo:completion:)`.
public typealias RequestRetrier = SessionRetrier
/// Both.
public typealias RequestInterceptor = SessionInterceptor
/// An adapter of Alamofire 4: `adapt(_:) throws`.
public typealias Alamofire4Adapter = ReachabilityRetry.RequestAdapter
/// A request as retriers see it, failed.
public typealias Request = FailedRequest
/// Alamofire 4's name of the session.
public typealias SessionManager = Session

// swift-format-ignore: AlwaysUseLowerCamelCase
/// A session with each setting's default.
public let AF = Session()

extension Error {
    /// The error as `AFError`; nil where it is another.
    public var asAFError: AFError? { self as? AFError }
}
