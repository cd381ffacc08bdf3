// Foundation's names for requests and responses. They are in a separate module so that `ReachabilityAlamofire` can
// export each of them with a scoped import. In a file that also imports Foundation or FoundationNetworking, which
// have types with the same names, these types are used.
public import ReachabilityRequests

/// A request before it is sent.
public typealias URLRequest = ReachabilityRequests.URLRequest
/// The head of a response.
public typealias HTTPURLResponse = ReachabilityRequests.HTTPURLResponse
/// A user name and a password.
public typealias URLCredential = ReachabilityRequests.URLCredential
/// A body that is read while it is sent.
public typealias InputStream = ReachabilityRequests.InputStream
/// The progress of a body.
public typealias Progress = ReachabilityRequests.Progress
/// A cookie.
public typealias HTTPCookie = ReachabilityRequests.HTTPCookie
/// The cookies of sessions.
public typealias HTTPCookieStorage = ReachabilityRequests.HTTPCookieStorage
/// The failure of the network below an error.
public typealias URLError = ReachabilityRequests.URLError
/// An attempt of a request.
public typealias URLSessionTask = ReachabilityRequests.URLSessionTask
/// The metrics of a request.
public typealias URLSessionTaskMetrics = RequestMetrics
