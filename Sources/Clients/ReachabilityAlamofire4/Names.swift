@_exported public import ReachabilityAlamofire
public import ReachabilityRequests

// Names that have another form in Alamofire 4 than in Alamofire 5. In a file that imports this module they replace those of
// ReachabilityAlamofire and of the standard library.

/// A value, or an error.
public typealias Result<Value> = Swift.Result<Value, any Error>
/// The response of a request.
public typealias DataResponse<Value> = ReachabilityRequests.DataResponse<Value, any Error>
/// The response of a download.
public typealias DownloadResponse<Value> = ReachabilityRequests.DataResponse<Value, any Error>

extension Alamofire {
    /// A value, or an error.
    public typealias Result<Value> = Swift.Result<Value, any Error>
    /// The response of a request.
    public typealias DataResponse<Value> = ReachabilityRequests.DataResponse<Value, any Error>
    /// The response of a download.
    public typealias DownloadResponse<Value> = ReachabilityRequests.DataResponse<Value, any Error>
}
