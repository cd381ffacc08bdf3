package import LinuxSupport

/// Sends requests to a service over its Unix socket or over HTTP, and prints the responses.
package struct ServiceClient {
    private enum Place {
        case socket(String)
        /// A URL, and the `Authorization` header field or an empty text.
        case url(ServiceURL, authorization: String)
    }

    /// The maximum number of items per page.
    private static let pageLimit = 1000
    private static let answerLimit = 256 << 20
    private static let patience = Duration.seconds(30)

    private let service: ServiceSocket
    private let place: Place
    private var json = false
    private var utc = false

    /// - Throws: ``ExitMessage`` if the URL or the token is invalid.
    package init(_ options: ServiceOptions, of service: ServiceSocket = .service) throws(ExitMessage) {
        let place = options.place
        try self.init(socket: place.socket, url: place.url, tokenFile: place.tokenFile, of: service)
        (json, utc) = (options.json, options.utc)
    }

    /// - Parameters:
    ///   - socket: The path of the socket. If nil, the default socket.
    ///   - url: The URL to use in place of the socket.
    ///   - tokenFile: The file that contains the token for the URL.
    /// - Throws: ``ExitMessage`` if the URL or the token is invalid.
    package init(
        socket: String?,
        url: String?,
        tokenFile: String?,
        of service: ServiceSocket = .service
    ) throws(ExitMessage) {
        self.service = service
        guard let url else {
            place = .socket(socket ?? service.usual)
            return
        }
        let token = try tokenFile.map(Self.token)
        place = .url(try ServiceURL(url), authorization: token.map { "Authorization: Bearer \($0)\r\n" } ?? "")
    }

    private static func token(_ file: String) throws(ExitMessage) -> String {
        guard let text = TextFile.read(file) else {
            throw ExitMessage("cannot read \(file.printable): \(SystemError.current)", .usage)
        }
        let token = text.split(at: "\n").first ?? ""
        guard 1...1024 ~= token.utf8.count, token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
            let reason = "its first line is not 1 to 1024 printable ASCII characters without spaces"
            throw ExitMessage("cannot read a token from \(file.printable): \(reason)", .usage)
        }
        return String(token)
    }

    /// Requests all pages of a list, and prints the items.
    ///
    /// - Parameter limit: The maximum number of items to print.
    package func printList(_ path: String, _ query: [(String, String)] = [], limit: Int = .max) throws(ExitMessage) {
        let pairs = [("limit", "\(min(limit, Self.pageLimit))")] + query
        var next: String? = path + "?" + pairs.map { "\($0)=\($1.percentEncoded)" }.joined(separator: "&")
        var rest = limit
        while let target = next, rest > 0 {
            let answer = try get(target)
            next = answer.next.map { path + $0 }
            // Each item is a line.
            let lines = answer.body.split(separator: UInt8(ascii: "\n")).prefix(rest)
            rest -= lines.count
            for line in lines { if !write(line: Array(line)) { return } }
        }
    }

    /// Returns the lines of one page.
    package func lines(_ target: String) throws(ExitMessage) -> [String] {
        String(decoding: try get(target).body, as: UTF8.self).split(at: "\n").map(String.init)
    }

    /// Requests a document, and prints it without changes. Its times are not converted.
    package func printDocument(_ target: String) throws(ExitMessage) {
        write(try get(target).body, converting: false)
    }

    /// Requests a single object, and prints it.
    package func printOne(_ target: String) throws(ExitMessage) {
        write(try get(target).body)
    }

    /// Makes the service read its configuration again, and prints the response.
    ///
    /// - Throws: ``ExitMessage`` with the last configuration error. The other errors are printed on standard error before.
    package func reload() throws(ExitMessage) {
        let answer = try send("POST", "/v1/reload")
        // 409: the service was started without a configuration.
        if answer.status == 409 { throw ExitMessage(answer.errorMessage, .unavailable) }
        guard answer.status == 422 else { return try finish(answer) }
        let lines = String(decoding: answer.body, as: UTF8.self).split(at: "\n")
        for line in lines.dropLast() { StandardError.write(String(line)) }
        throw ExitMessage(lines.last.map(String.init) ?? "the configuration is not applied", .configuration)
    }

    /// Sends a request that changes something, and prints the response.
    ///
    /// - Throws: ``ExitMessage`` if the service refuses the request.
    package func change(_ method: String, _ target: String, _ body: JSONObject? = nil) throws(ExitMessage) {
        try finish(try send(method, target, body?.bytes ?? []))
    }

    private func finish(_ answer: ServiceAnswer) throws(ExitMessage) {
        guard 200..<300 ~= answer.status else { throw refusal(answer) }
        if answer.status != 204 { write(answer.body) }
    }

    /// Prints the bytes line by line, until the output is closed.
    ///
    /// - Parameter isConverting: Whether times are converted to local time.
    private func write(_ text: [UInt8], converting isConverting: Bool = true) {
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for line in lines.last?.isEmpty == true ? lines.dropLast() : lines[...] {
            if !(isConverting ? write(line: Array(line)) : StandardOutput.write(Array(line))) { return }
        }
    }

    /// Prints a line. Returns false if the output is closed.
    private func write(line: [UInt8]) -> Bool {
        StandardOutput.write(json || utc ? line : Timestamp.localized(line))
    }

    private func get(_ target: String) throws(ExitMessage) -> ServiceAnswer {
        let answer = try send("GET", target)
        guard answer.status == 200 else { throw refusal(answer) }
        return answer
    }

    private func refusal(_ answer: ServiceAnswer) -> ExitMessage {
        switch answer.status {
        case 400, 404, 409: ExitMessage(answer.errorMessage, .usage)
        case 401, 403: ExitMessage(answer.errorMessage, .noPermission)
        case 429: ExitMessage(answer.errorMessage, .temporaryFailure)
        default: ExitMessage(answer.errorMessage, .unavailable)
        }
    }

    private func send(_ method: String, _ target: String, _ body: [UInt8] = []) throws(ExitMessage) -> ServiceAnswer {
        var request = ServiceRequest(method, target, accept: json ? "application/jsonl" : "text/plain")
        request.body = body
        let answer: ServiceAnswer?
        switch place {
        case .socket(let path):
            do { answer = try request.answer(at: path, limit: Self.answerLimit, patience: Self.patience) } catch {
                throw message(error, path)
            }
        case .url(let url, let authorization):
            (request.authority, request.authorization) = (url.authority, authorization)
            request.target = url.path + target
            answer = ServiceAnswer(try exchange(request.bytes, with: url))
        }
        guard let answer else {
            throw ExitMessage("cannot query \(name): the response is not from a reachability service", .unavailable)
        }
        return answer
    }

    private func exchange(_ bytes: [UInt8], with url: ServiceURL) throws(ExitMessage) -> [UInt8] {
        let addresses: [NameLookup.Address]
        do throws(NameLookup.Failure) { addresses = try NameLookup.addresses(of: url.host) } catch {
            let reason = if case .unavailable(let text) = error { text } else { "the name has no address" }
            throw ExitMessage("cannot query \(name): \(reason)", .unavailable)
        }
        do throws(SystemError) {
            return try StreamExchange.exchange(
                bytes,
                with: addresses,
                port: url.port,
                limit: Self.answerLimit,
                patience: Self.patience
            )
        } catch {
            switch error {
            case .connectionRefused: throw ExitMessage("cannot query \(name): no service listens there", .unavailable)
            case .tryAgain: throw ExitMessage("cannot query \(name): the service does not answer", .unavailable)
            default: throw ExitMessage("cannot query \(name): \(error)", .unavailable)
            }
        }
    }

    /// The socket or URL of the service, for messages.
    private var name: String {
        switch place {
        case .socket(let path): path.printable
        case .url(let url, _): "http://\(url.authority)\(url.path)"
        }
    }

    private func message(_ error: SystemError, _ socket: String) -> ExitMessage {
        switch error {
        case .noEntry, .connectionRefused:
            let hint = "start one with `\(service.command)`, or name its socket with --socket or its address with --url"
            return ExitMessage("cannot query \(socket.printable): no service listens there; \(hint)", .unavailable)
        case .accessDenied: return ExitMessage("cannot query \(socket.printable): \(error)", .noPermission)
        case .tryAgain:
            return ExitMessage("cannot query \(socket.printable): the service does not answer", .unavailable)
        default: return ExitMessage("cannot query \(socket.printable): \(error)", .unavailable)
        }
    }
}

