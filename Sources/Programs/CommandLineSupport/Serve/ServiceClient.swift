import LinuxPrimitives

/// Asks a service over its Unix socket, and prints what it tells.
package struct ServiceClient {
    private let service: ServiceSocket
    private let socket: String
    private let json: Bool

    package init(_ options: ServiceOptions, of service: ServiceSocket = .service) {
        self.init(socket: options.socket, json: options.json, of: service)
    }

    /// - Parameter named: The path of the socket; nil for the usual one.
    package init(socket named: String?, json: Bool, of service: ServiceSocket = .service) {
        (self.service, self.json) = (service, json)
        socket = named ?? service.usual
    }

    /// Prints a list, page after page.
    package func printList(_ target: String) throws(ExitMessage) {
        var next: String? = target
        while let target = next {
            let answer = try get(target)
            next = answer.next
            if !Self.write(answer.body) { return }
        }
    }

    /// The lines of one page.
    package func lines(_ target: String) throws(ExitMessage) -> [String] {
        String(decoding: try get(target).body, as: UTF8.self).split(at: "\n").map(String.init)
    }

    /// Prints one thing.
    package func printOne(_ target: String) throws(ExitMessage) {
        Self.write(try get(target).body)
    }

    /// Lets the service read its configuration again, and prints what it says to that.
    ///
    /// - Throws: ``ExitMessage`` with what is wrong in it, each problem told before on standard error.
    package func reload() throws(ExitMessage) {
        let answer = try ask("POST", "/v1/reload", "Content-Length: 0\r\n")
        switch answer.status {
        case 200: Self.write(answer.body)
        case 403: throw ExitMessage(answer.complaint, .noPermission)
        case 422:
            let lines = String(decoding: answer.body, as: UTF8.self).split(at: "\n")
            for line in lines.dropLast() { StandardError.write(String(line)) }
            throw ExitMessage(lines.last.map(String.init) ?? "the configuration is not applied", .configuration)
        default: throw ExitMessage(answer.complaint, .unavailable)
        }
    }

    /// Has something taken away.
    ///
    /// - Throws: ``ExitMessage`` where there is no such thing, or this user may not.
    package func delete(_ target: String) throws(ExitMessage) {
        let answer = try ask("DELETE", target)
        switch answer.status {
        case 200: Self.write(answer.body)
        case 204: return
        case 400, 404: throw ExitMessage(answer.complaint, .usage)
        case 403: throw ExitMessage(answer.complaint, .noPermission)
        default: throw ExitMessage(answer.complaint, .unavailable)
        }
    }

    /// - Returns: Whether anybody reads.
    @discardableResult
    private static func write(_ text: [UInt8]) -> Bool {
        let lines = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for line in lines.last?.isEmpty == true ? lines.dropLast() : lines[...] {
            if !StandardOutput.write(Array(line)) { return false }
        }
        return true
    }

    private func get(_ target: String) throws(ExitMessage) -> ServiceAnswer {
        let answer = try ask("GET", target)
        switch answer.status {
        case 200: return answer
        case 400, 404: throw ExitMessage(answer.complaint, .usage)
        default: throw ExitMessage(answer.complaint, .unavailable)
        }
    }

    private func ask(_ method: String, _ target: String, _ fields: String = "") throws(ExitMessage) -> ServiceAnswer {
        let accept = json ? "application/jsonl" : "text/plain"
        let request =
            "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\nAccept: \(accept)\r\nConnection: close\r\n\(fields)\r\n"
        let bytes: [UInt8]
        do {
            bytes = try LocalSocket.exchange(
                Array(request.utf8),
                with: socket,
                limit: 256 << 20,
                patience: .seconds(30)
            )
        } catch {
            throw message(error)
        }
        guard let answer = ServiceAnswer(bytes) else {
            throw ExitMessage("what listens at \(socket.printable) is no service of reachability", .unavailable)
        }
        return answer
    }

    private func message(_ error: SystemError) -> ExitMessage {
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
