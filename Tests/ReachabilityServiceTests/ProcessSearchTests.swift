import Glibc
import LinuxSupport
import NetworkReachability
import Testing

@testable import Netlink
@testable import ReachabilityService

/// Which process is behind a port, as `/proc` has it.
@Suite struct ProcessSearchTests {
    private let search = ProcessSearch(clock: SystemMonitorClock())

    private func removal(_ port: UInt32, noticed: Duration = SystemClock.monotonic) -> Removal {
        Removal(port: port, namespace: .current, noticed: noticed)
    }

    /// Sockets of this process, by ports; libnl gives them by its own rule.
    private func sockets() throws -> [UInt32: EventSocket] {
        let sockets = try (0..<64).map { _ in try EventSocket() }
        return Dictionary(uniqueKeysWithValues: sockets.map { ($0.socket.port, $0) })
    }

    @Test func `a process is found by those of its sockets that have its number`() throws {
        let sockets = try sockets()
        for port in sockets.keys {
            let found = search.process(behind: removal(port))
            #expect(found?.id == (port < 1 << 31 ? getpid() : nil), "\(port)")
            #expect(found?.program.isEmpty != true)
        }
        #expect(sockets.keys.contains { $0 < 1 << 31 } && sockets.keys.contains { $0 >= 1 << 31 })
    }

    @Test func `a process that began later is not the one`() throws {
        let sockets = try sockets()
        let start = try #require(ProcessStart.boot) - (SystemClock.boot - SystemClock.monotonic)
        for port in sockets.keys {
            #expect(search.process(behind: removal(port, noticed: start - .seconds(1))) == nil)
        }
    }

    @Test func `a port that no socket has any more is nobody's`() throws {
        let ports = try sockets().keys.filter { $0 < 1 << 31 }
        // A socket of another test may have one of them by now, but not all.
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
    func `the unit is the innermost one`(groups: String, unit: String?) {
        #expect(ActingProcess.unit(inGroups: groups) == unit)
    }
}
