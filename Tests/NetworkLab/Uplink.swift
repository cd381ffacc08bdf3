import CNetworkLab
import Glibc
import LinuxSupport
import Netlink

/// A namespace with one uplink, `u0`, to routers that are not there: routes lead to the world, nobody answers.
package final class Uplink: Sendable {
    package let namespace: LabNamespace

    /// - Parameter isConnected: whether the default routes are there from the start.
    package init(isConnected: Bool = true) throws {
        namespace = try LabNamespace()
        try namespace.ip(
            "link set lo up",
            "link add u0 type veth peer name far",
            "link set far up",
            "link set u0 up",
            "addr add 192.0.2.2/24 dev u0",
            "addr add 2001:db8::2/64 dev u0 nodad"
        )
        if isConnected { try connect() }
    }

    /// Adds the default routes. Blocks.
    package func connect() throws {
        try namespace.ip("route add default via 192.0.2.1", "route add default via 2001:db8::1")
    }

    /// Takes the default routes away. Blocks.
    package func disconnect() throws {
        try namespace.ip("-4 route del default", "-6 route del default")
    }

    /// Runs `ip` commands without blocking the caller's thread.
    package func ip(_ commands: String...) async throws {
        try await LabThread.detached { try self.namespace.ip(commands) }
    }
}

extension Uplink {
    /// Makes an uplink without blocking the caller's thread.
    package static func make(isConnected: Bool = true) async throws -> Uplink {
        try await LabThread.detached { try Uplink(isConnected: isConnected) }
    }

    /// Adds or takes away the default routes without blocking the caller's thread.
    package func setConnected(_ isConnected: Bool) async throws {
        try await LabThread.detached { try isConnected ? self.connect() : self.disconnect() }
    }
}

/// Two tun devices, one in each of two namespaces, and a thread that carries packets between them: a modem link with
/// the other end in our hands. Needs /dev/net/tun.
package final class TunCable: Sendable {
    /// Hardware types a tun device can pretend to have.
    package enum Kind: CInt, Sendable {
        case pointToPoint = 512
        case rawIP = 519
        case none = 65534
    }

    /// Whether this user may make tun devices; without root the device file often says no.
    package static var isPermitted: Bool { access("/dev/net/tun", R_OK | W_OK) == 0 }

    private let near: LabNamespace
    private let name: String
    private let far: LabDescriptor
    private let modem: Locked<(device: LabDescriptor, stop: StopSignal)?> = Locked(nil)

    /// Makes both devices, down and without addresses; the near one outlives its reader.
    package init(_ name: String, kind: Kind, from near: LabNamespace, to far: LabNamespace, as farName: String) throws {
        self.near = near
        self.name = name
        self.far = try far.perform { LabDescriptor(try check("tun \(farName)", lab_tun_open(farName))) }
        try attach()
        try modem.withLock { modem in
            let device = modem?.device.number ?? -1
            try check("TUNSETPERSIST", lab_tun_set_persistent(device, 1))
            try check("TUNSETLINK", lab_tun_set_hardware_type(device, kind.rawValue))
        }
    }

    /// The reader of the near device comes (back).
    package func attach() throws {
        let device = try near.perform {
            var device = lab_tun_open(name)
            // The reader that has just gone may not have let go yet.
            _ = Deadline(after: .seconds(1)).poll(every: .milliseconds(1)) {
                guard device < 0, errno == EBUSY else { return true }
                device = lab_tun_open(name)
                return device >= 0
            }
            return LabDescriptor(try check("tun \(name)", device))
        }
        let stop = try StopSignal()
        let requested = stop.requested
        let far = far
        pthread_detach(try LabThread.start { TunCable.carry(between: device, and: far, until: requested) })
        modem.withLock { $0 = (device, stop) }
    }

    /// The reader of the near device goes away, as when the program that drives a modem dies.
    package func detach() {
        modem.withLock { modem in
            modem?.stop.request()
            modem = nil
        }
    }

    /// Plugs or unplugs the near device.
    package func setCarrier(_ carrier: Bool) throws {
        try modem.withLock { modem in
            _ = try check("TUNSETCARRIER", lab_tun_set_carrier(modem?.device.number ?? -1, carrier ? 1 : 0))
        }
    }

    deinit {
        detach()
    }

    private static func carry(between near: LabDescriptor, and far: LabDescriptor, until requested: LabDescriptor) {
        var packet = [UInt8](repeating: 0, count: 4096)
        var events = [requested, near, far].map { pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0) }
        while true {
            _ = poll(&events, 3, -1)
            guard events[0].revents == 0 else { return }
            for (source, sink) in [(near, far), (far, near)] {
                while case let count = read(source.number, &packet, packet.count), count > 0 {
                    _ = write(sink.number, packet, count)
                }
            }
        }
    }
}
