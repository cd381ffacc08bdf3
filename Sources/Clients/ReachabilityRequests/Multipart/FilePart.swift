import LinuxSupport

/// A file that is read piece by piece while it is sent. It has to be as long as it was said to be: a server that was promised so many
/// bytes would wait for the rest, or take them for another request.
struct FilePart: Sendable {
    static let pieceSize: Int64 = 64 << 10

    private let path: String
    private let length: Int64
    private let file: ReadableFile
    private var offset: Int64 = 0

    init(_ path: String, length: Int64) throws(RequestError) {
        self.path = path
        self.length = length
        do {
            file = try ReadableFile(path)
        } catch {
            throw .createUploadableFailed(error: FileFailure(path: path, saying: error.description))
        }
        try check()
    }

    /// The next bytes; nil at the end.
    mutating func next() throws(RequestError) -> [UInt8]? {
        guard offset < length else {
            try check()
            return nil
        }
        let bytes: [UInt8]
        do {
            bytes = try file.read(Int(min(Self.pieceSize, length - offset)), at: offset)
        } catch {
            throw .createUploadableFailed(error: FileFailure(path: path, saying: error.description))
        }
        guard !bytes.isEmpty else { throw sizeChanged(offset) }
        offset += Int64(bytes.count)
        return bytes
    }

    private func check() throws(RequestError) {
        let now = file.size
        if now != length { throw sizeChanged(now) }
    }

    private func sizeChanged(_ now: Int64) -> RequestError {
        .multipartEncodingFailed(reason: .bodyPartFileSizeChanged(at: path, from: length, to: now))
    }

    static func length(of path: String) throws(RequestError) -> Int64 {
        do {
            return try ReadableFile(path).size
        } catch {
            throw .createUploadableFailed(error: FileFailure(path: path, saying: error.description))
        }
    }
}

/// A file that could not be read.
struct FileFailure: Error, CustomStringConvertible {
    let path: String
    let saying: String
    var description: String { "\(path.printable): \(saying)" }
}
