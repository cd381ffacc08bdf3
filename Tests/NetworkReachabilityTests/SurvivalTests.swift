import CLinux
import CNetlink
import Dispatch
import Foundation
import Glibc
import LinuxSupport
import Netlink
import NetworkLab
import NetworkReachability
import Synchronization
import Testing

/// The end of listeners and managers at unfavourable moments.
@Suite(.timeLimit(.minutes(15))) struct SurvivalEndingTests {
    /// Retains a manager until its listener releases it.
    private final class Holder: Sendable {
        let manager: Locked<NetworkReachabilityManager?> = Locked(nil)
        let calls = Atomic(0)

        func release() {
            let manager = manager.withLock { manager in
                defer { manager = nil }
                return manager
            }
            withExtendedLifetime(manager) {}
        }
    }

    @Test func `a listener can stop its own listening`() async throws {
        let network = try await AlamofireNetwork()
        for _ in 0..<200 {
            let manager = try #require(try await network.make { NetworkReachabilityManager(host: "203.0.113.9") })
            let recorder = AlamofireRecorder()
            manager.startListening(onQueue: DispatchQueue(label: "listener")) { [weak manager] status in
                manager?.stopListening()
                recorder.record(status)
            }
            #expect(try await recorder.statuses(atLeast: 1) == [.reachable(.ethernetOrWiFi)])
            #expect(!manager.isListening)
        }
        try await network.setConnected(false)
    }

    @Test func `a listener can release its manager`() async throws {
        let network = try await AlamofireNetwork()
        for index in 0..<200 {
            let holder = Holder()
            let manager = try await network.make {
                NetworkReachabilityManager(host: index % 2 == 0 ? "203.0.113.9" : "localhost")
            }
            weak let released = manager
            holder.manager.withLock { $0 = manager }
            try #require(manager).startListening(onQueue: DispatchQueue(label: "listener")) { _ in
                holder.release()
                holder.calls.add(1, ordering: .releasing)
            }
            _ = consume manager
            #expect(try await eventually(every: .milliseconds(1)) { released == nil })
            let isCalled = try await eventually(every: .milliseconds(1)) {
                holder.calls.load(ordering: .acquiring) == 1
            }
            #expect(isCalled)
        }
    }

    @Test func `a listener can restart its own listening`() async throws {
        let network = try await AlamofireNetwork()
        let manager = try #require(try await network.make { NetworkReachabilityManager() })
        let (first, second) = (AlamofireRecorder(), AlamofireRecorder())
        let queue = DispatchQueue(label: "listener")
        manager.startListening(onQueue: queue) { [weak manager] status in
            first.record(status)
            manager?.startListening(onQueue: queue, onUpdatePerforming: second.record)
        }
        #expect(try await second.statuses(atLeast: 1) == [.reachable(.ethernetOrWiFi)])
        try await network.setConnected(false)
        #expect(try await second.statuses(atLeast: 2).last == .notReachable)
        #expect(first.statuses == [.reachable(.ethernetOrWiFi)])
    }

    @Test func `a namespace can be deleted while managers listen`() async throws {
        let network = try await AlamofireNetwork()
        let name = "survival-\(UInt64.random(in: 0 ... .max))"
        let entry = try await LabThread.detached { try NamespaceName(name, for: network.uplink.namespace) }
        var options = NetworkReachabilityOptions()
        options.networkNamespace = .named(name)
        var listening: [(NetworkReachabilityManager, AlamofireRecorder)] = []
        for index in 0..<20 {
            let manager = try NetworkReachabilityManager(host: "203.0.113.\(index)", options: options)
            let recorder = AlamofireRecorder()
            manager.startListening(onQueue: DispatchQueue(label: "listener"), onUpdatePerforming: recorder.record)
            listening.append((manager, recorder))
        }
        for (_, recorder) in listening {
            #expect(try await recorder.statuses(atLeast: 1) == [.reachable(.ethernetOrWiFi)])
        }
        entry.remove()
        network.uplink.namespace.close()
        for (manager, recorder) in listening {
            #expect(try await recorder.statuses(atLeast: 2) == [.reachable(.ethernetOrWiFi), .unknown])
            #expect(manager.path.reason == .namespaceGone)
        }
    }

    @Test func `eight threads can start, stop and query under a flapping route`() async throws {
        let network = try await AlamofireNetwork()
        let hosts = ["203.0.113.9", "localhost", "2001:db8:9::9", nil]
        let managers = try await network.make {
            hosts.compactMap { $0.map { NetworkReachabilityManager(host: $0) } ?? NetworkReachabilityManager() }
        }
        let stress = SurvivalStress()
        try await withThrowingTaskGroup { group in
            for thread in 0..<8 {
                group.addTask { try await LabThread.detached { stress.run(managers, from: thread) } }
            }
            let deadline = Deadline(after: .seconds(2))
            while !deadline.hasPassed {
                try await network.setConnected(false)
                try await network.setConnected(true)
            }
            stress.end()
            try await group.waitForAll()
        }
        // Afterwards each manager still calls a listener.
        for manager in managers {
            let recorder = AlamofireRecorder()
            manager.startListening(onQueue: DispatchQueue(label: "after"), onUpdatePerforming: recorder.record)
            let isTold = try await eventually {
                recorder.statuses.last == .reachable(.ethernetOrWiFi)
            }
            #expect(isTold, "\(recorder.statuses)")
        }
        print("survival: \(stress.deliveries) deliveries in two seconds of stress")
    }
}

