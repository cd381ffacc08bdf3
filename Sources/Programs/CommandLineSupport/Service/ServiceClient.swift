package import LinuxSupport

/// Sends requests to a service over its Unix socket or over HTTP, and prints the answers.
package struct ServiceClient {
    private enum Place {
        case socket(String)
        /// With the field that has a token.
        case url(ServiceURL, authorization: String)
    }

    /// The size of a page.
    private static let pageLimit = 1000
    private static let answerLimit = 256 << 20
    private static let patience = Duration.seconds(30)

    private let service: ServiceSocket
    private let place: Place
    private var json = false
    private var utc = false

    /// - Throws: ``ExitMessage`` for a URL or a token that cannot be used.
    package init(_ options: ServiceOptions, of service: ServiceSocket = .service) throws(ExitMessage) {
        let place = options.place
        try self.init(socket: place.socket, url: place.url, tokenFile: place.tokenFile, of: service)
        (json, utc) = (options.json, options.utc)
    }

    /// - Parameters:
    ///   - socket: The path of the socket; nil for the default.
    ///   - url: The URL that replaces the socket.
    ///   - tokenFile: The file with the token for the URL.
    /// - Throws: ``ExitMessage`` for a URL or a token that cannot be used.
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
            throw ExitMessage("the first line of \(file.printable) is not a token", .usage)
        }
        return String(token)
    }

    /// Prints a list, page after page.
    ///
    /// - Parameter limit: The maximum number of items.
    package func printList(_ path: String, _ query: [(String, String)] = [], limit: Int = .max) throws(ExitMessage) {
        let pairs = [("limit", "\(min(limit, Self.pageLimit))")] + query
        var next: String? = path + "?" + pairs.map { "\($0)=\($1.percentEncoded)" }.joined(separator: "&")
        var rest = limit
        while let target = next, rest > 0 {
            let answer = try get(target)
            next = answer.next
            // Each item is a line.
            let lines = answer.body.split(separator: UInt8(ascii: "\n")).prefix(rest)
            rest -= lines.count
            for line in lines { if !write(line: Array(line)) { return } }
        }
    }

    /// The lines of one page.
    package func lines(_ target: String) throws(ExitMessage) -> [String] {
        String(decoding: try get(target).body, as: UTF8.self).split(at: "\n").map(String.init)
    }

    /// Prints one thing.
    package func printOne(_ target: String) throws(ExitMessage) {
        write(try get(target).body)
    }

    /// Lets the service read its configuration again, and prints the answer.
    ///
    /// - Throws: ``ExitMessage`` with the error in it, each problem printed before on standard error.
    package func reload() throws(ExitMessage) {
        let answer = try ask("POST", "/v1/reload")
        // Without a configuration there is nothing to read again.
        if answer.status == 409 { throw ExitMessage(answer.complaint, .unavailable) }
        guard answer.status == 422 else { return try finish(answer) }
        let lines = String(decoding: answer.body, as: UTF8.self).split(at: "\n")
        for line in lines.dropLast() { StandardError.write(String(line)) }
        throw ExitMessage(lines.last.map(String.init) ?? "the configuration is not applied", .configuration)
    }

    /// Changes something, and prints the answer.
    ///
    /// - Throws: ``ExitMessage`` if the service refuses it.
    package func change(_ method: String, _ target: String, _ body: JSONObject? = nil) throws(ExitMessage) {
        try finish(try ask(method, target, body?.bytes ?? []))
    }

    private func finish(_ answer: ServiceAnswer) throws(ExitMessage) {
        guard 200..<300 ~= answer.status else { throw refusal(answer) }
        if answer.status != 204 { write(answer.body) }
    }

    /// Prints bytes, line by line.
    private func write(_ text: [UInt8]) {
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for line in lines.last?.isEmpty == true ? lines.dropLast() : lines[...] {
            if !write(line: Array(line)) { return }
        }
    }

    /// - Returns: Whether the output is still read.
    private func write(line: [UInt8]) -> Bool {
        StandardOutput.write(json || utc ? line : Timestamp.localized(line))
    }

    private func get(_ target: String) throws(ExitMessage) -> ServiceAnswer {
        let answer = try ask("GET", target)
        guard answer.status == 200 else { throw refusal(answer) }
        return answer
    }

    private func refusal(_ answer: ServiceAnswer) -> ExitMessage {
        switch answer.status {
        case 400, 404, 409: ExitMessage(answer.complaint, .usage)
        case 401, 403: ExitMessage(answer.complaint, .noPermission)
        case 429: ExitMessage(answer.complaint, .temporaryFailure)
        default: ExitMessage(answer.complaint, .unavailable)
        }
    }

    private func ask(_ method: String, _ target: String, _ body: [UInt8] = []) throws(ExitMessage) -> ServiceAnswer {
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
            throw ExitMessage("what listens at \(name) is no service of reachability", .unavailable)
        }
        return answer
    }

    private func exchange(_ bytes: [UInt8], with url: ServiceURL) throws(ExitMessage) -> [UInt8] {
        let addresses: [NameLookup.Address]
        do throws(NameLookup.Failure) { addresses = try NameLookup.addresses(of: url.host) } catch {
            let reason = if case .unavailable(let text) = error { text } else { "the name has no address" }
            throw ExitMessage("cannot ask \(name): \(reason)", .unavailable)
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
            case .connectionRefused: throw ExitMessage("no service listens at \(name)", .unavailable)
            case .tryAgain: throw ExitMessage("the service at \(name) does not answer", .unavailable)
            default: throw ExitMessage("cannot ask \(name): \(error)", .unavailable)
            }
        }
    }

    /// The place of the service, for messages.
    private var name: String {
        switch place {
        case .socket(let path): path.printable
        case .url(let url, _): "http://\(url.authority)\(url.path)"
        }
    }

    private func message(_ error: SystemError, _ socket: String) -> ExitMessage {
        switch error {
        case .noEntry, .connectionRefused:
            let hint = "start one with `\(service.command)`, or name its socket with --socket"
            return ExitMessage("no service listens at \(socket.printable): \(hint)", .unavailable)
        case .accessDenied: return ExitMessage("cannot ask \(socket.printable): \(error)", .noPermission)
        case .tryAgain: return ExitMessage("the service at \(socket.printable) does not answer", .unavailable)
        default: return ExitMessage("cannot ask \(socket.printable): \(error)", .unavailable)
        }
    }
}

