import AsyncHTTPClient
import FoundationEssentials
import LinuxSupport
import NIOCore

/// A part of a body: bytes in memory, or a file that is opened when it is its turn.
enum BodyPiece: Hashable, Sendable {
    case bytes([UInt8])
    case file(String, length: Int64)

    var length: Int64 {
        switch self {
        case .bytes(let bytes): Int64(bytes.count)
        case .file(_, let length): length
        }
    }
}

/// Reads a body. Files are read in pieces of at most 64 KiB.
struct PieceReader {
    private var rest: ArraySlice<BodyPiece>
    private var file: FilePart?

    init(_ pieces: [BodyPiece]) { rest = pieces[...] }

    /// Returns the next bytes; nil at the end.
    mutating func next() throws(AFError) -> [UInt8]? {
        while true {
            if let bytes = try file?.next() { return bytes }
            file = nil
            switch rest.popFirst() {
            case nil: return nil
            case .bytes(let bytes): return bytes
            case .file(let path, let length): file = try FilePart(path, length: length)
            }
        }
    }
}

/// A limit of the rate of a body: packets with a delay before each.
struct Throttle: Hashable, Sendable {
    let packetSize: Int
    let delay: Duration

    /// The delay is at most a day.
    init(packetSize: Int, delay: Double) {
        self.packetSize = max(1, packetSize)
        self.delay = delay > 0 ? .seconds(min(delay, 86_400)) : .zero
    }
}

/// The pieces of a body while a request is sent.
struct BodyPieces: AsyncSequence, Sendable {
    private let stream: InputStream
    private let owner: Request

    init(_ stream: InputStream, _ owner: Request) { (self.stream, self.owner) = (stream, owner) }

    func makeAsyncIterator() -> Iterator { Iterator(stream, owner) }

    struct Iterator: AsyncIteratorProtocol {
        private var reader: PieceReader
        private let throttle: Throttle?
        /// The bytes behind the packet that was sent last.
        private var unsent: ArraySlice<UInt8> = []
        private let owner: Request

        fileprivate init(_ stream: InputStream, _ owner: Request) {
            (reader, throttle, self.owner) = (PieceReader(stream.pieces), stream.throttle, owner)
        }

        mutating func next() async throws -> ByteBuffer? {
            await owner.gate.pass()
            guard let bytes = try await nextPacket() else { return nil }
            owner.change(.upload) { $0.completedUnitCount += Int64(bytes.count) }
            return ByteBuffer(bytes: bytes)
        }

        private mutating func nextPacket() async throws -> ArraySlice<UInt8>? {
            guard let throttle else { return try reader.next()?[...] }
            while unsent.isEmpty {
                guard let bytes = try reader.next() else { return nil }
                unsent = bytes[...]
            }
            let packet = unsent.prefix(throttle.packetSize)
            unsent = unsent.dropFirst(throttle.packetSize)
            if throttle.delay > .zero { try await owner.session.options.clock.sleep(for: throttle.delay) }
            return packet
        }
    }
}

/// A file that is read while it is sent. It must be as long as announced: a server that expects more bytes would wait for the rest, or
/// read them from the next request.
struct FilePart: Sendable {
    static let pieceSize: Int64 = 64 << 10

    private let path: String
    private let length: Int64
    private let file: ReadableFile
    private var offset: Int64 = 0

    init(_ path: String, length: Int64) throws(AFError) {
        self.path = path
        self.length = length
        do {
            file = try ReadableFile(path)
        } catch {
            throw .createUploadableFailed(error: FileFailure(path: path, reason: error.description))
        }
        try check()
    }

    /// Returns the next bytes; nil at the end.
    mutating func next() throws(AFError) -> [UInt8]? {
        guard offset < length else {
            try check()
            return nil
        }
        let bytes: [UInt8]
        do {
            bytes = try file.read(Int(min(Self.pieceSize, length - offset)), at: offset)
        } catch {
            throw .createUploadableFailed(error: FileFailure(path: path, reason: error.description))
        }
        guard !bytes.isEmpty else { throw sizeChanged(offset) }
        offset += Int64(bytes.count)
        return bytes
    }

    private func check() throws(AFError) {
        let now = file.size
        if now != length { throw sizeChanged(now) }
    }

    private func sizeChanged(_ now: Int64) -> AFError {
        let change = FileSizeChanged(path: path, before: length, now: now)
        return .multipartEncodingFailed(reason: .inputStreamReadFailed(error: change))
    }

    static func length(of path: String) throws(AFError) -> Int64 {
        do {
            return try ReadableFile(path).size
        } catch {
            throw .createUploadableFailed(error: FileFailure(path: path, reason: error.description))
        }
    }
}

/// A file that could not be read.
struct FileFailure: Error, CustomStringConvertible {
    let path: String
    let reason: String
    var description: String { "\(path.printable): \(reason)" }
}
