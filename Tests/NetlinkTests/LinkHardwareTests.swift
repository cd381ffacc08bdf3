import Foundation
import LinuxSupport
import NetworkLab
import Testing

@testable import Netlink

/// What devices of the real kernel tell of themselves.
@Suite struct LinkHardwareTests {
    @Test func `loopback has no hardware`() throws {
        let sockets = try RouteSockets()
        let link = try #require(try sockets.answer(to: .link(1)).link)
        let hardware = try sockets.answer(to: .hardware(link)).hardware
        #expect(hardware.wireless == nil)
        #expect(hardware.deviceType == nil)
    }

    @Test func `a link that is not there tells nothing`() throws {
        let sockets = try RouteSockets()
        for name in ["gone0", "", "../lo", String(repeating: "x", count: 300), "\u{0}"] {
            let link = Link(index: 4_000_000_000, name: name, flags: [])
            #expect(try sockets.answer(to: .hardware(link)).hardware == LinkHardware())
        }
    }

    @Test(.enabled(if: TestNamespace.isPermitted && TunCable.isPermitted))
    func `devices of another namespace answer to any thread`() throws {
        let namespace = try TestNamespace(
            "ip link add v0 type veth peer name v1; ip tuntap add mode tun t0; ip link add b0 type bridge"
        )
        let sockets = try namespace.routeSockets()
        for (name, driver) in [("v0", "veth"), ("t0", "tun"), ("b0", "bridge")] {
            let link = try #require(try sockets.answer(to: .linkNamed(name)).link)
            #expect(try sockets.answer(to: .hardware(link)).hardware == LinkHardware(driver: driver))
        }
        // Inside the namespace no thread has to be moved; the answers are the same.
        let inside = try NamespaceEntry.ask(inside: NamespaceReference(path: namespace.path)) {
            _ throws(NetlinkError) in
            let sockets = try RouteSockets()
            return try sockets.answer(to: .links).links.map { link throws(NetlinkError) in
                try sockets.answer(to: .hardware(link)).hardware
            }
        }
        #expect(Set(inside.map(\.driver)).isSuperset(of: ["veth", "tun", "bridge"]))
    }

    @Test(.enabled(if: TestNamespace.isPermitted))
    func `asking leaves two sockets in the namespace and no descriptor of it`() throws {
        let namespace = try TestNamespace("ip link add v0 type veth peer name v1")
        let sockets = try namespace.routeSockets()
        for link in try sockets.answer(to: .links).links { _ = try sockets.answer(to: .hardware(link)).hardware }
        let identity = try NamespaceIdentity(path: namespace.path)
        let files = openFiles()
        // Not whatever is open there: a child that another test starts holds all of this process until it runs its file.
        #expect(try namespace.sockets().count { files.contains("socket:[\($0.inode)]") } == 2)
        #expect(!files.contains("net:[\(identity.inode)]"))
        #expect(sockets.events.descriptor >= 0)
    }

    @Test(.enabled(if: TestNamespace.isPermitted))
    func `an answer is remembered until the name changes`() throws {
        let namespace = try TestNamespace("ip link add v0 type veth peer name v1")
        let sockets = try namespace.routeSockets()
        var link = try #require(try sockets.answer(to: .linkNamed("v0")).link)
        #expect(try sockets.answer(to: .hardware(link)).hardware.driver == "veth")
        try namespace.run("ip link delete v0")
        #expect(try sockets.answer(to: .hardware(link)).hardware.driver == "veth")
        link.name = "v2"
        #expect(try sockets.answer(to: .hardware(link)).hardware.driver == nil)
    }

    @Test(.enabled(if: TestNamespace.isPermitted))
    func `the real sysfs is believed only for its own devices`() throws {
        let namespace = try TestNamespace(
            "mount -t sysfs sysfs /sys; ip link add b0 type bridge; ip link add v0 type veth"
        )
        let sockets = try namespace.routeSockets()
        var bridge = try #require(try sockets.answer(to: .linkNamed("b0")).link)
        #expect(DeviceType.verified(of: bridge, in: namespace.sysfs) == "bridge")
        #expect(DeviceType.verified(of: bridge) == nil)
        bridge.hardwareAddress[5] ^= 1
        #expect(DeviceType.verified(of: bridge, in: namespace.sysfs) == nil)
        let pair = try #require(try sockets.answer(to: .linkNamed("v0")).link)
        #expect(DeviceType.verified(of: pair, in: namespace.sysfs) == nil)
    }

    private func openFiles() -> [String] {
        let directory = "/proc/self/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(directory)/\($0)") }
    }
}
