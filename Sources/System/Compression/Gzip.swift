import CZlib

/// Compression in the gzip format (RFC 1952) with zlib.
package enum Gzip {
    /// Returns the compressed bytes. Returns nil if zlib cannot allocate memory, or for more than 4 GiB.
    package static func compressed(_ bytes: [UInt8]) -> [UInt8]? {
        guard let length = UInt32(exactly: bytes.count) else { return nil }
        var stream = z_stream()
        // zlib stores the address of the stream, so the address must not change between the calls.
        return withUnsafeMutablePointer(to: &stream) { stream in
            let size = Int32(MemoryLayout<z_stream>.size)
            let window: Int32 = 15
            // Adding 16 selects the gzip format.
            guard
                deflateInit2_(stream, level, Z_DEFLATED, window + 16, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size) == Z_OK
            else { return nil }
            defer { deflateEnd(stream) }
            let bound = Int(deflateBound(stream, UInt(length)))
            return [UInt8](unsafeUninitializedCapacity: bound) { output, count in
                bytes.withUnsafeBufferPointer { input in
                    // zlib does not write to the input.
                    stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                    stream.pointee.avail_in = length
                    stream.pointee.next_out = output.baseAddress
                    stream.pointee.avail_out = UInt32(clamping: bound)
                    // The buffer has the size that deflateBound returns, so one call suffices.
                    precondition(deflate(stream, Z_FINISH) == Z_STREAM_END)
                    count = bound - Int(stream.pointee.avail_out)
                }
            }
        }
    }

    /// The compression level: the default of zlib. Higher levels take several times as long and save a few percent.
    private static let level: Int32 = 6
}
