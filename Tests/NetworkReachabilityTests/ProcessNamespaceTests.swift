import Dispatch
import Glibc
import LinuxSupport
import NetworkLab
import Testing

@testable import NetworkReachability

/// The namespace of a process: `.process(pid)`.
@Suite struct ProcessNamespaceTests {
    /// A process in a namespace of its own; nothing else but watchers keeps that alive.
    private final class Resident: Sendable {
        let identifier: Int32
        private let isReaped = Locked(false)

        /// - Parameters:
        ///   - command: what the process does there.
        ///   - input: its standard input.
        init(_ command: [String] = ["sleep", "infinity"], in namespace: LabNamespace, input: CInt = 0) async throws {
            identifier = try await namespace.perform {
                var identifier = pid_t()
                var arguments = command.map { strdup($0) } + [nil]
                defer { arguments.forEach { free($0) } }
                var actions = posix_spawn_file_actions_t()
                posix_spawn_file_actions_init(&actions)
                defer { posix_spawn_file_actions_destroy(&actions) }
                posix_spawn_file_actions_adddup2(&actions, input, 0)
                let code = posix_spawnp(&identifier, command[0], &actions, nil, &arguments, environ)
                guard code == 0 else { throw LabError.system("posix_spawn", code) }
                return identifier
            }
        }

        var options: NetworkReachabilityOptions {
            var options = NetworkReachabilityOptions()
            options.networkNamespace = .process(identifier)
            return options
        }

        /// Ends the process; its number is not free before `reap()`.
        func end() {
            if !isReaped.withLock({ $0 }) { kill(identifier, SIGKILL) }
        }

        func reap() {
            let wasReaped = isReaped.withLock { isReaped in
                defer { isReaped = true }
                return isReaped
            }
            if !wasReaped { waitpid(identifier, nil, 0) }
        }

        deinit {
            end()
            reap()
        }
    }

    private static func uplink() async throws -> (uplink: Uplink, witness: LabNamespace) {
        let (uplink, witness) = (try await Uplink.make(), try await LabThread.detached { try LabNamespace() })
        try await uplink.ip("link add inside type veth peer name outside netns \(witness.path)")
        return (uplink, witness)
    }

    private static func isFreed(_ witness: LabNamespace) async throws -> Bool {
        try await eventually {
            try await LabThread.detached { try witness.run("ip", ["link", "show", "dev", "outside"]).status != 0 }
        }
    }

    @Test(arguments: [true, false])
    func `its end lets the namespace go, at once and for ever`(isReapedFirst: Bool) async throws {
        let (uplink, witness) = try await Self.uplink()
        let resident = try await Resident(in: uplink.namespace)
        let manager = try NetworkReachabilityManager(options: resident.options)
        let idle = try NetworkReachabilityManager(host: "203.0.113.9", options: resident.options)
        let recorder = AlamofireRecorder()
        manager.startListening(onQueue: DispatchQueue(label: "listener"), onUpdatePerforming: recorder.record)
        #expect(try await recorder.statuses(atLeast: 1) == [.reachable(.ethernetOrWiFi)])
        try await uplink.setConnected(false)
        #expect(try await recorder.isLast(.notReachable))
        #expect(idle.path.reason == .noRoute)
        uplink.namespace.close()
        resident.end()
        if isReapedFirst { resident.reap() }
        #expect(try await recorder.isLast(.unknown))
        #expect(try await Self.isFreed(witness))
        for manager in [manager, idle] { #expect(manager.path.reason == .namespaceGone) }
        if !isReapedFirst { resident.reap() }
        #expect(recorder.statuses.suffix(1) == [.unknown])
        #expect(throws: NetworkReachabilityError.noSuchProcess(resident.identifier)) {
            try NetworkReachabilityManager(options: resident.options)
        }
    }

    @Test func `nobody need listen for that`() async throws {
        let (uplink, witness) = try await Self.uplink()
        let resident = try await Resident(in: uplink.namespace)
        let manager = try NetworkReachabilityManager(options: resident.options)
        #expect(manager.isReachable)
        uplink.namespace.close()
        resident.end()
        #expect(try await Self.isFreed(witness))
        resident.reap()
        withExtendedLifetime(manager) {}
    }

    @Test func `a process that moves is followed with the next question`() async throws {
        let (uplink, witness) = try await Self.uplink()
        var ends: [CInt] = [-1, -1]
        #expect(pipe(&ends) == 0)
        // The shell waits for its word, and then goes to a new namespace without becoming another process.
        let script = "read word; exec unshare --net sleep infinity"
        let resident = try await Resident(["sh", "-c", script], in: uplink.namespace, input: ends[0])
        close(ends[0])
        let manager = try NetworkReachabilityManager(options: resident.options)
        let recorder = AlamofireRecorder()
        manager.startListening(onQueue: DispatchQueue(label: "listener"), onUpdatePerforming: recorder.record)
        #expect(manager.isReachable)
        #expect(write(ends[1], "\n", 1) == 1)
        close(ends[1])
        #expect(try await eventually { manager.path.reason == .noInterface })
        #expect(try await recorder.isLast(.notReachable))
        uplink.namespace.close()
        #expect(try await Self.isFreed(witness))
        resident.end()
        #expect(try await recorder.isLast(.unknown))
        resident.reap()
    }

    @Test(arguments: [0, -1, Int32.max])
    func `there is no such process`(identifier: Int32) {
        var options = NetworkReachabilityOptions()
        options.networkNamespace = .process(identifier)
        let error = #expect(throws: NetworkReachabilityError.self) { try NetworkReachabilityManager(options: options) }
        #expect(error == .noSuchProcess(identifier))
        #expect(error?.description == "there is no process \(identifier)")
    }

    @Test(arguments: [(CInt(21), "CAP_SYS_ADMIN"), (19, "CAP_SYS_PTRACE")])
    func `the error names the capability that is missing`(number: CInt, name: String) async throws {
        let uplink = try await Uplink.make()
        let resident = try await Resident(in: uplink.namespace)
        let options = resident.options
        // Whoever has less than the process needs CAP_SYS_PTRACE to look at it.
        let error = await #expect(throws: NetworkReachabilityError.self) {
            try await LabThread.detached {
                try LabThread.run(withoutCapability: number) {
                    _ = try NetworkReachabilityManager(options: options)
                }
            }
        }
        guard case .capabilityRequired(name, let namespace, _, _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(namespace == "/proc/\(resident.identifier)/ns/net")
        #expect(error?.description.hasSuffix(" needs \(name)") == true)
    }
}
