import LinuxSupport
package import NIOHTTP1
import ReachabilityLedger

/// The queue on which an answer is made. Separate queues ensure that no request waits for a slower kind of request.
package enum AnswerQueue: CaseIterable, Sendable {
    /// The queue for answers that take long to compute, such as the state of 10,000 devices.
    case memory
    /// The queue for answers that read the history.
    case disk
    /// The queue for answers that query the kernel or DNS servers.
    case kernel
    /// The queue for requests that make changes.
    case administration
}

/// A row of the routing table of a server.
package struct Route: Sendable {
    /// A function that makes the answer to a request.
    package typealias Handler = @Sendable (Query) throws(Problem) -> WebAnswer

    /// The clients that may use a route, of those that ``AccessRules`` admit.
    package enum Access: Sendable {
        /// All clients.
        case reader
        /// All clients, without a token, and pages of other sites.
        case everyone
        /// All clients, including browsers that follow a link on a page of another site.
        case page
        /// The clients that ``AccessRules/checkAdministrator(_:group:)`` allows.
        case administrator
        /// The senders of pushes. The handler checks the token.
        case pusher
    }

    let method: HTTPMethod
    /// The segments of the path. A segment such as `{name}` is a placeholder for any text.
    let path: [String]
    let access: Access
    /// The queue of the handler. If nil, the handler runs on the thread of the server, which it must not block.
    let queue: AnswerQueue?
    let handler: Handler

    private init(
        _ method: HTTPMethod,
        _ path: String,
        _ access: Access,
        _ queue: AnswerQueue?,
        _ handler: @escaping Handler
    ) {
        self.path = path.split(at: "/").map(String.init)
        (self.method, self.access, self.queue, self.handler) = (method, access, queue, handler)
    }

    /// Returns a route for GET.
    package static func get(_ path: String, on queue: AnswerQueue? = nil, _ handler: @escaping Handler) -> Route {
        Route(.GET, path, .reader, queue, handler)
    }

    /// Returns a route for a paginated list.
    package static func list(
        _ path: String,
        on queue: AnswerQueue? = nil,
        _ page: @escaping @Sendable (Query) throws(Problem) -> Page
    ) -> Route {
        get(path, on: queue) { query throws(Problem) in try .list(page(query), query) }
    }

    /// Returns a route for one object.
    package static func item(
        _ path: String,
        on queue: AnswerQueue? = nil,
        _ item: @escaping @Sendable (Query) throws(Problem) -> Item
    ) -> Route {
        get(path, on: queue) { query throws(Problem) in .one(try item(query), query.request) }
    }

    /// Returns a route for a page of the dashboard.
    package static func page(_ path: String, on queue: AnswerQueue, _ handler: @escaping Handler) -> Route {
        Route(.GET, path, .page, queue, handler)
    }

    /// Returns a route for public content.
    static func open(_ path: String, on queue: AnswerQueue? = nil, _ handler: @escaping Handler) -> Route {
        Route(.GET, path, .everyone, queue, handler)
    }

    /// Returns a route for pushes.
    static func push(_ path: String, _ handler: @escaping Handler) -> Route {
        Route(.POST, path, .pusher, .administration, handler)
    }

    /// Returns a route for requests that make changes.
    package static func change(_ method: HTTPMethod, _ path: String, _ handler: @escaping Handler) -> Route {
        Route(method, path, .administrator, .administration, handler)
    }

    /// Returns the values of the placeholders; nil if the path does not match.
    fileprivate func values(in path: [String]) -> [String: String]? {
        guard path.count == self.path.count else { return nil }
        var values: [String: String] = [:]
        for (pattern, part) in zip(self.path, path) {
            if pattern.hasPrefix("{") {
                values[String(pattern.dropFirst().dropLast())] = part
            } else if pattern != part {
                return nil
            }
        }
        return values
    }
}

