import CNetworkLab
import Glibc
import LinuxSupport
import Netlink

/// A namespace with one uplink `u0` and routes through nonexistent routers, so nothing answers.
package final class Uplink: Sendable {
    package let namespace: LabNamespace

    /// - Parameter isConnected: Whether the default routes exist from the start.
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

    /// Adds the default routes. Blocks the thread.
    package func connect() throws {
        try namespace.ip("route add default via 192.0.2.1", "route add default via 2001:db8::1")
    }

    /// Removes the default routes. Blocks the thread.
    package func disconnect() throws {
        try namespace.ip("-4 route del default", "-6 route del default")
    }

    /// Runs `ip` commands without blocking the caller's thread.
    package func ip(_ commands: String...) async throws {
        try await LabThread.detached { try self.namespace.ip(commands) }
    }
}

extension Uplink {
    /// Creates an uplink without blocking the caller's thread.
    package static func make(isConnected: Bool = true) async throws -> Uplink {
        try await LabThread.detached { try Uplink(isConnected: isConnected) }
    }

    /// Adds or removes the default routes without blocking the caller's thread.
    package func setConnected(_ isConnected: Bool) async throws {
        try await LabThread.detached { try isConnected ? self.connect() : self.disconnect() }
    }
}

/// Two tun devices in two namespaces, and a thread that copies packets between them. Together they simulate the link
/// of a modem. Requires /dev/net/tun.
package final class TunCable: Sendable {
    /// The simulated hardware types of a tun device.
    package enum Kind: CInt, Sendable {
        case pointToPoint = 512
        case rawIP = 519
        case none = 65534
    }

    /// Whether this user may create tun devices. The device file often does not permit it without root.
    package static var isPermitted: Bool { access("/dev/net/tun", R_OK | W_OK) == 0 }

    private let near: LabNamespace
    private let name: String
    private let far: LabDescriptor
    private let modem: Locked<(device: LabDescriptor, stop: StopSignal)?> = Locked(nil)

    /// Creates both devices, which are down and have no addresses. The near device exists without its reader, too.
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

    /// Attaches the reader of the near device.
    package func attach() throws {
        let device = try near.perform {
            var device = lab_tun_open(name)
            // The previous reader may not have released the device yet.
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

    /// Detaches the reader of the near device, like the end of a modem's program.
    package func detach() {
        modem.withLock { modem in
            modem?.stop.request()
            modem = nil
        }
    }

    /// Sets the carrier of the near device.
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
