import CNetworkLab
import Glibc
import LinuxSupport

/// A DNS server in a namespace, on UDP and TCP port 53, with a behaviour that may be faulty. The names of its zone
/// and `ipv4only.arpa` exist, all others do not.
///
/// Thread-safe. Its sockets are used by a separate thread.
package final class NameServer: Sendable {
    /// A received question.
    package struct Question: Hashable, Sendable {
        /// The name in lower case, without a trailing dot.
        package let name: String
        /// The type: 1 for A, 28 for AAAA.
        package let type: UInt16
        package let isStream: Bool
    }

    package static let port: UInt16 = 53
    /// The well-known name with fixed addresses (RFC 7050, section 8.2).
    static let known = ["ipv4only.arpa": ["192.0.0.170", "192.0.0.171"]]

    struct State {
        var zone: [String: [String]]
        var behaviour: Behaviour
        var exceptions: [String: Behaviour.Answer] = [:]
        var questions: [Question] = []
        /// The number of changes of the behaviour, and the number of the latest change in effect.
        var revision = 0
        var applied = -1
        var isStopping = false
        var failure: (any Error)?
    }

    private let state: Locked<State>
    /// Both ends of a pipe. They remain open while a thread may write.
    private let (wakened, waker): (LabDescriptor, LabDescriptor)
    private let thread = Locked<pthread_t?>(nil)

    /// Starts the server, and waits until it answers.
    ///
    /// - Parameters:
    ///   - addresses: Addresses of the namespace's interfaces. A link-local one has its zone, for example
    ///     `fe80::1%r0`.
    ///   - zone: The IPv4 and IPv6 addresses by name. A name may exist without an address.
    package init(
        in namespace: LabNamespace,
        at addresses: [String],
        zone: [String: [String]] = [:],
        _ behaviour: Behaviour = .well
    ) throws {
        var ends: [CInt] = [-1, -1]
        try check("pipe2", lab_pipe(&ends))
        let wakened = LabDescriptor(ends[0])
        (self.wakened, waker) = (wakened, LabDescriptor(ends[1]))
        try check("fcntl", lab_set_nonblocking(wakened.number))
        let state = Locked(State(zone: zone, behaviour: behaviour))
        self.state = state
        let thread = try LabThread.start {
            do {
                try namespace.enter()
                try NameService(addresses, state, wakened).run()
            } catch {
                state.withLock { $0.failure = error }
            }
        }
        self.thread.withLock { $0 = thread }
        try awaitEffect()
    }

    deinit {
        stop()
    }

    /// Stops the server, and closes its ports. Calling it twice has no effect. Blocks the thread.
    package func stop() {
        state.withLock { $0.isStopping = true }
        wake()
        if let thread = thread.withLock({ $0.take() }) { pthread_join(thread, nil) }
    }

    // MARK: Behaviour

    /// Changes the behaviour, including that of the ports. Blocks the thread until the change is in effect.
    ///
    /// - Parameter exceptions: The behaviour for single names.
    package func behave(_ behaviour: Behaviour, but exceptions: [String: Behaviour.Answer] = [:]) throws {
        state.withLock { state in
            state.behaviour = behaviour
            state.exceptions = exceptions
            state.revision += 1
        }
        wake()
        try awaitEffect()
    }

    private func wake() {
        _ = write(waker.number, [0], 1)
    }

    private func awaitEffect() throws {
        let isDone = try Deadline(after: .patience).poll(every: .milliseconds(1)) {
            try state.withLock { state in
                if let failure = state.failure { throw failure }
                return state.applied == state.revision
            }
        }
        guard isDone else { throw LabError("the name server has not applied its configuration") }
    }

    // MARK: Questions

    /// All questions since the start or the last `forgetQuestions()`.
    package var questions: [Question] { state.withLock { $0.questions } }

    package func forgetQuestions() {
        state.withLock { $0.questions = [] }
    }
}