/// A request to the service.
package struct ServiceRequest {
    let method: String
    var target: String
    let accept: String
    var authority = "localhost"
    /// The whole field; empty for none.
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

    /// Sends the request to a Unix socket. Returns nil if the answer is not one of a service.
    package func answer(
        at socket: String,
        limit: Int,
        patience: Duration
    ) throws(SystemError) -> ServiceAnswer? {
        ServiceAnswer(try LocalSocket.exchange(bytes, with: socket, limit: limit, patience: patience))
    }
}

/// A parsed answer of the service.
package struct ServiceAnswer {
    package let status: Int
    package let body: [UInt8]
    /// The target of the next page of a list.
    package let next: String?

    /// Nil for bytes that are not a whole answer.
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
        // Without content there is no length (RFC 9110, section 15.3.5).
        let length = status == 204 ? 0 : fields["content-length"].flatMap { Int($0) }
        guard length == body.count else { return nil }
        next = fields["link"].flatMap { link in
            guard link.hasPrefix("<"), link.hasSuffix(">; rel=\"next\"") else { return nil }
            return link.dropFirst().unicodeScalars.firstIndex(of: ">").map { String(link[..<$0].dropFirst()) }
        }
    }

    /// The message of an error, as text or as JSON.
    package var complaint: String {
        let text = String(decoding: body, as: UTF8.self)
        return String(text.split(at: "\n").first ?? "the service answers with status \(status)")
    }
}
