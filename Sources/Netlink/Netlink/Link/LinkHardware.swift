import CLinux
import Glibc
import LinuxSupport

/// Properties of the device behind a link that route netlink does not contain.
package struct LinkHardware: Hashable, Sendable {
    /// The role of a Wi-Fi interface (NL80211_IFTYPE); nil for other interfaces.
    package var wireless: WirelessRole?
    /// The DEVTYPE of the device's uevent, for example `wlan` or `wwan`, if sysfs shows the same link.
    package var deviceType: String?
    /// The name of the driver, from ethtool.
    package var driver: String?

    /// The index of the lower device if only sysfs contains it, as for the links of a Qualcomm modem.
    package var lowerIndex: UInt32?

    package init(
        wireless: WirelessRole? = nil,
        deviceType: String? = nil,
        driver: String? = nil,
        lowerIndex: UInt32? = nil
    ) {
        self.lowerIndex = lowerIndex
        self.wireless = wireless
        self.deviceType = deviceType
        self.driver = driver
    }
}

/// The role of a Wi-Fi interface.
///
/// C counterpart: `enum nl80211_iftype`.
package struct WirelessRole: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    package static let station = WirelessRole(rawValue: 2)
    package static let accessPoint = WirelessRole(rawValue: 3)
    package static let accessPointVLAN = WirelessRole(rawValue: 4)
    package static let monitor = WirelessRole(rawValue: 6)
    package static let peerGroupOwner = WirelessRole(rawValue: 9)
}

extension WirelessRole {
    /// Decodes an NL80211_CMD_NEW_INTERFACE body; nil if it is truncated, of another command or of another interface.
    init?(body: UnsafeRawBufferPointer, interface: UInt32) {
        guard let head = body.load(genlmsghdr.self, at: 0), head.cmd == UInt8(NL80211_CMD_NEW_INTERFACE.rawValue) else {
            return nil
        }
        var index: UInt32?
        var role: UInt32?
        for (type, value) in Attributes(body.bytes(from: MemoryLayout<genlmsghdr>.size)) {
            switch nl80211_attrs(UInt32(type)) {
            case NL80211_ATTR_IFINDEX: index = value.word
            case NL80211_ATTR_IFTYPE: role = value.word
            default: break
            }
        }
        guard let role, index == interface else { return nil }
        self.init(rawValue: role)
    }
}

/// The properties of the device behind a link, as listed in sysfs.
///
/// C counterpart: DEVTYPE in `/sys/class/net/*/uevent`, `sysfs(5)`.
enum DeviceType {
    /// Returns the DEVTYPE of a link's device, or `wlan` if it has a Wi-Fi radio. Nil if sysfs has no entry or shows
    /// another device.
    ///
    /// A mounted sysfs shows the network namespace of the process that mounted it. In that namespace another device may
    /// have the same name and even the same index. Therefore the address and the type must also match.
    static func verified(of link: Link, in sysfs: String = "/sys/class/net") -> String? {
        guard let directory = directory(of: link, in: sysfs), let uevent = TextFile.read("\(directory)/uevent") else {
            return nil
        }
        let key = "DEVTYPE="
        if let entry = uevent.split(at: "\n").first(where: { $0.hasPrefix(key) }) {
            return String(entry.dropFirst(key.count))
        }
        return access("\(directory)/phy80211", F_OK) == 0 ? "wlan" : nil
    }

    /// Returns the index of the device below a link; nil if there is no lower device, or more than one.
    static func lowerIndex(of link: Link, in sysfs: String = "/sys/class/net") -> UInt32? {
        guard let directory = directory(of: link, in: sysfs),
            let files = try? DirectoryListing.files(in: directory)
        else { return nil }
        let lowers = files.filter { $0.hasPrefix("lower_") }
        guard lowers.count == 1, let lower = lowers.first else { return nil }
        return line("\(directory)/\(lower)/ifindex").flatMap { UInt32($0) }
    }

    /// Returns the directory of the link in sysfs; nil if sysfs shows another device.
    private static func directory(of link: Link, in sysfs: String) -> String? {
        let directory = "\(sysfs)/\(link.name)"
        guard !link.name.contains("/"), line("\(directory)/ifindex") == String(link.index),
            line("\(directory)/type") == String(link.hardwareType.rawValue),
            line("\(directory)/address") == link.hardwareAddress.hexadecimal(separator: ":")
        else { return nil }
        return directory
    }

    private static func line(_ path: String) -> String? {
        TextFile.read(path).map { String($0.prefix { $0 != "\n" }) }
    }
}

