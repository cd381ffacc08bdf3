import Dispatch
package import LinuxSupport
import Netlink

/// The file of a recording. A queue writes the data immediately. The caller waits for the disk only if more than 4 MiB
/// are waiting to be written.
package final class RecordingFile: Sendable {
    private struct State {
        var waiting: [UInt8] = []
        var isPlanned = false
        var written = 0
        var failure: SystemError?
    }

    private let file: OutputFile
    private let state: Locked<State> = Locked(State())
    /// Separate from the monitor's queue, because a disk may be slow.
    private let queue = DispatchQueue(label: "reachability.recording")
    private let failed: @Sendable () -> Void
    /// The maximum number of bytes in memory.
    private static let waitingLimit = 4 << 20

    /// Opens the file.
    ///
    /// - Parameters:
    ///   - replacing: True to replace the content of an existing file.
    ///   - failed: Called once if data cannot be written. No data is written after that.
    /// - Throws: The error of the system if the file cannot be opened.
    package init(
        _ path: String,
        replacing: Bool,
        failed: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        file = try OutputFile(path, replacing: replacing)
        self.failed = failed
    }

    /// Writes bytes after all bytes of earlier calls.
    package func write(_ bytes: [UInt8]) {
        let (plans, isBehind) = state.withLock { state in
            if state.failure != nil { return (false, false) }
            state.waiting += bytes
            defer { state.isPlanned = true }
            return (!state.isPlanned, state.waiting.count > Self.waitingLimit)
        }
        if plans { queue.async { [self] in flush() } }
        if isBehind { queue.sync { flush() } }
    }

    /// Waits until all bytes are on the disk.
    ///
    /// - Throws: The error of the first write that failed.
    package func finish() throws(SystemError) {
        queue.sync { flush() }
        if let failure = state.withLock({ $0.failure }) { throw failure }
        try file.sync()
    }

    /// The number of bytes written so far.
    package var size: Int { state.withLock { $0.written } }

    private func flush() {
        let bytes = state.withLock { state in
            state.isPlanned = false
            defer { state.waiting = [] }
            return state.waiting
        }
        if bytes.isEmpty { return }
        do throws(SystemError) {
            try file.append(bytes)
            state.withLock { $0.written += bytes.count }
        } catch {
            let isFirst = state.withLock { state in
                defer { state.failure = state.failure ?? error }
                return state.failure == nil
            }
            if isFirst { failed() }
        }
    }
}

/// The blocks of a pcapng file that make up a recording: one section, one interface of link type NETLINK, netlink
/// messages as enhanced packet blocks, and text as systemd journal export blocks.
///
/// Sources: draft-ietf-opsawg-pcapng; LINKTYPE_NETLINK in the list of link types of tcpdump.org.
enum CaptureBlock {
    static let section: UInt32 = 0x0a0d_0d0a
    static let byteOrder: UInt32 = 0x1a2b_3c4d
    static let packet: UInt32 = 6
    static let journal: UInt32 = 9
    /// The header in front of netlink messages: ARPHRD_NETLINK (824) and NETLINK_ROUTE (0), in network byte order.
    static let cookedHeader: [UInt8] = [0, 0, 0x03, 0x38] + [UInt8](repeating: 0, count: 12)

    /// Returns a section header block with the operating system and the program.
    static func section(system: String, program: String) -> [UInt8] {
        let version = (1 as UInt16).inMemory + (0 as UInt16).inMemory
        let options = option(3, Array(system.utf8)) + option(4, Array(program.utf8)) + option(0, [])
        return block(section, byteOrder.inMemory + version + UInt64.max.inMemory + options)
    }

    /// The interface description block of LINKTYPE_NETLINK (253), with times in nanoseconds.
    static let interface = block(
        1,
        (253 as UInt16).inMemory + [0, 0, 0, 0, 0, 0] + option(2, Array("netlink".utf8)) + option(9, [9])
            + option(0, [])
    )

