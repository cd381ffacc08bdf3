import CNetworkLab
import Glibc
import LinuxSupport

/// A DNS server in a namespace, on UDP and TCP port 53, which does what tests want of it, also what no good server does. It knows the
/// names of its zone and `ipv4only.arpa`; all others do not exist.
///
/// Thread-safe. Its sockets belong to a thread of its own.
package final class NameServer: Sendable {
    /// A question that came.
    package struct Question: Hashable, Sendable {
        /// In small letters, without a dot at its end.
        package let name: String
        /// 1 for A, 28 for AAAA.
        package let type: UInt16
        package let isStream: Bool
    }

    package static let port: UInt16 = 53
    /// What everybody knows (RFC 7050, section 8.2).
    static let known = ["ipv4only.arpa": ["192.0.0.170", "192.0.0.171"]]

    struct State {
        var zone: [String: [String]]
        var behaviour: Behaviour
        var exceptions: [String: Behaviour.Answer] = [:]
        var questions: [Question] = []
        /// How often the behaviour was changed, and which change has taken effect.
        var revision = 0
        var applied = -1
        var isStopping = false
        var failure: (any Error)?
    }

    private let state: Locked<State>
    /// Both ends of a pipe, here as long as there may be somebody who writes.
    private let (wakened, waker): (LabDescriptor, LabDescriptor)
    private let thread = Locked<pthread_t?>(nil)

    /// Starts it, and waits until it can be asked.
    ///
    /// - Parameters:
    ///   - addresses: of interfaces of the namespace; a link-local one with its zone, `fe80::1%r0`.
    ///   - zone: IPv4 and IPv6 addresses by name; a name without an address exists all the same.
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

    /// Ends it; its ports are closed then. Doing it twice does nothing. Blocks.
    package func stop() {
        state.withLock { $0.isStopping = true }
        wake()
        if let thread = thread.withLock({ $0.take() }) { pthread_join(thread, nil) }
    }

    // MARK: What it does

    /// Changes what it does from now on, ports too. Blocks until that is so.
    ///
    /// - Parameter exceptions: what it says of single names instead.
    package func behave(_ behaviour: Behaviour, but exceptions: [String: Behaviour.Answer] = [:]) throws {
        state.withLock { state in
            state.behaviour = behaviour
            state.exceptions = exceptions
            state.revision += 1
        }
        wake()
        try awaitEffect()
    }

    /// Changes what it knows.
    package func setZone(_ zone: [String: [String]]) {
        state.withLock { $0.zone = zone }
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
        guard isDone else { throw LabError("the name server does not do as it was told") }
    }

    // MARK: What it was asked

    /// All questions since the start, or since they were forgotten.
    package var questions: [Question] { state.withLock { $0.questions } }

    package func forgetQuestions() {
        state.withLock { $0.questions = [] }
    }
}

extension NameServer {
    /// What a name server does with a question.
    package struct Behaviour: Equatable, Sendable {
        /// What it says, where it answers.
        package enum Answer: Equatable, Sendable {
            /// What its zone has.
            case zone
            /// A response code without records, for example 2 for SERVFAIL (RFC 1035, section 4.1.1).
            case code(UInt8)
            /// No name exists, and a filter says so: 15 to 18 (EDE, RFC 8914).
            case blocked(UInt16)
            /// What cannot be read: a record that ends before its data does.
            case malformed
            /// Of another number than the question's.
            case wrongIdentifier
            /// To another name than was asked for.
            case wrongQuestion
            /// What its zone has, and these addresses for each name that it does not have.
            case invented([String])
            /// These addresses for all names, as the server of a captive portal.
            case portal([String])
        }

        /// What becomes of those that want to talk.
        package enum Port: Equatable, Sendable {
            case open
            /// It takes everything, and answers nothing.
            case silent
            /// Nobody is there: the kernel says so.
            case closed
        }

        package var answer: Answer
        package var datagrams = Port.open
        package var streams = Port.open
        /// Over UDP it says that the answer is too long (TC), and gives none.
        package var isTruncated = false
        /// How long it takes for each answer.
        package var delay = Duration.zero
        /// It does not understand questions with EDNS (FORMERR).
        package var dislikesExtensions = false
        /// It asks nobody else, and says so (no RA).
        package var isAlone = false
        /// What comes before each answer over UDP, as from a stranger who guesses.
        package var preface: [[UInt8]] = []
        /// Questions for IPv6 addresses are not answered.
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

/// What is wrong with name servers in the world.
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
    /// UDP is silent, TCP answers.
    package static let streamsAlone = well.changed { $0.datagrams = .silent }
    package static let old = well.changed { $0.dislikesExtensions = true }
    package static let deafToIPv6 = well.changed { $0.isDeafToIPv6 = true }

    /// It knows no name at all.
    package static let ignorant = NameServer.Behaviour(.code(3))
    /// It has no records, and asks nobody for any.
    package static let alone = NameServer.Behaviour(.code(0)).changed { $0.isAlone = true }

    /// The same as `well`, behind a few bytes that anybody may have sent.
    package static func preceded(by datagrams: [UInt8]...) -> NameServer.Behaviour {
        well.changed { $0.preface = datagrams }
    }

    package static func truncated(streams: Port) -> NameServer.Behaviour {
        well.changed { ($0.isTruncated, $0.streams) = (true, streams) }
    }

    package static func slow(_ delay: Duration) -> NameServer.Behaviour { well.changed { $0.delay = delay } }

    package static func invents(_ addresses: String...) -> NameServer.Behaviour { .init(.invented(addresses)) }

    package static func portal(_ addresses: String...) -> NameServer.Behaviour { .init(.portal(addresses)) }

    /// - Parameter reason: 15 to 18.
    package static func blocked(_ reason: UInt16) -> NameServer.Behaviour { .init(.blocked(reason)) }
}