/// The routing table of a server. It applies access control, and answers OPTIONS, unknown paths and unsupported methods.
package struct Router: Sendable {
    private let access: Access
    private let hint: String
    let routes: [Route]

    /// - Parameters:
    ///   - hint: The end of the error message for an unknown path, which names some paths.
    ///   - description: The complete OpenAPI description; see ``description(_:)``.
    ///   - routes: The routes, without those that every server has.
    package init(_ access: Access, hint: String, description: [UInt8], _ feed: EventFeed, _ routes: [Route]) {
        (self.access, self.hint) = (access, hint)
        let common: [Route] = [
            .get("/healthz") { _ in .text("ok") },
            .get("/openapi.json") { query in
                WebAnswer(type: Representation.json.contentType, description).tagged(for: query.request)
            },
            .get("/v1/events", on: .memory, feed.events),
            .open("/assets/{name}") { query throws(Problem) in try Asset.answer(query["name"], query.request) },
        ]
        self.routes = common + routes
    }

    /// Returns the complete OpenAPI description of a server.
    ///
    /// - Parameter own: The description of the routes that only this server has. It is merged with `common.json`, which describes the
    ///   routes, answers and objects that all servers have.
    package static func description(_ own: [UInt8]) -> [UInt8] {
        guard let common = JSONValue(PackageResources.common_json), let own = JSONValue(own) else { return own }
        return Array(common.merging(own).encoded.utf8)
    }

    /// Returns the queue of a request and the function that makes the answer. If the queue is nil, the function does not block.
    package func resolve(_ request: WebRequest) -> (queue: AnswerQueue?, answer: @Sendable () -> WebAnswer) {
        var request = request
        request.remove(basePath: access.basePath)
        if request.peer == .open, request.path.isEmpty { request.path = ["status"] }
        return resolve(local: request)
    }

    private func resolve(local request: WebRequest) -> (queue: AnswerQueue?, answer: @Sendable () -> WebAnswer) {
        let matches = routes.compactMap { route in
            let isServed = request.peer != .open || route.access == .everyone
            return (isServed ? route.values(in: request.path) : nil).map { (route: route, values: $0) }
        }
        let method = request.method == .HEAD ? .GET : request.method
        let match = matches.first { $0.route.method == method }
        return (
            match?.route.queue,
            {
                do throws(Problem) {
                    var request = request
                    if match?.route.access == .pusher {
                        try access.admitPush(&request)
                    } else if request.peer != .open, match?.route.access != .everyone {
                        try access.admit(&request, isPage: matches.contains { $0.route.access == .page })
                    }
                    guard let match else { return try unmatched(request, matches.map(\.route)) }
                    if match.route.access == .administrator { try AccessRules.checkAdministrator(request) }
                    return try match.route.handler(Query(request, match.values))
                } catch {
                    return error.answer(as: Representation(of: request))
                }
            }
        )
    }

    /// Returns the answer to a request on the calling thread.
    package func answer(to request: WebRequest) -> WebAnswer { resolve(request).answer() }

    /// Answers a request that matches no route.
    private func unmatched(_ request: WebRequest, _ routes: [Route]) throws(Problem) -> WebAnswer {
        let path = "/" + request.path.joined(separator: "/")
        if routes.isEmpty {
            throw Problem(
                .notFound,
                "\(path.printable) does not exist; \(request.peer == .open ? "/status does" : hint)"
            )
        }
        let methods = routes.flatMap { $0.method == .GET ? ["GET", "HEAD"] : [$0.method.rawValue] } + ["OPTIONS"]
        let allow = (name: "Allow", value: methods.joined(separator: ", "))
        guard request.method == .OPTIONS else {
            throw Problem(.methodNotAllowed, "\(path) supports \(allow.value)", headers: [allow])
        }
        var answer = WebAnswer(.noContent)
        answer.headers.append(allow)
        return answer
    }
}

extension JSONValue {
    /// Returns the object merged with another one, recursively. The members of the other one take precedence.
    fileprivate func merging(_ other: JSONValue) -> JSONValue {
        guard case .object(let members) = self, case .object(let others) = other else { return other }
        return .object(members.merging(others) { $0.merging($1) })
    }

    fileprivate var encoded: String {
        switch self {
        case .object(let members):
            let pairs = members.sorted { $0.key < $1.key }.map { "\(JSONValue.string($0).encoded):\($1.encoded)" }
            return "{" + pairs.joined(separator: ",") + "}"
        case .array(let values): return "[" + values.map(\.encoded).joined(separator: ",") + "]"
        case .string(let text):
            var object = JSONObject()
            object.add("", text)
            return String(object.description.dropFirst(#"{"":"#.count).dropLast())
        case .number(let text): return text
        case .bool(let truth): return truth ? "true" : "false"
        case .null: return "null"
        }
    }
}
