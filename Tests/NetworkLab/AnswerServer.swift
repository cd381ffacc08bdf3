import LinuxSupport

/// A ``ScriptedServer`` whose replies are given as text and may be changed while it runs. It serves one request per connection.
package final class AnswerServer: Sendable {
    private let server: ScriptedServer
    private let answers: Locked<[String]>

    /// - Parameters:
    ///   - answers: One for each request; the last is repeated. Status, reason and header fields, as in `503 Busy\r\nRetry-After: 7`. An
    ///     empty one is no reply.
    ///   - isAway: Whether connections are refused until ``comeBack()``.
    package init(in namespace: LabNamespace? = nil, _ answers: String..., isAway: Bool = false) throws {
        let answers = Locked(answers)
        self.answers = answers
        server = try ScriptedServer(in: namespace, backlog: isAway ? .closed : .open) { _ in
            let answer = answers.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
            if answer.isEmpty { return .silence }
            return ScriptedReply(
                "HTTP/1.1 \(answer)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
                then: .close
            )
        }
    }

    /// Accepts connections from now on.
    package func comeBack() throws {
        try server.listen()
    }

    package var port: Int { server.port }

    package var url: String { server.url() }

    /// The requests with header fields and bodies.
    package var requests: [String] { server.requests }

    package func answer(_ answers: String...) {
        self.answers.withLock { $0 = answers }
    }
}