    /// Returns an enhanced packet block.
    ///
    /// - Parameter time: The time since 1970.
    static func packet(_ path: Record.Path, _ messages: [UInt8], at time: Duration) -> [UInt8] {
        let data = cookedHeader + messages
        let (length, time) = (UInt32(data.count).inMemory, UInt64(time.nanoseconds))
        let head = UInt32(0).inMemory + UInt32(time >> 32).inMemory + UInt32(truncatingIfNeeded: time).inMemory
        let hash = [2] + Checksum.of(data).inMemory
        let options = option(2, path.rawValue.inMemory) + option(3, hash) + option(0, [])
        return block(packet, head + length + length + data.padded + options)
    }

    static func journal(_ fields: [(name: String, value: String)]) -> [UInt8] {
        let lines = Array(fields.map { "\($0.name)=\($0.value)\n" }.joined().utf8)
        return block(journal, (lines + Array("CRC32=\(Checksum.of(lines).hexadecimal)\n".utf8)).padded)
    }

    private static func option(_ code: UInt16, _ value: [UInt8]) -> [UInt8] {
        code.inMemory + UInt16(truncatingIfNeeded: value.count).inMemory + value.padded
    }

    private static func block(_ code: UInt32, _ body: [UInt8]) -> [UInt8] {
        let length = UInt32(body.count + 12).inMemory
        return code.inMemory + length + body + length
    }
}

/// The reason why a block cannot be read.
enum CaptureFailure: String, Error, Hashable {
    case cutOff = "the record is truncated"
    case tooLong = "the record is too long"
    case wrongChecksum = "the record has a wrong checksum"
    case unknownKind = "the record has an unknown type"
    case malformed = "the record is malformed"
}

/// The blocks of a file, in their sequence.
struct CaptureBlocks {
    typealias Block = (code: UInt32, body: ArraySlice<UInt8>, whole: ArraySlice<UInt8>)

    private var rest: ArraySlice<UInt8>
    /// The maximum size of a block.
    private static let limit = 16 << 20

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    /// The position of the next block in the file.
    var offset: Int { rest.startIndex }

    /// Returns the next block; nil at the end of the file.
    mutating func next() throws(CaptureFailure) -> Block? {
        if rest.isEmpty { return nil }
        guard let code = rest.number(at: 0, UInt32.self), let length = rest.number(at: 4, UInt32.self).map(Int.init)
        else {
            throw .cutOff
        }
        guard length >= 12, length % 4 == 0, length <= Self.limit else { throw .tooLong }
        guard length <= rest.count else { throw .cutOff }
        defer { rest = rest.dropFirst(length) }
        let whole = rest.prefix(length)
        return (code, whole.dropFirst(8).dropLast(4), whole)
    }
}

extension FixedWidthInteger {
    /// The bytes in the byte order of this machine, which is that of the netlink messages.
    var inMemory: [UInt8] {
        let number = littleEndian
        return (0..<(Self.bitWidth / 8)).map { UInt8(truncatingIfNeeded: number >> Self(8 * $0)) }
    }
}

extension Array<UInt8> {
    /// The bytes, padded to whole words of 32 bits.
    fileprivate var padded: [UInt8] { self + [UInt8](repeating: 0, count: -count & 3) }
}

extension ArraySlice<UInt8> {
    /// Returns the number at an offset, in the byte order of this machine; nil if the bytes end before it.
    func number<Number: FixedWidthInteger>(at offset: Int, _ type: Number.Type) -> Number? {
        let bytes = dropFirst(offset).prefix(Number.bitWidth / 8)
        guard bytes.count == Number.bitWidth / 8 else { return nil }
        return Number(littleEndian: bytes.reversed().reduce(0) { $0 << 8 | Number($1) })
    }
}

/// CRC-32 of IEEE 802.3, as `epb_hash` contains it. It detects damage, not forgery.
enum Checksum {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xedb8_8320 }
    }

    static func of(_ bytes: some Sequence<UInt8>) -> UInt32 {
        ~bytes.reduce(~0) { value, byte in table[Int(UInt8(truncatingIfNeeded: value) ^ byte)] ^ value >> 8 }
    }
}