extension NameServer {
    /// The behaviour of a name server for a question.
    package struct Behaviour: Equatable, Sendable {
        /// The content of an answer.
        package enum Answer: Equatable, Sendable {
            /// The addresses in the zone.
            case zone
            /// A response code without records, for example 2 for SERVFAIL (RFC 1035, section 4.1.1).
            case code(UInt8)
            /// No name exists according to a filter, with an extended error from 15 to 18 (EDE, RFC 8914).
            case blocked(UInt16)
            /// An unreadable answer: a record that ends before its data.
            case malformed
            /// An answer with another identifier than the question.
            case wrongIdentifier
            /// An answer to another name.
            case wrongQuestion
            /// The addresses in the zone, and these addresses for all other names.
            case invented([String])
            /// These addresses for all names, like the server of a captive portal.
            case portal([String])
        }

        /// The behaviour of a port.
        package enum Port: Equatable, Sendable {
            case open
            /// The port accepts data and answers nothing.
            case silent
            /// The port is closed, and the kernel rejects data.
            case closed
        }

        package var answer: Answer
        package var datagrams = Port.open
        package var streams = Port.open
        /// Whether an answer over UDP is only marked as truncated (TC).
        package var isTruncated = false
        /// The delay of each answer.
        package var delay = Duration.zero
        /// Whether questions with EDNS are refused (FORMERR).
        package var dislikesExtensions = false
        /// Whether the server offers no recursion (no RA).
        package var isAlone = false
        /// The datagrams before each answer over UDP, like those of an attacker.
        package var preface: [[UInt8]] = []
        /// Whether questions for IPv6 addresses are not answered.
        package var isDeafToIPv6 = false

        package init(_ answer: Answer = .zone) {
            self.answer = answer
        }

        private func changed(_ change: (inout Behaviour) -> Void) -> Behaviour {
            var other = self
            change(&other)
            return other
        }
    }
}

/// The behaviours of correct and faulty name servers.
extension NameServer.Behaviour {
    package static let well = NameServer.Behaviour()
    package static let serverFailure = NameServer.Behaviour(.code(2))
    package static let notImplemented = NameServer.Behaviour(.code(4))
    package static let refused = NameServer.Behaviour(.code(5))
    package static let malformed = NameServer.Behaviour(.malformed)
    package static let wrongIdentifier = NameServer.Behaviour(.wrongIdentifier)
    package static let wrongQuestion = NameServer.Behaviour(.wrongQuestion)
    package static let silent = well.changed { ($0.datagrams, $0.streams) = (.silent, .silent) }
    package static let closed = well.changed { ($0.datagrams, $0.streams) = (.closed, .closed) }
    /// A server that answers only over TCP.
    package static let streamsAlone = well.changed { $0.datagrams = .silent }
    package static let old = well.changed { $0.dislikesExtensions = true }
    package static let deafToIPv6 = well.changed { $0.isDeafToIPv6 = true }

    /// A server for which no name exists.
    package static let ignorant = NameServer.Behaviour(.code(3))
    /// A server without records and recursion.
    package static let alone = NameServer.Behaviour(.code(0)).changed { $0.isAlone = true }

    /// Returns the behaviour `well` with datagrams before each answer.
    package static func preceded(by datagrams: [UInt8]...) -> NameServer.Behaviour {
        well.changed { $0.preface = datagrams }
    }

    package static func truncated(streams: Port) -> NameServer.Behaviour {
        well.changed { ($0.isTruncated, $0.streams) = (true, streams) }
    }

    package static func slow(_ delay: Duration) -> NameServer.Behaviour { well.changed { $0.delay = delay } }

    package static func invents(_ addresses: String...) -> NameServer.Behaviour { .init(.invented(addresses)) }

    package static func portal(_ addresses: String...) -> NameServer.Behaviour { .init(.portal(addresses)) }

    /// - Parameter reason: The extended error, 15 to 18.
    package static func blocked(_ reason: UInt16) -> NameServer.Behaviour { .init(.blocked(reason)) }
}
