import NetworkLab
import Testing

@testable import LinuxSupport
@testable import Netlink

/// Groups that the kernel refuses, as an older one does with those it does not have.
@Suite struct MulticastGroupTests {
    /// No kernel has so many groups of rtnetlink yet (RTNLGRP_MAX is 36 in Linux 6.1).
    private static func unknown(_ name: String) -> MulticastGroup { MulticastGroup(rawValue: 2000, name: name) }

    @Test func `one that may be missing is left out and told, and the others are joined`() throws {
        let namespace = try LabNamespace()
        defer { namespace.close() }
        let events = try namespace.perform { try EventSocket() }
        let groups = [Self.unknown("NEXTHOP")] + MulticastGroup.reachability
        #expect(try events.join(groups) == [Self.unknown("NEXTHOP")])
        try namespace.ip("link set lo up")
        #expect(events.drain().messages > 0)
    }

    @Test func `this kernel has all of them`() throws {
        let namespace = try LabNamespace()
        defer { namespace.close() }
        #expect(try namespace.perform { try EventSocket() }.join().isEmpty)
    }

    @Test func `without links nothing would be right`() throws {
        let namespace = try LabNamespace()
        defer { namespace.close() }
        let events = try namespace.perform { try EventSocket() }
        #expect(throws: NetlinkError("join netlink group 2000", .invalidArgument)) {
            try events.join([Self.unknown("LINK")])
        }
    }
}
