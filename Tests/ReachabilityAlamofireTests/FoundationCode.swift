import Foundation
import FoundationNetworking
// The only edit: this import replaces that of Alamofire.
import ReachabilityAlamofire

/// An adapter and a retrier in a file that also imports Foundation, as most files written for Alamofire do.
final class SigningInterceptor: RequestInterceptor {
    func adapt(
        _ urlRequest: URLRequest,
        for session: Session,
        completion: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        var urlRequest = urlRequest
        let date = ISO8601DateFormatter().string(from: Date(timeIntervalSince1970: 0))
        urlRequest.setValue(date, forHTTPHeaderField: "Date")
        completion(.success(urlRequest))
    }

    func retry(
        _ request: Request,
        for session: Session,
        dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        let response: HTTPURLResponse? = request.response
        completion(response?.statusCode == 401 && request.retryCount == 0 ? .retry : .doNotRetry)
    }
}

/// Adapters and retriers by their short names.
func shortHalves() -> (adapters: [any RequestAdapter], retriers: [any RequestRetrier]) {
    let adapter: any RequestAdapter = .adapter { urlRequest, _, completion in completion(.success(urlRequest)) }
    let retrier: any RequestRetrier = .retrier { _, _, _, completion in completion(.doNotRetry) }
    let named = Adapter { urlRequest, _, completion in completion(.success(urlRequest)) }
    return ([adapter, named], [retrier, .retryPolicy(retryLimit: 1), .retryPolicy])
}

/// Names that Foundation or another module of this package also has. Each one means the type of ReachabilityAlamofire.
let sharedNames: [Any.Type] = [
    URLRequest.self, HTTPURLResponse.self, URLSessionConfiguration.self, URLCredential.self, InputStream.self,
    Progress.self, URLSessionTask.self, URLSessionTaskMetrics.self, HTTPCookie.self, HTTPCookieStorage.self,
    URLCache.self, RetryPolicy.self, RetryResult.self, Adapter.self, Retrier.self, Interceptor.self,
    (any RequestAdapter).self, (any RequestRetrier).self, (any RequestInterceptor).self, Alamofire.Session.self,
    Alamofire.DataRequest.self, Alamofire.RetryPolicy.self, ServerTrustManager.self, ServerTrustPolicyManager.self,
    (any ServerTrustEvaluating).self, NetworkReachabilityManager.self, AFSecurityPolicy.self,
]

/// A monitor that also has methods for events of URLSession, which are never called.
final class LoggingMonitor: EventMonitor {
    let queue = DispatchQueue(label: "log")
    let lines = Lines()

    func request(_ request: Request, didCreateTask task: URLSessionTask) { lines.append("task") }

    func request(_ request: Request, didGatherMetrics metrics: URLSessionTaskMetrics) {
        lines.append("\(metrics.redirectCount) redirects, \(metrics.taskInterval.duration > 0)")
    }

    func request(_ request: DataRequest, didParseResponse response: DataResponse<Data?, AFError>) {
        lines.append("\(response.data?.count ?? 0) bytes")
    }

    func request<Value>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>) {
        lines.append("\(Value.self)")
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {}

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {}
}

/// The localized description of an error.
func localizedText(_ error: any Error) -> String { error.localizedDescription }

/// A session with settings of cookies and caches in the form of Foundation.
func configuredSession() -> (session: Session, storage: HTTPCookieStorage?) {
    let configuration = URLSessionConfiguration.af.default
    let storage = HTTPCookieStorage()
    configuration.httpCookieStorage = storage
    configuration.httpCookieAcceptPolicy = .always
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.urlCache = nil
    let cookie = HTTPCookie(properties: [.domain: "127.0.0.1", .path: "/", .name: "theme", .value: "dark"])
    if let cookie { storage.setCookie(cookie) }
    return (Session(configuration: configuration), configuration.httpCookieStorage)
}

/// The cookies of a response, from its joined fields.
func cookies(of response: HTTPURLResponse) -> [HTTPCookie] {
    guard let fields = response.allHeaderFields as? [String: String], let url = response.url else { return [] }
    return HTTPCookie.cookies(withResponseHeaderFields: fields, for: url)
}

/// A form in the style of Alamofire 5.
func filledForm(fileURL: URL) -> MultipartFormData {
    let form = MultipartFormData(fileManager: .default, boundary: "b")
    form.append(Data("one".utf8), withName: "one", fileName: "one.txt", mimeType: "text/plain")
    form.append(fileURL, withName: "two")
    form.append(fileURL, withName: "three", fileName: "three.txt", mimeType: "text/plain")
    if let stream = InputStream(url: fileURL) {
        form.append(stream, withLength: 3, name: "four", fileName: "four.txt", mimeType: "text/plain")
        form.append(stream, withLength: 3, headers: ["Content-Disposition": "form-data; name=\"five\""])
    }
    return form
}

/// Parameters with a date in a format of Foundation.
func formattedDate(_ date: Date) throws -> String {
    let formatter = DateFormatter()
    formatter.dateFormat = "yyyy"
    formatter.timeZone = TimeZone(identifier: "UTC")
    return try URLEncodedFormEncoder(dateEncoding: .formatted(formatter)).encode(["date": date])
}

/// The code of a network error.
func networkErrorCode(_ error: AFError?) -> URLError.Code? { (error?.underlyingError as? URLError)?.code }

/// Numbers of Foundation, encoded as text.
func encodedNumbers(_ encoding: URLEncoding) throws -> String {
    let numbers: [NSNumber] = [1, 0, 2, NSNumber(value: true), NSNumber(value: false)]
    return numbers.map { encoding.queryComponents(fromKey: "n", value: $0).map(\.1).joined() }.joined(separator: " ")
}

/// Numbers of Foundation in parameters of Alamofire 4.
func version4Query(literal: Bool) throws -> String? {
    let parameters: [String: Any] = ["one": NSNumber(value: 1), "true": NSNumber(value: true)]
    let encoding = URLEncoding(boolEncoding: literal ? .literal : .numeric)
    return try encoding.encode(URLRequest(url: "http://h/", method: .get), with: parameters).url?.query()
}
