import Foundation
// The only edit: this import, in the place of Alamofire's.
import ReachabilityAlamofire4

// Code in the style of applications that were written for Alamofire 4: global functions, responses with one parameter, adapters and retriers
// that are set on the session, closures that are not Sendable, and extensions of requests.

package enum ShopError: Error {
    case network(Error)
    case format(String)
}

package protocol Model {
    init?(response: HTTPURLResponse, json: Any)
}

package struct Item: Model {
    package let name: String

    package init?(response: HTTPURLResponse, json: Any) {
        guard response.statusCode == 200, let json = json as? [String: Any], let name = json["name"] as? String else {
            return nil
        }
        self.name = name
    }
}

extension DataRequest {
    static func modelSerializer<M: Model>(of type: M.Type) -> DataResponseSerializer<M> {
        return DataResponseSerializer { request, response, data, error in
            if let error = error { return .failure(ShopError.network(error)) }
            let json = DataRequest.jsonResponseSerializer(options: .allowFragments)
            let result = json.serializeResponse(request, response, data, nil)
            guard case let .success(value) = result else { return .failure(ShopError.format("no JSON")) }
            guard let response = response, let model = M(response: response, json: value) else {
                return .failure(ShopError.format("\(value)"))
            }
            return .success(model)
        }
    }

    @discardableResult
    func responseModel<M: Model>(queue: DispatchQueue? = nil, completion: @escaping (DataResponse<M>) -> Void) -> Self {
        let serializer = DataRequest.modelSerializer(of: M.self)
        return response(queue: queue, responseSerializer: serializer, completionHandler: completion)
    }
}

extension Request {
    func logged(_ log: (String) -> Void) -> Self {
        log("\(self)")
        return self
    }
}

enum ShopRouter: URLRequestConvertible {
    static var base = ""

    case list(page: Int)
    case create(Parameters)

    func asURLRequest() throws -> URLRequest {
        let url = try ShopRouter.base.asURL()
        switch self {
        case .list(let page):
            let request = URLRequest(url: url.appendingPathComponent("echo"))
            return try URLEncoding.default.encode(request, with: ["page": page])
        case .create(let parameters):
            var request = URLRequest(url: url.appendingPathComponent("echo"))
            request.httpMethod = HTTPMethod.post.rawValue
            return try JSONEncoding.default.encode(request, with: parameters)
        }
    }
}

/// Adds a token, and fetches a new one if the server refuses it.
class TokenKeeper: RequestAdapter, RequestRetrier {
    private let base: String
    private let lock = NSLock()
    private let manager = SessionManager(configuration: .default)
    private var token = "stale"
    private var waiting: [RequestRetryCompletion] = []
    private(set) var refreshes = 0

    init(base: String) {
        self.base = base
    }

    func adapt(_ urlRequest: URLRequest) throws -> URLRequest {
        var urlRequest = urlRequest
        lock.lock()
        urlRequest.setValue("Bearer " + token, forHTTPHeaderField: "Authorization")
        lock.unlock()
        return urlRequest
    }

    func should(
        _ manager: SessionManager,
        retry request: Request,
        with error: Error,
        completion: @escaping RequestRetryCompletion
    ) {
        guard let response = request.task?.response, response.statusCode == 401 else { return completion(false, 0) }
        lock.lock()
        defer { lock.unlock() }
        waiting.append(completion)
        if waiting.count == 1 { refresh() }
    }

    private func refresh() {
        refreshes += 1
        let parameters: [String: Any] = ["grant_type": "refresh_token", "token": token]
        manager.request(base + "/oauth2/token", method: .post, parameters: parameters, encoding: JSONEncoding.default)
            .responseJSON { [weak self] response in
                guard let self = self else { return }
                let json = response.result.value as? [String: Any]
                self.lock.lock()
                defer { self.lock.unlock() }
                if let token = json?["access_token"] as? String { self.token = token }
                self.waiting.forEach { $0(json != nil, 0) }
                self.waiting = []
            }
    }
}

