import CLinux
import Foundation
import LinuxSupport
import NetworkLab
import Testing

@testable import Netlink

/// The properties of devices of the real kernel.
@Suite struct LinkHardwareTests {
    @Test func `loopback has no hardware`() throws {
        let sockets = try RouteSockets()
        let link = try #require(try sockets.answer(to: .link(1)).link)
        let hardware = try sockets.answer(to: .hardware(link)).hardware
        #expect(hardware.wireless == nil)
        #expect(hardware.deviceType == nil)
    }

    @Test func `a link that does not exist has no hardware`() throws {
        let sockets = try RouteSockets()
        for name in ["gone0", "", "../lo", String(repeating: "x", count: 300), "\u{0}"] {
            let link = Link(index: 4_000_000_000, name: name, flags: [])
            #expect(try sockets.answer(to: .hardware(link)).hardware == LinkHardware())
        }
    }

    @Test(.enabled(if: TestNamespace.isPermitted && TunCable.isPermitted))
    func `devices of another namespace can be queried from any thread`() throws {
        let namespace = try TestNamespace(
            "ip link add v0 type veth peer name v1; ip tuntap add mode tun t0; ip link add b0 type bridge"
        )
        let sockets = try namespace.routeSockets()
        for (name, driver) in [("v0", "veth"), ("t0", "tun"), ("b0", "bridge")] {
            let link = try #require(try sockets.answer(to: .linkNamed(name)).link)
            #expect(try sockets.answer(to: .hardware(link)).hardware == LinkHardware(driver: driver))
        }
        // Inside the namespace no other thread is needed. The answers are the same.
        let inside = try NamespaceEntry.query(inside: NamespaceReference(path: namespace.path)) {
            _ throws(NetlinkError) in
            let sockets = try RouteSockets()
            return try sockets.answer(to: .links).links.map { link throws(NetlinkError) in
                try sockets.answer(to: .hardware(link)).hardware
            }
        }
        #expect(Set(inside.map(\.driver)).isSuperset(of: ["veth", "tun", "bridge"]))
    }

    @Test(.enabled(if: TestNamespace.isPermitted))
    func `queries leave only two sockets in the namespace`() throws {
        let namespace = try TestNamespace("ip link add v0 type veth peer name v1")
        let sockets = try namespace.routeSockets()
        for link in try sockets.answer(to: .links).links { _ = try sockets.answer(to: .hardware(link)).hardware }
        let identity = try NamespaceIdentity(path: namespace.path)
        let files = openFiles()
        // Not all open sockets: a child process of another test holds those of this process until it executes its
        // program.
        #expect(try namespace.sockets().count { files.contains("socket:[\($0.inode)]") } == 2)
        #expect(!files.contains("net:[\(identity.inode)]"))
        #expect(sockets.events.descriptor >= 0)
    }

