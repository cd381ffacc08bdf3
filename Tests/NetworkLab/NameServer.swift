internal import CNetworkLab
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
        let isDone = try Deadline(after: .seconds(30)).poll(every: .milliseconds(1)) {
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