/// An HTTP request to the service.
package struct ServiceRequest {
    let method: String
    var target: String
    let accept: String
    var authority = "localhost"
    /// The complete `Authorization` header field with its line end; empty for none.
    var authorization = ""
    var body: [UInt8] = []

    package init(_ method: String, _ target: String, accept: String) {
        (self.method, self.target, self.accept) = (method, target, accept)
    }

    var bytes: [UInt8] {
        let length = method == "GET" ? "" : "Content-Length: \(body.count)\r\n"
        let fields = "\(authorization)Accept: \(accept)\r\nConnection: close\r\n\(length)"
        return Array("\(method) \(target) HTTP/1.1\r\nHost: \(authority)\r\n\(fields)\r\n".utf8) + body
    }

    /// Sends the request to a Unix socket. Returns nil if the response is not HTTP.
    package func answer(
        at socket: String,
        limit: Int,
        patience: Duration
    ) throws(SystemError) -> ServiceAnswer? {
        ServiceAnswer(try LocalSocket.exchange(bytes, with: socket, limit: limit, patience: patience))
    }
}

/// A parsed HTTP response of the service.
package struct ServiceAnswer {
    package let status: Int
    package let body: [UInt8]
    /// The query of the next page of a list, with its question mark; nil on the last page.
    package let next: String?

    /// Parses a response. Returns nil if the bytes are not a complete response.
    package init?(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self).utf8
        guard let end = text.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: text[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        let words = lines.first?.split(at: " ", maxSplits: 2) ?? []
        guard words.count > 1, words[0] == "HTTP/1.1", let status = Int(words[1]) else { return nil }
        var fields: [String: Substring] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.unicodeScalars.firstIndex(of: ":") else { return nil }
            fields[line[..<colon].lowercased()] = line[line.unicodeScalars.index(after: colon)...].drop { $0 == " " }
        }
        self.status = status
        body = Array(text[end.upperBound...])
        // A response with status 204 has no content and no length (RFC 9110, section 15.3.5).
        let length = status == 204 ? 0 : fields["content-length"].flatMap { Int($0) }
        guard length == body.count else { return nil }
        next = fields["link"].flatMap { link in
            guard link.hasPrefix("<"), link.hasSuffix(">; rel=\"next\"") else { return nil }
            return link.dropFirst().unicodeScalars.firstIndex(of: ">").map { String(link[..<$0].dropFirst()) }
        }
    }

    /// The error message of the response: its first line, or its status if the body is empty.
    package var errorMessage: String {
        let text = String(decoding: body, as: UTF8.self)
        return String(text.split(at: "\n").first ?? "the service responded with status \(status)")
    }
}