/// Calls of Alamofire 4 against a server. Each reports a line of text.
package final class ShopClient {
    package typealias Report = (String) -> Void

    private let base: String
    private var manager: SessionManager?

    package init(base: String) {
        self.base = base
    }

    package func readJSON(_ report: @escaping Report) {
        let parameters: [String: Any] = ["id": 7, "tags": ["a", "b"], "new": true]
        Alamofire.request(base + "/item", parameters: parameters).validate().responseJSON { response in
            let item = response.result.value as? [String: Any]
            let price = item?["price"] as? Int ?? 0
            let query = response.request?.url?.query ?? "-"
            report("\(item?["name"] as? String ?? "?") \(price) \(response.result.isSuccess) \(query)")
        }
    }

    package func readText(_ report: @escaping Report) {
        let queue = DispatchQueue.global(qos: .utility)
        Alamofire.request(base + "/text")
            .validate(statusCode: 200..<300)
            .validate(contentType: ["text/plain"])
            .validate { request, response, data in
                return response.statusCode == 200 ? .success : .failure(ShopError.format("status"))
            }
            .responseString(queue: queue) { response in
                switch response.result {
                case .success(let text): report(text)
                case .failure(let error): report("\(error)")
                }
            }
    }

    package func readInChain(_ report: @escaping Report) {
        Alamofire.request(base + "/text")
            .responseData { response in
                report("\(response.result.value?.count ?? 0) \(response.timeline.totalDuration > 0)")
            }
            .responseString { response in report(response.value ?? "none") }
            .response { response in
                let text = response.data.flatMap { String(data: $0, encoding: .utf8) }
                report("\(response.error == nil) \(text ?? "none") \(response.response?.statusCode ?? 0)")
            }
    }

    package func readPropertyList(_ report: @escaping Report) {
        Alamofire.request(base + "/list").responsePropertyList { response in
            let list = response.result.value as? [String: Any]
            report("\(list?["name"] as? String ?? "none")")
        }
    }

    package func fail(_ report: @escaping Report) {
        Alamofire.request(base + "/missing").validate().responseJSON { (response: DataResponse<Any>) in
            guard let error = response.result.error as? AFError else { return report("no error") }
            report("\(response.result.isFailure) \(error.isResponseValidationError) \(error.responseCode ?? 0)")
        }
    }

    package func readModel(_ report: @escaping Report) {
        let completion: (Result<Item>) -> Void = { result in report(result.value?.name ?? "none") }
        Alamofire.request(base + "/item").logged { _ in }.responseModel { (response: DataResponse<Item>) in
            completion(response.result)
        }
    }

    package func refuseModel(_ report: @escaping Report) {
        Alamofire.request(base + "/items").responseModel { (response: DataResponse<Item>) in
            if case .format? = response.error as? ShopError { report("format") } else { report("\(response)") }
        }
    }

    package func mapJSON(_ report: @escaping Report) {
        Alamofire.request(base + "/items").responseJSON { response in
            let names = response.map { json in (json as? [[String: Any]])?.compactMap { $0["name"] as? String } ?? [] }
            let first = names.flatMap { names -> String in
                guard names.count > 2 else { throw ShopError.format("\(names.count) items") }
                return names[0]
            }
            report("\(names.value ?? []) \(first.error.map { "\($0)" } ?? "none")")
        }
    }

    package func route(_ report: @escaping Report) {
        ShopRouter.base = base
        Alamofire.request(ShopRouter.list(page: 2)).responseString { response in report(response.result.value ?? "none")
        }
        Alamofire.request(ShopRouter.create(["a": 1, "b": ["c": true]])).responseString { response in
            report(response.result.value ?? "none")
        }
    }

    package func sendHeaders(_ report: @escaping Report) {
        let headers = ["X-Shop": "1"]
        Alamofire.request(base + "/headers", headers: headers).responseString { response in
            report(response.result.value ?? "none")
        }
        let typed: HTTPHeaders = ["X-Shop": "2"]
        Alamofire.request(base + "/headers", headers: typed).responseString { response in
            report(response.result.value ?? "none")
        }
        var defaults = SessionManager.defaultHTTPHeaders
        defaults["X-Shop"] = "3"
        let configuration = URLSessionConfiguration.default
        configuration.httpAdditionalHeaders = defaults
        manager = Alamofire.SessionManager(configuration: configuration)
        manager?.request(base + "/headers").responseString { response in report(response.result.value ?? "none") }
    }

    package func authenticate(_ report: @escaping Report) {
        Alamofire.request(base + "/basic").authenticate(user: "ada", password: "secret").responseString { response in
            report("\(response.response?.statusCode ?? 0) \(response.result.value ?? "none")")
        }
        let credential = URLCredential(user: "ada", password: "secret", persistence: .forSession)
        Alamofire.request(base + "/basic").authenticate(usingCredential: credential).responseString { response in
            report("\(response.response?.statusCode ?? 0)")
        }
        var headers: HTTPHeaders = [:]
        if let header = Request.authorizationHeader(user: "ada", password: "secret") {
            headers[header.key] = header.value
        }
        Alamofire.request(base + "/basic", headers: headers).responseString { response in
            report("\(response.response?.statusCode ?? 0)")
        }
    }

    /// Two requests at once, with one refresh.
    package func refreshToken(_ report: @escaping Report) {
        let keeper = TokenKeeper(base: base)
        let manager = SessionManager()
        self.manager = manager
        manager.adapter = keeper
        manager.retrier = keeper
        for _ in 0..<2 {
            manager.request(base + "/token").validate().responseString { response in
                report("\(response.result.value ?? "none") \(keeper.refreshes > 0) \(manager.adapter is TokenKeeper)")
            }
        }
    }

    package func download(to folder: String, _ report: @escaping Report) {
        let destination: DownloadRequest.DownloadFileDestination = { _, _ in
            (URL(fileURLWithPath: folder + "/new/file"), [.createIntermediateDirectories, .removePreviousFile])
        }
        Alamofire.download(base + "/text", to: destination)
            .downloadProgress { progress in _ = progress.fractionCompleted }
            .validate { request, response, temporaryURL, destinationURL in
                return temporaryURL == nil ? .failure(ShopError.format("no file")) : .success
            }
            .responseData { response in
                let text = response.result.value.flatMap { String(data: $0, encoding: .utf8) }
                report("\(text ?? "none") \(response.destinationURL?.lastPathComponent ?? "none")")
            }
            .responseJSON { (response: DownloadResponse<Any>) in report("\(response.result.isFailure)") }
            .responseString { response in report(response.result.value ?? "none") }
    }

    package func upload(_ report: @escaping Report) {
        Alamofire.upload(Data("body".utf8), to: base + "/echo", headers: ["Content-Type": "text/plain"])
            .uploadProgress { progress in _ = progress.fractionCompleted }
            .responseString { response in report(response.result.value ?? "none") }
        Alamofire.upload(InputStream(data: Data("stream".utf8)), to: base + "/echo", method: .put).responseString {
            response in
            report(response.result.value ?? "none")
        }
    }

    package func uploadForm(_ file: URL, _ report: @escaping Report) {
        Alamofire.upload(
            multipartFormData: { form in
                form.append(Data("one".utf8), withName: "part")
                form.append(file, withName: "file")
            },
            to: base + "/form",
            encodingCompletion: { result in
                switch result {
                case .success(let upload, let streamingFromDisk, _):
                    upload.responseString { response in
                        report("\(response.result.value ?? "none") \(streamingFromDisk)")
                    }
                case .failure(let error): report("\(error)")
                }
            }
        )
    }

    package func uploadFormOfSession(_ report: @escaping Report) {
        let headers = ["X-Shop": "1"]
        SessionManager.default.upload(
            multipartFormData: { form in form.append(Data("one".utf8), withName: "part") },
            usingThreshold: UInt64(),
            to: base + "/form",
            method: .post,
            headers: headers
        ) { result in
            switch result {
            case .success(let upload, _, _):
                upload.uploadProgress { progress in _ = progress.fractionCompleted }
                upload.responseString { response in report(response.result.value ?? "none") }
            case .failure(let error): report("\(error)")
            }
        }
        SessionManager.default.upload(
            multipartFormData: { form in form.append(Data("one".utf8), withName: "part") },
            to: base + "/form"
        ) { result in
            switch result {
            case .success(let upload, _, _): upload.responseString { response in report(response.value ?? "none") }
            case .failure(let error): report("\(error)")
            }
        }
    }

    package func failForm(_ report: @escaping Report) {
        guard let url = URL(string: base + "/form") else { return report("no URL") }
        let manager = SessionManager(configuration: .ephemeral)
        self.manager = manager
        manager.upload(
            multipartFormData: { _ in throw ShopError.format("no picture") },
            with: URLRequest(url: url),
            queue: .global(),
            encodingCompletion: { result in
                if case .failure(let error) = result { report("\(error)") } else { report("no error") }
            }
        )
    }

    package func pin(_ certificates: [TrustCertificate], host: String, _ report: @escaping Report) {
        let policies: [String: ServerTrustPolicy] = [
            host: .pinCertificates(certificates: certificates, validateCertificateChain: true, validateHost: true)
        ]
        let manager = SessionManager(serverTrustPolicyManager: ServerTrustPolicyManager(policies: policies))
        self.manager = manager
        manager.request(base + "/text").responseString { response in
            let error = response.result.error as? AFError
            report("\(response.result.value ?? "none") \(error?.isServerTrustEvaluationError ?? false)")
        }
    }
}
