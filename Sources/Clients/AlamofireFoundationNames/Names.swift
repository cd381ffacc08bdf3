// Foundation's names for requests and answers. They are in a module of their own so that `ReachabilityAlamofire` can export each of them by a
// scoped import. A file that also imports FoundationNetworking, which has types of these names, then gets these.
public import ReachabilityRequests
public import ReachabilityRetry

/// A request as adapters see it. Its URL is text, and it has no body.
public typealias URLRequest = PlainRequest
/// The head of an answer.
public typealias HTTPURLResponse = ResponseHead