    @Test(.enabled(if: TestNamespace.isPermitted))
    func `an answer is cached until the name changes`() throws {
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
    func `the real sysfs is used only for its own devices`() throws {
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

/// Valid and invalid data of generic netlink and sysfs.
@Suite struct HardwareDecodingTests {
    @Test func `generic netlink families are found by name`() throws {
        let socket = try GenericSocket()
        #expect(try socket.family(named: "nlctrl") == .genericController)
        #expect(try socket.family(named: "no such family") == nil)
        #expect(try socket.wirelessRole(ofInterface: 1) == nil)
    }

    @Test func `the role of a Wi-Fi interface is decoded`() {
        let body = wirelessBody(index: 3, role: 3)
        #expect(role(body, of: 3) == .accessPoint)
        #expect(role(body, of: 4) == nil)
        #expect(role(wirelessBody(index: 3, role: 3, command: NL80211_CMD_NEW_WIPHY), of: 3) == nil)
    }

    @Test func `truncated and unrelated messages are ignored`() {
        let body = wirelessBody(index: 3, role: 2)
        for length in 0..<body.count { #expect(role(Array(body.prefix(length)), of: 3) == nil) }
        for byte in UInt8.min...UInt8.max {
            let garbage = [UInt8](repeating: byte, count: 61)
            #expect(role(garbage, of: 3) == nil)
            #expect(garbage.withUnsafeBytes { GenericFamily(body: $0) } == nil)
        }
        let head = [UInt8(CTRL_CMD_NEWFAMILY), 2, 0, 0]
        #expect(head.withUnsafeBytes { GenericFamily(body: $0) } == nil)
    }

    @Test func `a family has a name and an ID`() {
        var builder = RequestBuilder()
        builder.begin(.genericController, sequence: 0)
        builder.append(genlmsghdr(cmd: UInt8(CTRL_CMD_NEWFAMILY), version: 2, reserved: 0))
        builder.append(attribute: Int(CTRL_ATTR_FAMILY_ID), withUnsafeBytes(of: UInt16(28)) { Array($0) })
        builder.append(attribute: Int(CTRL_ATTR_FAMILY_NAME), text: "nl80211")
        let family = builder.bytes.withUnsafeBytes { GenericFamily(body: $0.bytes(from: MessageHeader.size)) }
        #expect(family?.name == "nl80211")
        #expect(family?.kind.rawValue == 28)
    }

    @Test func `sysfs is used if all properties agree`() throws {
        let link = Link(index: 3, name: "wwan0", flags: [], hardwareAddress: [0x02, 0xfc, 0, 0, 0, 0x0a])
        var files = [
            "uevent": "DEVTYPE=wwan\nINTERFACE=wwan0\nIFINDEX=3\n", "ifindex": "3\n", "type": "1\n",
            "address": "02:fc:00:00:00:0a\n",
        ]
        #expect(try deviceType(of: link, files) == "wwan")
        for (file, lie) in [
            ("ifindex", "30\n"), ("type", "772\n"), ("address", "02:fc:00:00:00:0b\n"), ("address", "\n"),
        ] {
            var wrong = files
            wrong[file] = lie
            #expect(try deviceType(of: link, wrong) == nil)
            wrong[file] = nil
            #expect(try deviceType(of: link, wrong) == nil)
        }
        files["uevent"] = "INTERFACE=wwan0\nIFINDEX=3\n"
        #expect(try deviceType(of: link, files) == nil)
        files["phy80211"] = ""
        #expect(try deviceType(of: link, files) == "wlan")
    }

    @Test func `a device without an address is verified by its other properties`() throws {
        let link = Link(index: 3, name: "wwan0", flags: [], hardwareType: .none)
        let files = ["uevent": "DEVTYPE=wwan\n", "ifindex": "3\n", "type": "65534\n", "address": "\n"]
        #expect(try deviceType(of: link, files) == "wwan")
    }

    @Test func `sysfs shows the lower device if it is unambiguous`() throws {
        let sysfs = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: sysfs) }
        func add(_ name: String, _ index: Int, type: Int) throws {
            let directory = sysfs.appendingPathComponent(name)
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            for (file, text) in ["ifindex": "\(index)", "type": "\(type)", "address": ""] {
                try "\(text)\n".write(to: directory.appendingPathComponent(file), atomically: false, encoding: .utf8)
            }
        }
        let link = Link(index: 3, name: "data0", flags: [], hardwareType: .none)
        try add("data0", 3, type: 65534)
        #expect(DeviceType.lowerIndex(of: link, in: sysfs.path) == nil)
        for (name, index) in [("wwan0", 7), ("wwan1", 8)] {
            try add(name, index, type: 1)
            let below = sysfs.appendingPathComponent("data0/lower_\(name)").path
            try FileManager.default.createSymbolicLink(atPath: below, withDestinationPath: "../\(name)")
            #expect(DeviceType.lowerIndex(of: link, in: sysfs.path) == (index == 7 ? 7 : nil))
        }
        let other = Link(index: 4, name: "data0", flags: [], hardwareType: .none)
        #expect(DeviceType.lowerIndex(of: other, in: sysfs.path) == nil)
    }

    private func deviceType(of link: Link, _ files: [String: String]) throws -> String? {
        let sysfs = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        let directory = sysfs.appendingPathComponent(link.name)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: sysfs) }
        for (name, text) in files {
            try text.write(to: directory.appendingPathComponent(name), atomically: false, encoding: .utf8)
        }
        return DeviceType.verified(of: link, in: sysfs.path)
    }

    private func role(_ body: [UInt8], of index: UInt32) -> WirelessRole? {
        body.withUnsafeBytes { WirelessRole(body: $0, interface: index) }
    }

    private func wirelessBody(
        index: UInt32,
        role: UInt32,
        command: nl80211_commands = NL80211_CMD_NEW_INTERFACE
    ) -> [UInt8] {
        var builder = RequestBuilder()
        builder.begin(.genericController, sequence: 0)
        builder.append(genlmsghdr(cmd: UInt8(command.rawValue), version: 1, reserved: 0))
        builder.append(attribute: Int(NL80211_ATTR_IFINDEX.rawValue), index)
        builder.append(attribute: Int(NL80211_ATTR_IFTYPE.rawValue), role)
        return Array(builder.bytes.dropFirst(MessageHeader.size))
    }
}
