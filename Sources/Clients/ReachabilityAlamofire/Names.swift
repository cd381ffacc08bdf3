@_exported public import NetworkReachability
@_exported public import ReachabilityRequests
@_exported public import ServerTrust

@_exported public import typealias AlamofireFoundationNames.HTTPCookie
@_exported public import typealias AlamofireFoundationNames.HTTPCookiePropertyKey
@_exported public import typealias AlamofireFoundationNames.HTTPCookieStorage
@_exported public import typealias AlamofireFoundationNames.HTTPURLResponse
@_exported public import typealias AlamofireFoundationNames.InputStream
@_exported public import typealias AlamofireFoundationNames.Progress
@_exported public import enum AlamofireFoundationNames.URLCache
@_exported public import typealias AlamofireFoundationNames.URLCredential
@_exported public import typealias AlamofireFoundationNames.URLError
@_exported public import typealias AlamofireFoundationNames.URLRequest
@_exported public import class AlamofireFoundationNames.URLSessionConfiguration
@_exported public import typealias AlamofireFoundationNames.URLSessionTask
@_exported public import typealias AlamofireFoundationNames.URLSessionTaskMetrics
public import class Foundation.DateFormatter

/// The version of Alamofire.
public enum AFInfo {
    /// The version whose names this module has.
    public static let version = "5.12.0"
}

extension URLEncodedFormEncoder.DateEncoding {
    /// Encodes a date with a formatter of Foundation.
    public static func formatted(_ formatter: DateFormatter) -> Self { .custom { formatter.string(from: $0) } }
}
