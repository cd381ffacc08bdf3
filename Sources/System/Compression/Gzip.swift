import CZlib

/// Compression in the format gzip (RFC 1952), by zlib.
package enum Gzip {
    /// Returns bytes in compressed form; nil if zlib cannot get memory, or for more than 4 GiB.
    package static func compressed(_ bytes: [UInt8]) -> [UInt8]? {
        guard let length = UInt32(exactly: bytes.count) else { return nil }
        var stream = z_stream()
        // zlib keeps the address of the stream, so it must not change between the calls.
        return withUnsafeMutablePointer(to: &stream) { stream in
            let size = Int32(MemoryLayout<z_stream>.size)
            let window: Int32 = 15
            // 16 more stand for the format gzip.
            guard
                deflateInit2_(stream, level, Z_DEFLATED, window + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK
            else { return nil }
            defer { deflateEnd(stream) }
            let bound = Int(deflateBound(stream, UInt(length)))
            return [UInt8](unsafeUninitializedCapacity: bound) { output, count in
                bytes.withUnsafeBufferPointer { input in
                    // zlib does not write there.
                    stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                    stream.pointee.avail_in = length
                    stream.pointee.next_out = output.baseAddress
                    stream.pointee.avail_out = UInt32(clamping: bound)
                    // In a buffer of that size all of it ends at once.
                    precondition(deflate(stream, Z_FINISH) == Z_STREAM_END)
                    count = bound - Int(stream.pointee.avail_out)
                }
            }
        }
    }

    /// The default level of zlib. Higher ones take several times as long and save a few percent.
    private static let level: Int32 = 6
}
