import CommandLineSupport
import LinuxPrimitives

/// Asks the service over its Unix socket, and prints what it tells.
struct ServiceClient {
    private let socket: String
    private let json: Bool

    init(_ options: ServiceOptions) throws(ExitMessage) {
        json = options.json
        if let socket = options.socket {
            self.socket = socket
            return
        }
        // Root's service is for everybody; one's own comes first.
        let own = ServiceSocket.directory.map { ServiceSocket.path(in: $0) }
        let common = "/run/reachability/reachability.sock"
        let places = [own, common].compactMap(\.self)
        socket = places.first { (try? LocalSocket.occupant(of: $0)) == .served } ?? places[0]
    }

    /// Prints a list, page after page.
    func printList(_ target: String) throws(ExitMessage) {
        var next: String? = target
        while let target = next {
            let answer = try get(target)
            next = answer.next
            if !Self.write(answer.body) { return }
        }
    }

    /// Prints one thing.
    func printOne(_ target: String) throws(ExitMessage) {
        Self.write(try get(target).body)
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
        let accept = json ? "application/jsonl" : "text/plain"
        let request = "GET \(target) HTTP/1.1\r\nHost: localhost\r\nAccept: \(accept)\r\nConnection: close\r\n\r\n"
        let bytes: [UInt8]
        do {
            bytes = try LocalSocket.exchange(
                Array(request.utf8),
                with: socket,
                limit: 256 << 20,
                patience: .seconds(30)
            )
        } catch {
            throw Self.message(error, socket)
        }
        guard let answer = ServiceAnswer(bytes) else {
            throw ExitMessage("what listens at \(socket.printable) is no service of reachability", .unavailable)
        }
        switch answer.status {
        case 200: return answer
        case 400, 404: throw ExitMessage(answer.complaint, .usage)
        default: throw ExitMessage(answer.complaint, .unavailable)
        }
    }

    private static func message(_ error: SystemError, _ socket: String) -> ExitMessage {
        switch error {
        case .noEntry, .connectionRefused:
            let hint = "start one with `reachability serve`, or name its socket with --socket"
            return ExitMessage("no service listens at \(socket.printable): \(hint)", .unavailable)
        case .accessDenied: return ExitMessage("cannot ask \(socket.printable): \(error)", .noPermission)
        case .tryAgain: return ExitMessage("the service at \(socket.printable) does not answer", .unavailable)
        default: return ExitMessage("cannot ask \(socket.printable): \(error)", .unavailable)
        }
    }
}

/// An answer of the service, taken apart.
struct ServiceAnswer {
    let status: Int
    let body: [UInt8]
    /// Where the next page of a list is.
    let next: String?

    /// Nil for bytes that are no answer, or half of one.
    init?(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self).utf8
        guard let end = text.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: text[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        let words = lines.first?.split(separator: " ", maxSplits: 2) ?? []
        guard words.count > 1, words[0] == "HTTP/1.1", let status = Int(words[1]) else { return nil }
        var fields: [String: Substring] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            fields[line[..<colon].lowercased()] = line[line.index(after: colon)...].drop { $0 == " " }
        }
        self.status = status
        body = Array(text[end.upperBound...])
        guard let length = fields["content-length"].flatMap({ Int($0) }), length == body.count else { return nil }
        next = fields["link"].flatMap { link in
            guard link.hasPrefix("<"), link.hasSuffix(">; rel=\"next\"") else { return nil }
            return link.dropFirst().firstIndex(of: ">").map { String(link[..<$0].dropFirst()) }
        }
    }

    /// The sentence a problem says, as text or as JSON.
    var complaint: String {
        let text = String(decoding: body, as: UTF8.self)
        return String(text.split(separator: "\n").first ?? "the service answers with status \(status)")
    }
}
