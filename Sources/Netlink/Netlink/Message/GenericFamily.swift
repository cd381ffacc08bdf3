import CLinux

/// A subsystem that speaks generic netlink.
///
/// C counterpart: CTRL_CMD_NEWFAMILY, `CTRL_ATTR_*` in `<linux/genetlink.h>`.
struct GenericFamily: Hashable, Sendable {
    let name: String
    /// What its messages are marked with; the kernel assigns it at run time.
    let kind: MessageKind

    /// Reads a CTRL_CMD_NEWFAMILY body; nil when it is truncated or of another command.
    init?(body: UnsafeRawBufferPointer) {
        guard let head = body.load(genlmsghdr.self, at: 0), head.cmd == UInt8(CTRL_CMD_NEWFAMILY) else { return nil }
        var name: String?
        var id: UInt16?
        for (type, value) in Attributes(body.bytes(from: MemoryLayout<genlmsghdr>.size)) {
            switch type {
            case Int(CTRL_ATTR_FAMILY_NAME): name = value.text
            case Int(CTRL_ATTR_FAMILY_ID): id = value.load(UInt16.self, at: 0)
            default: break
            }
        }
        guard let name, let id else { return nil }
        self.name = name
        kind = MessageKind(rawValue: id)
    }
}
