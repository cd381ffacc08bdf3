/// Reading of kernel structures that never trusts a length: whatever lies outside the bytes is nil, not a trap.
extension UnsafeRawBufferPointer {
    package func load<Value: BitwiseCopyable>(_ type: Value.Type, at offset: Int) -> Value? {
        guard offset >= 0, offset <= count, count - offset >= MemoryLayout<Value>.size else { return nil }
        return loadUnaligned(fromByteOffset: offset, as: type)
    }

    /// The bytes from `offset` on, at most `length` of them.
    package func bytes(from offset: Int, length: Int = .max) -> UnsafeRawBufferPointer {
        guard offset >= 0, offset < count, length > 0 else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(rebasing: self[offset..<(offset + Swift.min(length, count - offset))])
    }

    /// The whole value as an unsigned number in the machine's order, whatever its width.
    package var number: UInt64? {
        switch count {
        case 1: load(UInt8.self, at: 0).map(UInt64.init)
        case 2: load(UInt16.self, at: 0).map(UInt64.init)
        case 4: load(UInt32.self, at: 0).map(UInt64.init)
        case 8: load(UInt64.self, at: 0)
        default: nil
        }
    }

    /// The first four bytes as the kernel's `__u32`.
    package var word: UInt32? { load(UInt32.self, at: 0) }

    /// Text up to the first zero byte.
    package var text: String { String(decoding: prefix { $0 != 0 }, as: UTF8.self) }
}
