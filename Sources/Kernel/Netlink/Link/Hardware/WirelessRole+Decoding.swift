import CLinux

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
