import CLinux
import Glibc
import LinuxSupport

/// Properties of the device behind a link that route netlink does not contain.
package struct LinkHardware: Hashable, Sendable {
    /// The role of a Wi-Fi interface (NL80211_IFTYPE); nil for other interfaces.
    package var wireless: WirelessRole?
    /// DEVTYPE of the device's uevent (`wlan`, `wwan` ...), verified to be of this very link.
    package var deviceType: String?
    /// The name of the driver, from ethtool.
    package var driver: String?

    /// The device this one stands on where only sysfs says so, as of the links of a Qualcomm modem.
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
    /// Reads an NL80211_CMD_NEW_INTERFACE body; nil when it is truncated, of another command or of another interface.
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

/// What sysfs says of the device behind a link.
///
/// C counterpart: DEVTYPE in `/sys/class/net/*/uevent`, `sysfs(5)`.
enum DeviceType {
    /// The DEVTYPE of a link's device, or `wlan` where it has a Wi-Fi radio; nil where sysfs is silent or speaks of another
    /// device.
    ///
    /// A mounted sysfs shows the network namespace of its mounter, in which another device may have the same name and even
    /// the same index: only what agrees with the link in address and type as well is believed.
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

    /// The index of the device below a link; nil if there is none or more than one.
    static func lowerIndex(of link: Link, in sysfs: String = "/sys/class/net") -> UInt32? {
        guard let directory = directory(of: link, in: sysfs),
            let files = try? DirectoryListing.files(in: directory)
        else { return nil }
        let lowers = files.filter { $0.hasPrefix("lower_") }
        guard lowers.count == 1, let lower = lowers.first else { return nil }
        return line("\(directory)/\(lower)/ifindex").flatMap { UInt32($0) }
    }

    /// Where sysfs speaks of this very link.
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

/// Asks the devices of one network namespace what they are, from any thread.
///
/// Wi-Fi and drivers answer only to sockets of the device's own namespace. None is kept for that: an answer is remembered,
/// and the rare new question opens sockets for as long as it takes, on the calling thread if that is at home in the
/// namespace, else on a thread of its own that goes there first.
package final class HardwareProbe: Sendable {
    /// What makes an answer stale when it changes. The role of a Wi-Fi interface may change without any of it.
    private struct Identity: Hashable {
        let name: String
        let hardwareType: HardwareType
        let kind: String?
    }

    private static let capacity = 256

    private let home = NamespaceIdentity.current
    private let answers = Locked<[UInt32: (identity: Identity, hardware: LinkHardware)]>([:])

    /// Belongs to the namespace of the calling thread.
    package init() {}

    /// The properties of the device behind `link`. Unknown properties are nil.
    ///
    /// - Parameter socket: An open socket of the same namespace, which shows where that is.
    package func hardware(of link: Link, besides socket: EventSocket) -> LinkHardware {
        let identity = Identity(name: link.name, hardwareType: link.hardwareType, kind: link.kind)
        let known = answers.withLock { answers in
            answers[link.index].flatMap { $0.identity == identity ? $0.hardware : nil }
        }
        if let known { return known }
        // Outside the lock: two threads may ask the same, which does no harm.
        var hardware = LinkHardware(
            deviceType: DeviceType.verified(of: link),
            lowerIndex: DeviceType.lowerIndex(of: link)
        )
        guard ask(link, besides: socket, into: &hardware) else { return hardware }
        answers.withLock { answers in
            // Devices that are gone leave their answers behind; indices are not used again soon.
            if answers.count >= Self.capacity { answers.removeAll() }
            answers[link.index] = (identity, hardware)
        }
        return hardware
    }

    /// The peers of a WireGuard interface, or the far ends of an xfrm interface; nil if this process may not see them, or if outer packets
    /// travel elsewhere. They are not remembered: the kernel sends no event when an endpoint changes.
    ///
    /// - Parameter socket: An open socket of the same namespace.
    package func peers(ofInterface index: UInt32, besides socket: EventSocket) -> [TunnelFarEnd]? {
        let answer = inside(of: socket) { () throws(NetlinkError) in
            var routes = QuestionSocket(try SocketTransport())
            if let link = try routes.ask([.link(index)]).first?.link, link.kind == "xfrm" {
                return try TunnelPolicies.farEnds(ofInterface: link)
            }
            return try GenericSocket().wireGuardPeers(ofInterface: index)
        }
        return try? answer.get() ?? nil
    }

    /// Says whether the answer is final; one that failed for want of descriptors or memory is worth another try.
    private func ask(_ link: Link, besides socket: EventSocket, into hardware: inout LinkHardware) -> Bool {
        let before = hardware
        let answer = inside(of: socket) { () throws(NetlinkError) in
            var hardware = before
            let isFinal = hardware.ask(link)
            return (hardware, isFinal)
        }
        switch answer {
        case .success(let answer):
            hardware = answer.0
            return answer.1
        // Without CAP_NET_ADMIN the namespace stays closed, now and later.
        case .failure(let error): return error.cause == .notPermitted
        }
    }

    /// Runs `body` in the namespace of a socket: on the calling thread if that is at home there, otherwise on a thread of its own.
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
    /// Adds what only sockets in the calling thread's network namespace can learn, and says whether all could be asked.
    fileprivate mutating func ask(_ link: Link) -> Bool {
        var isComplete = true
        do throws(NetlinkError) {
            let generic = try GenericSocket()
            wireless = try generic.wirelessRole(ofInterface: link.index)
        } catch {
            isComplete = false
        }
        do throws(SystemError) {
            driver = try Driver.name(ofLink: link.name)
        } catch {
            isComplete = false
        }
        return isComplete
    }
}

/// Which driver serves a link.
///
/// C counterpart: ETHTOOL_GDRVINFO through SIOCETHTOOL, `<linux/ethtool.h>`; needs no privilege.
enum Driver {
    /// The name of the driver of the device called `link` in the calling thread's network namespace; nil where it has none.
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
