import CLinux
import CNetlink
import Dispatch
import Glibc
import NetworkLab
import NetworkReachability
import Testing

/// Netlink messages of other processes are counted and otherwise ignored.
@Suite(.timeLimit(.minutes(15))) struct SurvivalForeignTests {
    /// A route netlink socket beside those of the monitor.
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

        /// Sends a removal of a default route as only the kernel should, to a port or to groups.
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
        // The end of duplicate address detection may cause an evaluation in one round. Foreign messages would cause one in each.
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
        // The questions' socket got some too, and still finds its answers.
        #expect(manager.status == .reachable(.ethernetOrWiFi))
        try await network.setConnected(false)
        #expect(try await recorder.statuses(atLeast: 2).last == .notReachable)
    }
}
