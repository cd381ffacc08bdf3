import CLinux
import CNetlink
import Dispatch
import Foundation
import Glibc
import LinuxSupport
import Netlink
import NetworkLab
import NetworkReachability
import Testing

/// The end of listeners and managers at unfavourable moments.
@Suite(.timeLimit(.minutes(15))) struct SurvivalEndingTests {
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
                    #expect(try await recorder.statuses(atLeast: 1) == [.reachable(.ethernetOrWiFi)])
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
