// Foundation's names for requests and answers. They are in a module of their own so that `ReachabilityAlamofire` can export each of them by a
// scoped import. A file that also imports Foundation or FoundationNetworking, which have types of these names, then gets these.
public import ReachabilityRequests

/// A request before it is sent.
public typealias URLRequest = ReachabilityRequests.URLRequest
/// The head of an answer.
public typealias HTTPURLResponse = ReachabilityRequests.HTTPURLResponse
/// A name and a password.
public typealias URLCredential = ReachabilityRequests.URLCredential
/// A body that is read while it is sent.
public typealias InputStream = ReachabilityRequests.InputStream
/// The progress of a body.
public typealias Progress = ReachabilityRequests.Progress
/// The settings of a session.
public typealias URLSessionConfiguration = ReachabilityRequests.URLSessionConfiguration
/// An attempt of a request.
public typealias URLSessionTask = ReachabilityRequests.URLSessionTask
/// The metrics of a request.
public typealias URLSessionTaskMetrics = RequestMetrics
