import Glibc
import LinuxSupport
import NetworkReachability
import Testing

@testable import Netlink
@testable import ReachabilityService

/// The search in `/proc` for the process behind a netlink port ID.
@Suite struct ProcessSearchTests {
    private let search = ProcessSearch(clock: SystemMonitorClock())

    private func removal(_ port: UInt32, noticed: Duration = SystemClock.monotonic) -> Removal {
        Removal(port: port, namespace: .current, noticed: noticed)
    }

    /// Returns sockets of this process, keyed by the port ID that libnl assigned.
    private func sockets() throws -> [UInt32: EventSocket] {
        let sockets = try (0..<64).map { _ in try EventSocket() }
        return Dictionary(uniqueKeysWithValues: sockets.map { ($0.socket.port, $0) })
    }

    @Test func `a process is found by sockets whose port contains its process id`() throws {
        let sockets = try sockets()
        for port in sockets.keys {
            let found = search.process(behind: removal(port))
            #expect(found?.id == (port < 1 << 31 ? getpid() : nil), "\(port)")
            #expect(found?.program.isEmpty != true)
        }
        #expect(sockets.keys.contains { $0 < 1 << 31 } && sockets.keys.contains { $0 >= 1 << 31 })
    }

    @Test func `a process that started after the change is not returned`() throws {
        let sockets = try sockets()
        let start = try #require(ProcessStart.boot) - (SystemClock.boot - SystemClock.monotonic)
        for port in sockets.keys {
            #expect(search.process(behind: removal(port, noticed: start - .seconds(1))) == nil)
        }
    }

    @Test func `no process is found for a port without a socket`() throws {
        let ports = try sockets().keys.filter { $0 < 1 << 31 }
        // Sockets of other tests may use some of these ports again, but not all of them.
        #expect(ports.contains { search.process(behind: removal($0)) == nil })
        for port in [0, 1 << 22, 0x8000_0001, UInt32.max] { #expect(search.process(behind: removal(port)) == nil) }
    }

    @Test(arguments: [
        ("0::/system.slice/openvpn@site.service\n", "openvpn@site.service"),
        ("0::/system.slice/docker-3f.scope/init\n", "docker-3f.scope"),
        ("0::/user.slice/user-0.slice/user@0.service/app.slice/vpn.service\n", "vpn.service"),
        ("9:cpu:/\n1:name=systemd:/system.slice/a.service\n0::/\n", "a.service"),
        ("0::/a:b.service/x\n", "a:b.service"), ("0::/\n", nil), ("0::/user.slice\n", nil), ("", nil), ("0::", nil),
        (":::\n::\n", nil),
    ])
    func `the unit is the innermost control group with a unit name`(groups: String, unit: String?) {
        #expect(ActingProcess.unit(inGroups: groups) == unit)
    }
}
