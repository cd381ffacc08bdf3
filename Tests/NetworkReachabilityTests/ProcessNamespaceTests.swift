import Dispatch
import Glibc
import LinuxSupport
import NetworkLab
import NetworkReachabilityTesting
import Testing

@testable import NetworkReachability

/// The namespace of a process: `.process(pid)`.
@Suite struct ProcessNamespaceTests {
    /// A process in a separate namespace, which is kept alive only by the process and by watchers.
    private final class Resident: Sendable {
        let identifier: Int32
        private let isReaped = Locked(false)

        /// - Parameters:
        ///   - command: The command that the process runs.
        ///   - input: The standard input of the process.
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

        /// Ends the process. Its ID is not free before `reap()`.
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
    func `the end of the process releases the namespace permanently`(isReapedFirst: Bool) async throws {
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

    @Test func `the namespace is released without a listener`() async throws {
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

    @Test func `a process that moves to another namespace is followed at the next query`() async throws {
        let (uplink, witness) = try await Self.uplink()
        var ends: [CInt] = [-1, -1]
        #expect(pipe(&ends) == 0)
        // The shell waits for input, and then moves to a new namespace within the same process.
        let script = "read word; exec unshare --net sleep infinity"
        let resident = try await Resident(["sh", "-c", script], in: uplink.namespace, input: ends[0])
        close(ends[0])
        let manager = try NetworkReachabilityManager(options: resident.options)
        let recorder = AlamofireRecorder()
        manager.startListening(onQueue: DispatchQueue(label: "listener"), onUpdatePerforming: recorder.record)
        #expect(manager.isReachable)
        #expect(write(ends[1], "\n", 1) == 1)
        close(ends[1])
        try await waitUntil { manager.path.reason == .noInterface }
        #expect(try await recorder.isLast(.notReachable))
        uplink.namespace.close()
        #expect(try await Self.isFreed(witness))
        resident.end()
        #expect(try await recorder.isLast(.unknown))
        resident.reap()
    }

    @Test(arguments: [0, -1, Int32.max])
    func `an error reports that the process does not exist`(identifier: Int32) {
        var options = NetworkReachabilityOptions()
        options.networkNamespace = .process(identifier)
        let error = #expect(throws: NetworkReachabilityError.self) { try NetworkReachabilityManager(options: options) }
        #expect(error == .noSuchProcess(identifier))
        #expect(error?.description == "there is no process \(identifier)")
    }

    @Test(arguments: [(CInt(21), "CAP_SYS_ADMIN"), (19, "CAP_SYS_PTRACE")])
    func `the error names the missing capability`(number: CInt, name: String) async throws {
        let uplink = try await Uplink.make()
        let resident = try await Resident(in: uplink.namespace)
        let options = resident.options
        // A thread with fewer capabilities than the process needs CAP_SYS_PTRACE to inspect it.
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

/// Many namespaces in one process, none of which is kept alive by it.
@Suite struct ManyNamespacesTests {
    private let directory: NamespaceDirectory
    private let witness: LabNamespace

    init() async throws {
        directory = try NamespaceDirectory()
        witness = try await LabThread.detached { try LabNamespace() }
    }

    private func make(_ name: String) async throws -> WitnessedNamespace {
        try await LabThread.detached { [directory, witness] in
            try WitnessedNamespace(name, in: directory.path, witness: witness, mark: "w-\(name)")
        }
    }

    @Test func `twenty namespaces have separate results and changes`() async throws {
        var all: [(WitnessedNamespace, NetworkReachabilityManager, AlamofireRecorder)] = []
        for index in 0..<20 {
            let namespace = try await make("n\(index)")
            // Every other namespace begins without routes.
            if index % 2 == 1 { try await namespace.uplink.setConnected(false) }
            let manager = try NetworkReachabilityManager(options: namespace.options)
            let recorder = AlamofireRecorder()
            manager.startListening(onQueue: DispatchQueue(label: "listener"), onUpdatePerforming: recorder.record)
            all.append((namespace, manager, recorder))
        }
        func answer(_ index: Int) -> NetworkReachabilityStatus {
            index % 2 == 1 ? .notReachable : .reachable(.ethernetOrWiFi)
        }
        for (index, (_, manager, recorder)) in all.enumerated() {
            #expect(manager.status == answer(index))
            #expect(try await recorder.statuses(atLeast: 1) == [answer(index)])
        }
        for changed in [4, 7] {
            try await all[changed].0.uplink.setConnected(changed == 7)
            #expect(try await all[changed].2.statuses(atLeast: 2) == [answer(changed), answer(changed + 1)])
        }
        all[11].0.delete()
        #expect(try await all[11].2.statuses(atLeast: 2) == [.notReachable, .unknown])
        #expect(try await all[11].0.isFreed())
        for (index, (_, _, recorder)) in all.enumerated() where ![4, 7, 11].contains(index) {
            #expect(recorder.statuses == [answer(index)])
        }
        for (namespace, _, _) in all { namespace.delete() }
        for (namespace, manager, recorder) in all {
            #expect(try await recorder.isLast(.unknown))
            #expect(manager.path.reason == .namespaceGone)
            #expect(try await namespace.isFreed())
        }
    }

    @Test func `a namespace is released each time its name is deleted`() async throws {
        var namespace = try await make("again")
        let manager = try NetworkReachabilityManager(options: namespace.options)
        let recorder = AlamofireRecorder()
        manager.startListening(onQueue: DispatchQueue(label: "listener"), onUpdatePerforming: recorder.record)
        #expect(try await recorder.isLast(.reachable(.ethernetOrWiFi)))
        for round in 0..<20 {
            namespace.delete()
            if round % 2 == 0 { #expect(try await recorder.isLast(.unknown)) }
            let previous = namespace
            namespace = try await LabThread.detached { [directory, witness] in
                try WitnessedNamespace("again", in: directory.path, witness: witness, mark: "w-\(round)")
            }
            #expect(try await previous.isFreed())
            try await namespace.uplink.setConnected(false)
            #expect(try await recorder.isLast(.notReachable))
            try await namespace.uplink.setConnected(true)
            #expect(try await recorder.isLast(.reachable(.ethernetOrWiFi)))
        }
        namespace.delete()
        #expect(try await namespace.isFreed())
    }

    @Test func `a manager without a listener keeps no namespace alive`() async throws {
        let namespace = try await make("idle")
        let manager = try NetworkReachabilityManager(options: namespace.options)
        #expect(manager.isReachable)
        // The manager has listened and stopped.
        manager.startListening(onQueue: DispatchQueue(label: "listener")) { _ in }
        manager.stopListening()
        let other = try await make("idle-too")
        let asked = try NetworkReachabilityManager(options: other.options)
        #expect(asked.isReachable)
        for namespace in [namespace, other] {
            namespace.delete()
            #expect(try await namespace.isFreed())
        }
        #expect(manager.path.reason == .namespaceGone)
        #expect(asked.path.reason == .namespaceGone)
    }

    @Test func `a name is watched again after its directory was removed and created again`() async throws {
        let recorder = AlamofireRecorder()
        var namespace = try await make("back")
        let manager = try NetworkReachabilityManager(options: namespace.options)
        manager.startListening(onQueue: DispatchQueue(label: "listener"), onUpdatePerforming: recorder.record)
        for _ in 0..<3 {
            #expect(try await recorder.isLast(.reachable(.ethernetOrWiFi)))
            namespace.delete()
            directory.remove()
            #expect(try await recorder.isLast(.unknown))
            #expect(try await namespace.isFreed())
            directory.make()
            namespace = try await make("back")
        }
        namespace.delete()
    }
}

/// A thread may be in another namespace than the process. A manager that it creates belongs to the namespace of the
/// process. Each test has a separate process, because threads that Dispatch starts for such a manager would stay in the
/// thread's namespace.
@Suite struct ThreadNamespaceTests {
    @Test func `a manager uses the namespace of the process, whichever thread creates it`() async {
        await #expect(processExitsWith: .success) {
            let uplink = try await Uplink.make()
            let (inside, loopback) = try await uplink.namespace.perform {
                let manager = try NetworkReachabilityManager(host: "203.0.113.9", options: NetworkReachabilityOptions())
                let names = try NetworkReachabilityManager(host: "localhost", options: NetworkReachabilityOptions())
                return (manager.path, names.path)
            }
            let options = NetworkReachabilityOptions()
            let outside = try NetworkReachabilityManager(host: "203.0.113.9", options: options).path
            #expect(inside.isSame(as: outside))
            #expect(loopback.isSame(as: try NetworkReachabilityManager(host: "localhost", options: options).path))
            var there = NetworkReachabilityOptions()
            there.networkNamespace = .path(uplink.namespace.path)
            #expect(
                try NetworkReachabilityManager(host: "203.0.113.9", options: there).path.interface?.name
                    != inside.interface?.name
            )
        }
    }

    @Test func `a manager from a thread in another namespace shares the monitor of the process`() async {
        await #expect(processExitsWith: .success) {
            let uplink = try await Uplink.make()
            let inside = try await uplink.namespace.perform {
                try NetworkReachabilityManager(options: NetworkReachabilityOptions())
            }
            let outside = try NetworkReachabilityManager(options: NetworkReachabilityOptions())
            #expect(inside.record.monitor === outside.record.monitor)
            var there = NetworkReachabilityOptions()
            there.networkNamespace = .path(uplink.namespace.path)
            #expect(try NetworkReachabilityManager(options: there).record.monitor !== inside.record.monitor)
        }
    }
}
