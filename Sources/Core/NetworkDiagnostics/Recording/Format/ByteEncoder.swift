import LinuxPrimitives
import Netlink

/// Writes the few kinds of values that records are made of.
struct ByteEncoder {
    private(set) var bytes: [UInt8] = []

    mutating func add(_ byte: UInt8) {
        bytes.append(byte)
    }

    /// Seven bits a byte, the lowest first; the highest bit says that more follow (LEB128).
    mutating func add(number: UInt64) {
        var rest = number
        while rest > 0x7f {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// Nanoseconds; a negative time counts as zero.
    mutating func add(_ duration: Duration) {
        add(number: UInt64(max(0, duration.nanoseconds)))
    }

    mutating func add(_ value: Bool) {
        bytes.append(value ? 1 : 0)
    }

    /// Its length, then itself.
    mutating func add(_ block: some Collection<UInt8>) {
        add(number: UInt64(block.count))
        bytes += block
    }

    mutating func add(_ text: String) {
        add(Array(text.utf8))
    }

    /// Bytes as they are, to the end.
    mutating func add(rest: [UInt8]) {
        bytes += rest
    }
}
