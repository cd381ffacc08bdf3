/// CRC-32C: the polynomial of Castagnoli, reflected, as iSCSI (RFC 3720, appendix B.4), ext4 and Btrfs use it. It is there to
/// find damage, not forgery.
enum Checksum {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 0 ? value >> 1 : value >> 1 ^ 0x82f6_3b78 }
    }

    static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
        ~bytes.reduce(~0) { value, byte in table[Int(UInt8(truncatingIfNeeded: value) ^ byte)] ^ value >> 8 }
    }
}