/// Netlink messages of other processes are counted and otherwise ignored.
@Suite(.timeLimit(.minutes(15))) struct SurvivalForeignTests {
    /// A route netlink socket in addition to those of the monitor.
    private final class Sender: @unchecked Sendable {
        private let socket: OpaquePointer

        init() throws {
            guard let socket = nl_socket_alloc(), nl_connect(socket, NETLINK_ROUTE) == 0 else {
                throw LabError("no netlink socket")
            }
            self.socket = socket
        }

        deinit {
            nl_socket_free(socket)
        }

        var port: UInt32 { nl_socket_get_local_port(socket) }

        /// Sends a removal of a default route, as only the kernel should do, to a port or to groups.
        func sendRemoval(toPort port: UInt32, groups: UInt32) -> Int {
            var message = [UInt8](repeating: 0, count: 28)
            message[0] = 28
            message[4] = UInt8(RTM_DELROUTE)
            message[16] = UInt8(AF_INET)
            var address = sockaddr_nl()
            address.nl_family = sa_family_t(AF_NETLINK)
            address.nl_pid = port
            address.nl_groups = groups
            return withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    sendto(
                        nl_socket_get_fd(socket),
                        message,
                        message.count,
                        0,
                        $0,
                        socklen_t(MemoryLayout<sockaddr_nl>.size)
                    )
                }
            }
        }
    }

    @Test func `messages of other processes are counted and ignored`() async throws {
        let network = try await AlamofireNetwork()
        let manager = try #require(try await network.make { NetworkReachabilityManager() })
        let recorder = AlamofireRecorder()
        manager.startListening(onQueue: DispatchQueue(label: "listener"), onUpdatePerforming: recorder.record)
        _ = try await recorder.statuses(atLeast: 1)
        // The end of duplicate address detection may cause an evaluation in one round. Foreign messages would cause one
        // in each.
        var isIgnored = false
        for _ in 0..<20 where !isIgnored {
            let before = manager.statistics
            let sent = try await network.uplink.namespace.perform {
                let sender = try Sender()
                let sockets = try ListedSocket.all()
                let ports = sockets.filter { $0.family == 0 && $0.port != 0 && $0.port != sender.port }.map(\.port)
                var sent = 0
                for _ in 0..<100 {
                    for port in ports where sender.sendRemoval(toPort: port, groups: 0) > 0 { sent += 1 }
                    // RTMGRP_IPV4_ROUTE
                    _ = sender.sendRemoval(toPort: 0, groups: 0x40)
                }
                return sent
            }
            #expect(sent >= 100)
            let isCounted = try await eventually {
                manager.statistics.foreignMessages >= before.foreignMessages + 100
            }
            try #require(isCounted, "\(manager.statistics)")
            let after = manager.statistics
            isIgnored = after.messages == before.messages && after.evaluations == before.evaluations
        }
        #expect(isIgnored, "\(manager.statistics)")
        #expect(recorder.statuses == [.reachable(.ethernetOrWiFi)])
        // The query socket received some of them too, and still finds its answers.
        #expect(manager.status == .reachable(.ethernetOrWiFi))
        try await network.setConnected(false)
        #expect(try await recorder.statuses(atLeast: 2).last == .notReachable)
    }
}

