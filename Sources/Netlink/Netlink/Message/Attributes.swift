import CLinux

/// The attributes of a message or of a nest, in order. A truncated or malformed attribute ends the sequence.
///
/// C counterpart: `rtattr`, `RTA_NEXT`, `RTA_OK`.
package struct Attributes: Sequence, IteratorProtocol {
    private var rest: UnsafeRawBufferPointer

    package init(_ bytes: UnsafeRawBufferPointer) {
        rest = bytes
    }

    package mutating func next() -> (type: Int, value: UnsafeRawBufferPointer)? {
        let head = MemoryLayout<rtattr>.size
        guard let attribute = rest.load(rtattr.self, at: 0), Int(attribute.rta_len) >= head,
            Int(attribute.rta_len) <= rest.count
        else { return nil }
        let length = Int(attribute.rta_len)
        let value = rest.bytes(from: head, length: length - head)
        rest = rest.bytes(from: length.alignedToAttribute)
        return (Int(attribute.rta_type & UInt16(attributeTypeMask)), value)
    }
}

/// `NLA_F_NESTED` and `NLA_F_NET_BYTEORDER` are the two bits above; the macro is not imported.
private let attributeTypeMask = 0x3fff

extension Int {
    /// Rounded up to the four bytes that netlink aligns to (`NLMSG_ALIGN`, `RTA_ALIGN`).
    package var alignedToAttribute: Int { (self + 3) & ~3 }
}