/// Queries the properties of the devices of one network namespace. Thread-safe.
///
/// Wi-Fi and drivers answer only to sockets of the device's namespace. Such sockets are not kept open. Answers are
/// cached, and for a new query sockets are opened temporarily: on the calling thread if it is in the namespace,
/// otherwise on a new thread that enters the namespace.
package final class HardwareProbe: Sendable {
    /// The properties whose change invalidates a cached answer. The role of a Wi-Fi interface may change without any of
    /// them.
    private struct Identity: Hashable {
        let name: String
        let hardwareType: HardwareType
        let kind: String?
    }

    private static let capacity = 256

    private let home = NamespaceIdentity.current
    private let answers = Locked<[UInt32: (identity: Identity, hardware: LinkHardware)]>([:])

    /// Creates a probe for the namespace of the calling thread.
    package init() {}

    /// Returns the properties of the device behind `link`. Unknown properties are nil.
    ///
    /// - Parameter socket: An open socket of the same namespace, through which the namespace is found.
    package func hardware(of link: Link, inNamespaceOf socket: EventSocket) -> LinkHardware {
        let identity = Identity(name: link.name, hardwareType: link.hardwareType, kind: link.kind)
        let known = answers.withLock { answers in
            answers[link.index].flatMap { $0.identity == identity ? $0.hardware : nil }
        }
        if let known { return known }
        // Outside the lock. Two threads may send the same query, which is harmless.
        let listed = LinkHardware(
            deviceType: DeviceType.verified(of: link),
            lowerIndex: DeviceType.lowerIndex(of: link)
        )
        let answer = inside(of: socket) { listed.completed(for: link) }
        let hardware = (try? answer.get().hardware) ?? listed
        switch answer {
        case .success(let answer) where !answer.isFinal: return hardware
        // Without CAP_NET_ADMIN the namespace cannot be entered, now or later.
        case .failure(let error) where error.cause != .notPermitted: return hardware
        default: break
        }
        answers.withLock { answers in
            // The answers of removed devices stay in the cache. Indices are not reused soon.
            if answers.count >= Self.capacity { answers.removeAll() }
            answers[link.index] = (identity, hardware)
        }
        return hardware
    }

    /// Returns the peers of a WireGuard interface, or the far ends of an xfrm interface. Nil if this process is not
    /// permitted to read them, or if the outer packets travel in another network namespace. Not cached, because the
    /// kernel sends no event when an endpoint changes.
    ///
    /// - Parameter socket: An open socket of the same namespace.
    package func peers(ofInterface index: UInt32, inNamespaceOf socket: EventSocket) -> [TunnelFarEnd]? {
        let answer = inside(of: socket) { () throws(NetlinkError) in
            var routes = QuerySocket(try SocketTransport())
            if let link = try routes.query([.link(index)]).first?.link, link.kind == "xfrm" {
                return try TunnelPolicies.farEnds(ofInterface: link)
            }
            return try GenericSocket().wireGuardPeers(ofInterface: index)
        }
        return try? answer.get() ?? nil
    }

    /// Runs `body` in the namespace of a socket: on the calling thread if it is in that namespace, otherwise on a new
    /// thread.
    private func inside<Value: Sendable>(
        of socket: EventSocket,
        _ body: @escaping @Sendable () throws(NetlinkError) -> Value
    ) -> Result<Value, NetlinkError> {
        if let home, home == .current { return Result { () throws(NetlinkError) in try body() } }
        let attempt = "enter a network namespace"
        let number = clinux_siocgskns(socket.descriptor)
        guard number >= 0 else { return .failure(NetlinkError(attempt, .current)) }
        let namespace = Descriptor(owning: number)
        let answer = try? Thread.run { [namespace] in
            do throws(SystemError) {
                try NamespaceEntry.enter(namespace)
            } catch {
                return Result<Value, NetlinkError>.failure(NetlinkError(attempt, error))
            }
            return Result { () throws(NetlinkError) in try body() }
        }
        return answer ?? .failure(NetlinkError(attempt, .tryAgain))
    }
}

extension LinkHardware {
    /// Returns the hardware with the properties that require sockets in the calling thread's network namespace. The
    /// result is final unless there were not enough descriptors or memory for a query.
    fileprivate func completed(for link: Link) -> (hardware: LinkHardware, isFinal: Bool) {
        let wireless = Result { () throws(NetlinkError) in try GenericSocket().wirelessRole(ofInterface: link.index) }
        let driver = Result { () throws(SystemError) in try Driver.name(ofLink: link.name) }
        var hardware = self
        hardware.wireless = try? wireless.get()
        hardware.driver = try? driver.get()
        if case .success = wireless, case .success = driver { return (hardware, true) }
        return (hardware, false)
    }
}

/// The driver of a link.
///
/// C counterpart: ETHTOOL_GDRVINFO through SIOCETHTOOL, `<linux/ethtool.h>`; needs no privilege.
enum Driver {
    /// Returns the driver of the device called `link` in the calling thread's network namespace; nil if it has none.
    static func name(ofLink link: String) throws(SystemError) -> String? {
        let number = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard number >= 0 else { throw .current }
        let socket = Descriptor(owning: number)
        var information = ethtool_drvinfo()
        guard clinux_ethtool_drvinfo(socket.number, link, &information) == 0 else { return nil }
        let name = withUnsafeBytes(of: &information.driver) { $0.text }
        return name.isEmpty ? nil : name
    }
}