/// The cost of a long life. Each test has a separate process, because other tests would be measured too.
@Suite(.serialized, .timeLimit(.minutes(15))) struct SurvivalGrowthTests {
    @Test func `1,000 starts and stops leak nothing`() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let uplink = try await Uplink.make()
            let manager = try #require(try await uplink.namespace.asProcess { NetworkReachabilityManager() })
            let queue = DispatchQueue(label: "listener")
            func cycle(_ count: Int) async throws {
                for _ in 0..<count {
                    let recorder = AlamofireRecorder()
                    manager.startListening(onQueue: queue, onUpdatePerforming: recorder.record)
                    let told = try await recorder.statuses(atLeast: 1)
                    #expect(told == [.reachable(.ethernetOrWiFi)])
                    manager.stopListening()
                }
            }
            try await cycle(300)
            let before = SurvivalMeasure.now
            try await cycle(1000)
            let after = SurvivalMeasure.now
            survivalReport("1,000 cycles: \(before) -> \(after)")
            #expect(after.descriptors <= before.descriptors + 4)
            #expect(after.threads <= before.threads + 4)
            #expect(after.residentKilobytes <= before.residentKilobytes + 2048)
        }
        survivalPrint(result)
    }

    @Test func `500 listening managers share their resources and release them`() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let uplink = try await Uplink.make()
            func listen() async throws -> [(NetworkReachabilityManager, AlamofireRecorder)] {
                var listening: [(NetworkReachabilityManager, AlamofireRecorder)] = []
                let managers = try await uplink.namespace.asProcess {
                    (0..<500).map { index in
                        NetworkReachabilityManager(host: "203.0.113.\(index / 2)")
                    }
                }
                for manager in managers {
                    let recorder = AlamofireRecorder()
                    let manager = try #require(manager)
                    manager.startListening(
                        onQueue: DispatchQueue(label: "one", target: .global()),
                        onUpdatePerforming: recorder.record
                    )
                    listening.append((manager, recorder))
                }
                for (_, recorder) in listening { _ = try await recorder.statuses(atLeast: 1) }
                return listening
            }
            /// The life of 500 managers, and the resources that they use while they listen.
            func live() async throws -> SurvivalMeasure {
                let listening = try await listen()
                let during = SurvivalMeasure.now
                try await uplink.setConnected(false)
                for (_, recorder) in listening {
                    let told = try await recorder.statuses(atLeast: 2)
                    #expect(told == [.reachable(.ethernetOrWiFi), .notReachable])
                }
                try await uplink.setConnected(true)
                return during
            }
            // The first cycle initializes Dispatch and the allocator.
            _ = try await live()
            let before = SurvivalMeasure.now
            var during = before
            for _ in 0..<5 { during = try await live() }
            let after = SurvivalMeasure.now
            survivalReport("500 managers, five times: \(before) -> \(during) -> \(after)")
            #expect(during.descriptors <= before.descriptors + 12)
            #expect(during.threads <= before.threads + 12)
            #expect(after.descriptors <= before.descriptors + 4)
            #expect(after.residentKilobytes <= before.residentKilobytes + 4096)
        }
        survivalPrint(result)
    }

    @Test func `creating and releasing managers leaks nothing`() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let uplink = try await Uplink.make()
            func cycle(_ count: Int) async throws {
                try await uplink.namespace.asProcess {
                    for index in 0..<count {
                        let manager = NetworkReachabilityManager(host: index % 2 == 0 ? "203.0.113.9" : "localhost")
                        #expect(manager?.status == .reachable(.ethernetOrWiFi))
                    }
                }
            }
            try await cycle(300)
            let before = SurvivalMeasure.now
            try await cycle(1000)
            // Threads of the resolver may still be ending.
            let isBack = try await eventually {
                let now = SurvivalMeasure.now
                return now.descriptors <= before.descriptors + 4 && now.threads <= before.threads + 4
            }
            let after = SurvivalMeasure.now
            survivalReport("1,000 managers one by one: \(before) -> \(after)")
            #expect(isBack)
            #expect(after.residentKilobytes <= before.residentKilobytes + 2048)
        }
        survivalPrint(result)
    }
}

/// The resources of this process according to /proc.
struct SurvivalMeasure: CustomStringConvertible {
    let descriptors: Int
    let threads: Int
    let residentKilobytes: Int

    static var now: SurvivalMeasure {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        func number(_ name: String) -> Int {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") } ?? ""
            return Int(line.filter(\.isNumber)) ?? 0
        }
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
        return SurvivalMeasure(
            descriptors: descriptors,
            threads: number("Threads"),
            residentKilobytes: number("VmRSS")
        )
    }

    var description: String { "\(descriptors) descriptors, \(threads) threads, \(residentKilobytes) kB" }
}

/// Reports a figure from the process of an exit test. `survivalPrint` prints it.
func survivalReport(_ text: String) {
    FileHandle.standardError.write(Data("survival: \(text)\n".utf8))
}

/// Prints the report of the process of an exit test.
func survivalPrint(_ result: ExitTest.Result?) {
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    for line in text.split(separator: "\n") where line.hasPrefix("survival: ") { print(line) }
}

/// Threads that perform all operations on managers as fast as possible until they are ended.
final class SurvivalStress: Sendable {
    private let isOver = Atomic(false)
    private let delivered = Atomic(0)

    var deliveries: Int { delivered.load(ordering: .relaxed) }

    func end() {
        isOver.store(true, ordering: .relaxed)
    }

    /// Runs on a new thread.
    func run(_ managers: [NetworkReachabilityManager], from start: Int) {
        let queue = DispatchQueue(label: "stress", target: .global())
        var round = start
        while !isOver.load(ordering: .relaxed) {
            let manager = managers[round % managers.count]
            manager.startListening(onQueue: queue) { [weak self] _ in self?.delivered.add(1, ordering: .relaxed) }
            if round % 3 == 0 { _ = manager.status }
            let token = manager.addListener(onQueue: queue) { [weak self] _ in
                self?.delivered.add(1, ordering: .relaxed)
            }
            if round % 2 == 0 { manager.stopListening() }
            token.cancel()
            round += 1
        }
        // A thread that ends does not stop managers that other threads may still use.
        queue.sync {}
    }
}
